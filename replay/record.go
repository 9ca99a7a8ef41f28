package replay

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/internal/recorder"
	"github.com/clgrad/clgrad/internal/turns"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Record runs step twice, eagerly, on d, and returns a recording of what it launches. Both runs count: after Record the
// program has done two steps more. Outputs are what step returns.
//
// The two runs must do the same: the same launches, with the same numbers but for [kernels.Slots], on memory that plays
// the same part. Values that the step uploads are constants of the recording, and must be the same, too. An error says
// what differs, or cannot be recorded: a read on the host, such as Item; an upload to a tensor older than Record; a
// launch on another device, or by another goroutine; a read of memory that nothing wrote; an error of step itself, or of
// the device. Then up to two steps have been done, and nothing else has changed: the program may go on eagerly. A panic
// of step passes through, with nothing recorded.
//
// Where the first step of a program does something that later ones do not, do one before Record.
func Record(d tensor.Device, step func() ([]*tensor.Tensor, error)) (*Recording, error) {
	start := time.Now()
	if d == nil || step == nil {
		return nil, fault("Record", tensor.ErrValue, "the device or the step is nil")
	}
	dev := d.(recorder.Recorded).Recorder()
	if err := idle(d, dev); err != nil {
		return nil, err
	}
	plumbing.One(d) // kept by the device: its first use would be a launch more

	first := newNotes(nil)
	outputs, err := watch(d, dev, first, step)
	if err != nil {
		return nil, err
	}
	second := newNotes(first)
	again, err := watch(d, dev, second, step)
	if err != nil {
		return nil, err
	}
	pairs, err := compare(dev, first, second)
	if err != nil {
		return nil, err
	}
	b := &builder{d: d, dev: dev, run: second, kept: map[kernels.Buffer]bool{}, blocks: map[kernels.Buffer]*block{},
		spans: map[kernels.Buffer][]span{}, wrote: map[kernels.Buffer]bool{},
		rec: &Recording{d: d, dev: dev, again: second.again, step: &recorder.Step{}}}
	if err := b.outputs(pairs, outputs, again); err != nil {
		return nil, err
	}
	if err := b.build(); err != nil {
		b.rec.Free()
		return nil, err
	}
	for _, t := range again {
		b.rec.outputs = append(b.rec.outputs, t.View().Keep())
	}
	b.hide()
	b.rec.report.EagerBytes = second.peak
	b.rec.report.Took = time.Since(start)
	b.rec.cleanup = runtime.AddCleanup(b.rec, func(p recorder.Program) { p.Free() }, b.rec.program)
	return b.rec, nil
}

// idle returns why a device cannot record or replay now.
func idle(d tensor.Device, dev recorder.Device) error {
	if err := d.Err(); err != nil {
		return err
	}
	if err := dev.Claim(); err != nil {
		return err
	}
	dev.Leave()
	return nil
}

// watch runs the step and notes what it does.
func watch(d tensor.Device, dev recorder.Device, n *notes, step func() ([]*tensor.Tensor, error)) ([]*tensor.Tensor, error) {
	stop, err := dev.Tap(n)
	if err != nil {
		return nil, err
	}
	defer stop()
	defer turns.Watch(func(s any) { n.slot(s.(*kernels.Slots), 1) })()
	outputs, err := step()
	switch {
	case n.refused != nil:
		return nil, n.refused
	case err != nil:
		return nil, fmt.Errorf("replay: Record: %w", err)
	case d.Err() != nil:
		return nil, d.Err()
	}
	n.end()
	return outputs, nil
}

// outputs checks what the two runs returned. What the second made of it stays where it is.
func (b *builder) outputs(p *pairs, first, second []*tensor.Tensor) error {
	if len(first) != len(second) {
		return fault("Record", ErrDiffers, "the first returned %d outputs, the second %d", len(first), len(second))
	}
	for i, t := range second {
		old := first[i]
		switch {
		case t == nil || old == nil:
			return fault("Record", tensor.ErrValue, "output %d is nil", i)
		case t.Freed() || old.Freed():
			return fault("Record", tensor.ErrFreed, "output %d, of shape %v: call Keep on it in the step", i, t.Shape())
		case t.Device() != b.d:
			return fault("Record", tensor.ErrDevice, "output %d, of shape %v, is on %s", i, t.Shape(), t.Device().Name())
		}
		x, y := b.dev.Tensor(old), b.dev.Tensor(t)
		if !slices.Equal(old.Shape(), t.Shape()) || !slices.Equal(x.Strides, y.Strides) || x.Off != y.Off || old.Type() != t.Type() {
			return fault("Record", ErrDiffers, "output %d is of shape %v and type %v in the first, %v and %v in the second, or another view", i, old.Shape(), old.Type(), t.Shape(), t.Type())
		}
		if why := p.memory(x.Buffer, y.Buffer); why != "" {
			return fault("Record", ErrDiffers, "output %d is %s", i, why)
		}
		if b.run.origin(y.Buffer) == made {
			b.kept[y.Buffer] = true
		}
	}
	return nil
}

// hide makes the tensors that the second run made, and did not return, ones that are not to be read after a replay.
func (b *builder) hide() {
	for buf := range b.run.made {
		if m := b.dev.Memory(buf); m != nil && !b.kept[buf] {
			m.MadeIn(b.rec.step)
		}
	}
}
