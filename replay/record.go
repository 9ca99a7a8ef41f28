package replay

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/stepwatch"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Record calls step twice and returns a recording of what it launches on d. Both runs count: after
// Record the program has done two steps more. Outputs are what step returns.
//
// On OpenCL the launches of both runs wait until the second is over. Then the recording does them, so
// that a kernel which only the step launches is never built. Where the step cannot be recorded, they
// are done one by one, as the step asked for them.
//
// The two runs must do the same: the same launches, with the same numbers but for [kernels.StepScalars],
// on memory that plays the same part. Values that the step uploads are constants of the recording,
// and must be the same, too. An error says what differs, or cannot be recorded: a read on the host,
// such as Item; an upload to a tensor older than Record; a launch on another device, or by another
// goroutine; a read of memory that nothing wrote; a call that changes the host alone, such as
// Restore of an optimizer; a panic of a registered fusion; an error of step itself, or of the device.
// Then up to two steps have been done, and nothing else has changed: the program may continue eagerly.
// A panic of step passes through, with nothing recorded.
//
// Record claims the device, as autograd.NoGrad does: what another goroutine begins on it meanwhile
// panics with tensor.ErrGoroutine.
//
// Where the first step of a program does something that later ones do not, do one before Record.
//
// The launches are rewritten into fewer, as [Passes] lists it. [Options] and the environment
// variable [Env] switch that off, and print what was done; a name or word that they do not know is
// an error, with no step done. Record panics with tensor.ErrValue for more than one Options.
func Record(d tensor.Device, step func() ([]*tensor.Tensor, error), opts ...Options) (*Recording, error) {
	start := time.Now()
	opt, err := options(opts)
	if err != nil {
		return nil, err
	}
	if d == nil || step == nil {
		return nil, fault("Record", tensor.ErrValue, "the device or the step is nil")
	}
	dev := d.(capture.Capturer).Capture()
	var outermost bool
	if err := tensor.Try(func() { outermost = tensorapi.Impl.Claim(d, "replay", "Record") }); err != nil {
		return nil, err
	}
	defer tensorapi.Impl.Unclaim(d, outermost)
	if err := idle(d, dev); err != nil {
		return nil, err
	}
	tensorapi.Impl.One(d) // kept by the device: its first use would be a launch more

	deferred := dev.Defer()
	settle := func() {}
	if deferred != nil {
		settle = deferred.Do
	}
	defer func() { settle() }()
	tracing := time.Now()
	first := newTrace(dev, nil)
	outputs, err := watch(d, dev, first, step)
	if err != nil {
		return nil, err
	}
	defer first.freeLeftovers()
	second := newTrace(dev, first)
	again, err := watch(d, dev, second, step)
	if err != nil {
		return nil, err
	}
	traced := time.Since(tracing)
	pairs, err := compare(dev, first, second)
	if err != nil {
		second.freeLeftovers()
		return nil, second.explained(err)
	}
	b := &builder{
		d: d, dev: dev, run: second, opt: opt, deferred: deferred,
		kept: map[kernels.Buffer]bool{}, returned: map[kernels.Buffer]bool{}, blocks: map[kernels.Buffer]*block{},
		spans: map[kernels.Buffer][]span{}, used: map[kernels.Buffer]bool{}, wrote: map[kernels.Buffer]bool{}, compared: map[string]error{},
		rec: &Recording{d: d, dev: dev, again: second.again},
	}
	b.rec.times.Tracing = traced
	b.rec.report.EagerBytes = second.peak
	for _, l := range second.leftovers {
		b.rec.left = append(b.rec.left, l.t)
	}
	for _, s := range second.states {
		b.rec.states = append(b.rec.states, s.State)
	}
	if err := b.outputs(pairs, outputs, again); err != nil {
		b.rec.Free()
		return nil, err
	}
	if err := b.states(pairs); err != nil {
		b.rec.Free()
		return nil, err
	}
	if err := b.build(); err != nil {
		b.rec.Free()
		return nil, err
	}
	if deferred != nil && deferred.Pending() {
		settle = deferred.Drop // from here on the recording does it
		running := time.Now()
		if err := b.runs(); err != nil {
			b.rec.Free()
			return nil, err
		}
		b.rec.times.Running = time.Since(running)
	}
	for _, o := range again {
		b.rec.outputs = append(b.rec.outputs, o.t.View().Retain())
	}
	b.hide()
	b.rec.report.Took = time.Since(start)
	b.rec.cleanup = runtime.AddCleanup(b.rec, func(p capture.Program) { p.Free() }, b.rec.program)
	return b.rec, nil
}

