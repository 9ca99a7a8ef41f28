package tensor

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// RNG is a stream of random numbers: Philox4x32-10 keyed by Seed, with a counter of fills. Two RNGs
// with the same Seed and Calls make the same numbers, on every device.
type RNG struct {
	Seed  uint64
	Calls uint32 // fills made so far

	scalars *kernels.StepScalars // what Next passes
	owner   *RNG                 // whom step scalars advance: not this RNG if it is a copy
}

// NewRNG returns the stream of a seed, at its start.
func NewRNG(seed uint64) *RNG { return &RNG{Seed: seed} }

// Next returns the kernel arguments for the next fill: the seed's two words and the call. They are
// step scalars: a recorded step draws other numbers each time, those that eager steps would.
func (r *RNG) Next() (lo, hi, call kernels.Arg) {
	return r.next("Next")
}

// next is Next for op, which its error names.
func (r *RNG) next(op string) (lo, hi, call kernels.Arg) {
	if r == nil {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "the RNG is nil: make one with NewRNG"})
	}
	if r.owner != r {
		r.owner = r
		r.scalars = kernels.NewStepScalars(3, r.advance)
	}
	seen := r.drawn()
	_ = r.scalars.Next() // advance has no errors
	seen.now()
	return r.scalars.Arg(0), r.scalars.Arg(1), r.scalars.Arg(2)
}

// draws is the capture.State of an RNG: where a step that is being recorded finds it, and leaves
// it. A replay advances it, and does nothing else to it.
type draws struct {
	rng         *RNG
	found, left RNG
	set         bool // by the step
}

// drawn returns the draws from r of the step that the calling goroutine records, nil if there is
// none.
func (r *RNG) drawn() *draws {
	if recordings.Load() == 0 {
		return nil
	}
	listener := ownListener()
	if listener == nil {
		return nil
	}
	s := listener.State(r, func() capture.State { return &draws{rng: r, found: *r, left: *r} }).(*draws)
	s.End()
	return s
}

// now notes where the RNG is after a draw.
func (s *draws) now() {
	if s != nil {
		s.left = *s.rng
	}
}

// follows reports whether r is where another one was left.
func (r *RNG) follows(left *RNG) bool { return r.Seed == left.Seed && r.Calls == left.Calls }

// End is that of capture.State.
func (s *draws) End() []capture.Left {
	s.set = s.set || !s.rng.follows(&s.left)
	return nil
}

// Explain is that of capture.State.
func (s *draws) Explain(capture.State) string { return "" }

// Differs is that of capture.State.
func (s *draws) Differs(before capture.State) string {
	if s.set || !s.found.follows(&before.(*draws).left) {
		return "the step sets the Seed or the Calls of an RNG: set them between the runs"
	}
	return ""
}

// Ready is that of capture.State: a stream may be set between the runs.
func (s *draws) Ready() error { return nil }

// Restore is that of capture.State: a replay has advanced the stream.
func (s *draws) Restore() {}

// advance sets the numbers of the next fill and counts it.
func (r *RNG) advance(numbers []kernels.Arg) error {
	numbers[0], numbers[1] = ops.Seed(r.Seed)
	numbers[2] = kernels.BitsArg(r.Calls)
	r.Calls++
	return nil
}

// Uniform returns a tensor of numbers uniform in [low, high), with 24 random bits each. It panics
// with ErrShape as [Empty] does.
func (r *RNG) Uniform(d Device, low, high float64, shape ...int) *Tensor {
	return r.uniform("Uniform", d, low, high, shape...)
}

// uniform is Uniform for op, which its errors name.
func (r *RNG) uniform(op string, d Device, low, high float64, shape ...int) *Tensor {
	t := alloc(op, d, defaultOf(d), shape)
	a, b, c := r.next(op)
	launch(d, ops.Uniform, t.arg(), kernels.IntArg(t.Len()), a, b, c, kernels.FloatArg(low), kernels.FloatArg(high))
	return t
}

// Normal returns a tensor of normal numbers with the given mean and standard deviation. Devices
// agree but for the rounding of their logarithms and cosines.
func (r *RNG) Normal(d Device, mean, sd float64, shape ...int) *Tensor {
	t := alloc("Normal", d, defaultOf(d), shape)
	a, b, c := r.next("Normal")
	launch(d, ops.Normal, t.arg(), kernels.IntArg(t.Len()), a, b, c, kernels.FloatArg(mean), kernels.FloatArg(sd))
	return t
}

// Ints returns an Int32 tensor of numbers uniform in [0, bound). It panics with ErrValue unless 0 <
// bound < 2³¹.
func (r *RNG) Ints(d Device, bound int, shape ...int) *Tensor {
	if bound <= 0 || bound > math.MaxInt32 {
		panic(&Error{Op: "Ints", Kind: ErrValue, Shapes: [][]int{shape}, Detail: fmt.Sprintf("numbers in [0, %d)", bound)})
	}
	t := alloc("Ints", d, Int32, shape)
	a, b, c := r.next("Ints")
	launch(d, ops.RandomInts, t.arg(), kernels.IntArg(t.Len()), a, b, c, kernels.IntArg(bound))
	t.boundValues(0, int64(bound-1))
	return t
}
