package replay

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Recording is a step that runs again without the Go code that launched it. It belongs to one
// goroutine at a time, as its device does. Several recordings, of other shapes say, may share
// parameters.
type Recording struct {
	d        tensor.Device
	dev      capture.Device
	program  capture.Program
	launches []capture.Launch
	turns    []*turn // in the order of the step
	again    []func() error
	needs    []need           // memory that is not the recording's own
	changes  []capture.Memory // what a run writes of them
	memory   []kernels.Buffer // its own
	outputs  []*tensor.Tensor
	states   []capture.State  // what a run reads and leaves on the host
	left     []*tensor.Tensor // tensors among that
	listed   []Launch
	flows    []edge
	report   Report
	times    Times
	// What Explain shows: the launches of the step and of a run, what each of the step is part of, and what passes did.
	before, after *listing
	sources       []source
	decisions     []*decision
	cleanup       runtime.Cleanup
	busy          atomic.Bool // a goroutine runs or frees it
	freed         bool
}

// need is memory that a run finds: it must not have been freed, and no tensor have left it since.
type need struct {
	buf    kernels.Buffer
	memory capture.Memory // nil if it is no tensor's
	moves  int
}

// turn is that step scalars are advanced, and the arguments that are set then.
type turn struct {
	scalars *kernels.StepScalars
	stays   bool // they are not: the arguments are of the turn before the step
	uses    []use
}

// use is an argument and the number that it takes.
type use struct {
	arg *kernels.Arg
	passed
}

// Report is what there is to know of a recording.
type Report struct {
	Step        int // launches of the step as it was done eagerly
	Launches    int // of a run
	Hoisted     int // that were done when the step was recorded, and are not in a run
	StepScalars int // arguments that a run sets
	FusedSteps  int // matches of registered fusions that were done: perceptrons whose training step is one launch, say
	// NotFused says why others were not, nil if there are none. It wraps a *fusion.Refusal for each,
	// and in that a *tensor.MiscompileError where the device computes a launch wrongly.
	NotFused error
	// The memory of a run, which is all there before the first: no run takes more.
	//  - PlannedBytes is what holds temporaries, which the step makes and does not return. Those that are not needed at
	//    one time share a place: all of them have TemporaryBytes, and the most at one time PeakBytes.
	//  - ConstantBytes is what the step uploads, and what was made of that once.
	//  - OutputBytes is what the step returns, and leaves in gradients.
	//  - InputBytes is what is older than Record: inputs, parameters, moments.
	PlannedBytes, TemporaryBytes, PeakBytes, ConstantBytes, OutputBytes, InputBytes int64
	// EagerBytes is what the eager step took for what it makes, at most at one time.
	EagerBytes int64
	Took       time.Duration // Record, with the two steps
	Rewriting  time.Duration // of that: looking for launches to join
	Building   time.Duration // of that: kernels that the device had not built, and their trials
}

// String returns the report in a line.
func (r Report) String() string {
	return fmt.Sprintf("%d launches of %d in the step, %d done once, %d numbers set by step scalars, %d bytes planned where eager took %d, %d bytes of constants, recorded in %v (rewriting %v, building %v)",
		r.Launches, r.Step, r.Hoisted, r.StepScalars, r.PlannedBytes, r.EagerBytes, r.ConstantBytes, r.Took, r.Rewriting,
		r.Building)
}

// Report returns what there is to know of r.
func (r *Recording) Report() Report { return r.report }

// Outputs returns the tensors that hold what the last run returned: the same ones for all runs,
// which overwrite them. Before the first they hold what the second run of the step returned. They belong
// to the recording.
func (r *Recording) Outputs() []*tensor.Tensor { return r.outputs }