// idle returns why a device cannot record or replay now.
func idle(d tensor.Device, dev capture.Device) error {
	if err := d.Err(); err != nil {
		return err
	}
	if err := dev.Claim(); err != nil {
		return err
	}
	dev.Leave()
	return nil
}

// output is a tensor that a run returned, as it was then: the next run may free it.
type output struct {
	t     *tensor.Tensor
	shape []int
	typ   tensor.Type
	place capture.Tensor
}

// watch runs the step and traces what it does.
func watch(d tensor.Device, dev capture.Device, n *trace, step func() ([]*tensor.Tensor, error)) ([]output, error) {
	stop, err := dev.Listen(n)
	if err != nil {
		return nil, err
	}
	defer stop()
	defer stepwatch.Watch(func(s any) { n.advanced(s.(*kernels.StepScalars)) })()
	returned, err := step()
	switch {
	case n.refused != nil:
		return nil, n.refused
	case err != nil:
		return nil, fmt.Errorf("replay: Record: %w", err)
	case d.Err() != nil:
		return nil, d.Err()
	}
	n.end()
	outputs := make([]output, len(returned))
	for i, t := range returned {
		switch {
		case t == nil:
			return nil, fault("Record", tensor.ErrValue, "output %d is nil", i)
		case t.Freed():
			return nil, fault("Record", tensor.ErrFreed, "output %d, of shape %v: call Retain on it in the step", i, t.Shape())
		case t.Device() != d:
			return nil, fault("Record", tensor.ErrDevice, "output %d, of shape %v, is on %s", i, t.Shape(), t.Device().Name())
		}
		outputs[i] = newOutput(dev, t)
	}
	n.endStates(dev)
	return outputs, nil
}

func newOutput(dev capture.Device, t *tensor.Tensor) output {
	return output{t, t.Shape(), t.Type(), dev.Tensor(t)}
}

// outputs checks what the two runs returned. What the second made of it stays where it is.
func (b *builder) outputs(p *pairs, first, second []output) error {
	if len(first) != len(second) {
		return fault("Record", ErrDiffers, "the first returned %d outputs, the second %d", len(first), len(second))
	}
	for i, x := range first {
		if why := p.sameOutput(x, second[i]); why != "" {
			return fault("Record", ErrDiffers, "output %d is %s", i, why)
		}
		b.returned[second[i].place.Buffer] = true
		b.keep(second[i].place.Buffer)
	}
	return nil
}

// sameOutput says how two outputs differ, "" if they do not.
func (p *pairs) sameOutput(x, y output) string {
	if !slices.Equal(x.shape, y.shape) || !slices.Equal(x.place.Strides, y.place.Strides) || x.place.Off != y.place.Off || x.typ != y.typ {
		return fmt.Sprintf("of shape %v and type %v in the first, %v and %v in the second, or another view", x.shape, x.typ, y.shape, y.typ)
	}
	return p.memory(x.place.Buffer, y.place.Buffer)
}

// keep leaves memory where it is, if the run made it.
func (b *builder) keep(buf kernels.Buffer) {
	if b.run.origin(buf) == made {
		b.kept[buf] = true
	}
}

// hide makes the tensors that the runs made, and the second did not return, ones that are not to be
// used.
func (b *builder) hide() {
	for _, run := range []*trace{b.run.before, b.run} {
		for buf := range run.made {
			if m := b.dev.Memory(buf); m != nil && !b.kept[buf] {
				m.MadeRecorded()
			}
		}
	}
}

// places gives memory to what the step made and a replay leaves, and to what is no tensor's, which
// nobody keeps from being used.
func (b *builder) places() error {
	for _, run := range []*trace{b.run.before, b.run} {
		for buf := range run.made {
			if b.deferred.Pending() && b.dev.Live(buf) && (b.kept[buf] || b.dev.Memory(buf) == nil) {
				if err := b.deferred.Place(buf); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// runs does the step as the two runs would have done it.
func (b *builder) runs() error {
	if err := b.dev.Claim(); err != nil {
		return err
	}
	defer b.dev.Leave()
	// Launches of the recording may share their arguments with the trace of the second.
	for _, numbers := range []map[passed]kernels.Arg{b.run.before.numbers(), b.run.numbers()} {
		for _, t := range b.rec.turns {
			for _, u := range t.uses {
				u.set(numbers[u.passed])
			}
		}
		b.rec.program.Run()
	}
	return b.d.Err()
}
