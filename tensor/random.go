package tensor

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// RNG is a stream of random numbers: Philox4x32-10 keyed by Seed, with a counter of fills. Two RNGs with
// the same Seed and Calls make the same numbers, on every device.
type RNG struct {
	Seed  uint64
	Calls uint32 // fills made so far
}

// NewRNG returns the stream of a seed, at its start.
func NewRNG(seed uint64) *RNG { return &RNG{Seed: seed} }

// Next returns the kernel arguments for the next fill: the seed's two words and the call.
func (r *RNG) Next() (lo, hi, call kernels.Arg) {
	if r == nil {
		panic(&Error{Op: "Next", Kind: ErrValue, Detail: "the RNG is nil: make one with NewRNG"})
	}
	lo, hi = ops.Seed(r.Seed)
	call = kernels.Bits(r.Calls)
	r.Calls++
	return lo, hi, call
}

// Uniform returns a tensor of numbers uniform in [low, high), with 24 random bits each. It panics with ErrShape as
// [Empty] does.
func (r *RNG) Uniform(d Device, low, high float64, shape ...int) *Tensor {
	t := alloc("Uniform", d, shape)
	a, b, c := r.Next()
	launch(d, ops.Uniform, t.arg(), kernels.I(t.Len()), a, b, c, kernels.R(low), kernels.R(high))
	return t
}

// Normal returns a tensor of normal numbers with the given mean and standard deviation. Devices agree
// but for the rounding of their logarithms and cosines.
func (r *RNG) Normal(d Device, mean, sd float64, shape ...int) *Tensor {
	t := alloc("Normal", d, shape)
	a, b, c := r.Next()
	launch(d, ops.Normal, t.arg(), kernels.I(t.Len()), a, b, c, kernels.R(mean), kernels.R(sd))
	return t
}

// Ints returns an Int32 tensor of numbers uniform in [0, bound). It panics with ErrValue unless 0 < bound < 2³¹.
func (r *RNG) Ints(d Device, bound int, shape ...int) *Tensor {
	if bound <= 0 || bound > math.MaxInt32 {
		panic(&Error{Op: "Ints", Kind: ErrValue, Shapes: [][]int{shape}, Detail: fmt.Sprintf("numbers in [0, %d)", bound)})
	}
	t := allocOf("Ints", d, Int32, shape)
	a, b, c := r.Next()
	launch(d, ops.RandomInts, t.arg(), kernels.I(t.Len()), a, b, c, kernels.I(bound))
	t.st.ints = intRange{low: 0, high: int32(bound - 1), known: true}
	return t
}