// Run does the step once more. It advances the owners of step scalars (optimizers, random streams), sets
// the numbers, and launches everything; it waits only where the host is too far ahead of the
// device, as tensor.Device says. Afterwards the tensors older than Record and the outputs are as an
// eager step would have left them. So are the gradients of parameters, and whether these have one
// or are frozen, the modes of layers, and what was called of a LossScaler. Tensors that the step
// made and did not return must not be used: that panics with tensor.ErrRecorded.
//
// The errors, with nothing launched, are
//   - tensor.ErrFreed if a tensor that the step uses was freed, with its shape
//   - tensor.ErrIndex if indices that the caller has set reach outside
//   - tensor.ErrValue if the step would do something else now: a parameter has a gradient that it
//     had not when the step began which was recorded, unless the step forgets it first; it is
//     frozen, or has other hooks; a layer is in another mode; Run is called under NoGrad or
//     DetectAnomalies; or the other way round
//   - autograd.ErrGraphFreed or ErrChanged if the step walks a graph from before it that it cannot
//     walk any more
//   - ErrRecording within a step that is being recorded
//   - tensor.ErrGoroutine if another goroutine is using the device
//   - ErrReleased, and tensor.ErrClosed if the device was closed
//   - that of an owner, such as a learning rate that is no number
//
// and then the device's first failure, which names the launch.
func (r *Recording) Run() error {
	if !r.busy.CompareAndSwap(false, true) {
		return fault("Run", tensor.ErrGoroutine, "another runs or frees the recording")
	}
	defer r.busy.Store(false)
	if r.freed {
		return fault("Run", ErrReleased, "")
	}
	if errors.Is(r.d.Err(), tensor.ErrClosed) {
		return fault("Run", tensor.ErrClosed, "open a device and record the step on it")
	}
	if err := r.ready(); err != nil {
		return err
	}
	if err := r.dev.Claim(); err != nil {
		return err
	}
	defer r.dev.Leave()
	return r.run(r.program.Run)
}

// run does the step once more, with the device claimed: launches launches everything.
func (r *Recording) run(launches func()) error {
	for _, t := range r.turns {
		if err := t.advance(); err != nil {
			return err
		}
	}
	launches()
	for _, m := range r.changes {
		m.Changed()
	}
	for _, s := range r.states {
		s.Restore()
	}
	return r.d.Err()
}

// ready returns why the recording cannot be run now.
func (r *Recording) ready() error {
	if err := idle(r.d, r.dev); err != nil {
		return err
	}
	for _, n := range r.needs {
		if !r.dev.Live(n.buf) {
			return fault("Run", tensor.ErrFreed, "one of shape %s, which the step uses: record it again", shapeOf(r.dev, n.buf))
		}
		if n.memory != nil && n.memory.Moves() != n.moves {
			return fault("Run", tensor.ErrFreed, "a parameter of shape %s, which the step uses, moved to another optimizer: record it again", shapeOf(r.dev, n.buf))
		}
	}
	for _, check := range r.again {
		if err := check(); err != nil {
			return err
		}
	}
	for _, s := range r.states {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// advance makes the numbers of a turn and sets the arguments to them.
func (t *turn) advance() error {
	if !t.stays {
		if err := t.scalars.Next(); err != nil {
			return err
		}
	}
	for _, u := range t.uses {
		now := t.scalars.Number(u.number)
		if now.Kind != u.arg.Kind {
			return fault("Run", tensor.ErrArgument, "number %d of step scalars is %v, and was %v when it was recorded",
				u.number, now.Kind, u.arg.Kind)
		}
		u.set(now)
	}
	return nil
}

func (u use) set(number kernels.Arg) { u.arg.Int, u.arg.Float = number.Int, number.Float }

// Free gives back the memory of the recording, and its hold on the outputs. It may not be run any
// more; freeing it again does nothing. What is not freed comes back with the garbage. It panics
// with tensor.ErrGoroutine while another goroutine runs the recording.
func (r *Recording) Free() {
	if !r.busy.CompareAndSwap(false, true) {
		panic(fault("Free", tensor.ErrGoroutine, "another runs or frees the recording"))
	}
	defer r.busy.Store(false)
	if r.freed {
		return
	}
	r.freed = true
	r.cleanup.Stop()
	if r.program != nil {
		r.program.Free()
	}
	for _, b := range r.memory {
		r.d.Release(b)
	}
	for _, t := range slices.Concat(r.outputs, r.left) {
		t.Free()
	}
	r.launches, r.turns, r.needs, r.changes, r.memory, r.states, r.left = nil, nil, nil, nil, nil, nil, nil
}

// For benchmarks inside this module: see capture.Loop.
func init() {
	capture.Loop = func(recording any, n int) error { return recording.(*Recording).program.Loop(n) }
}
