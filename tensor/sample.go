package tensor

import (
	"fmt"
	"math"
	"slices"
)

func (t *Tensor) bernoulli(rng *RNG) *Tensor {
	const op = "Bernoulli"
	d := check(op, t)
	u := rng.uniform(op, d, 0, 1, t.shape...)
	defer u.Free()
	mask := u.Lt(t)
	defer mask.Free()
	return mask.To(floatsOf(t))
}

// mostDraws is how many numbers a stream of 24 bits each has that differ.
const mostDraws = 1 << 24

// multinomial draws several with replacement by where numbers fall in the sums of the weights. Else it takes the first
// to come of exponential times, of which the weights are the rates.
func (t *Tensor) multinomial(n int, replace bool, rng *RNG) *Tensor {
	const op = "Multinomial"
	d := check(op, t)
	a := t.Rank() - 1
	if a < 0 || t.shape[a] == 0 {
		misuse(op, ErrShape, "weights of classes are along the last axis", t)
	}
	classes := t.shape[a]
	if n < 0 || n > mostDraws || !replace && n > classes {
		misuse(op, ErrValue, fmt.Sprintf("%d of %d classes: without replacement they are all at most, and with it %d", n, classes, mostDraws), t)
	}
	shape := append(slices.Clone(t.shape[:a]), n)
	checkShape(op, shape)
	const least = 0x1p-26 // below what is drawn but for 0
	if !replace || n == 1 {
		u := rng.uniform(op, d, 0, 1, t.shape...)
		defer u.Free()
		return composed(op, func() *Tensor {
			_, at := t.Div(u.RSubScalar(1).Log().Neg().MaxScalar(least)).TopK(n, -1)
			return at
		}, t)
	}
	u := rng.uniform(op, d, 0, 1, shape...)
	defer u.Free()
	return composed(op, func() *Tensor {
		sums := t.To(floats(t)).CumSum(-1)
		whole := sums.Slice(-1, -1, End)
		return sums.SearchSorted(u.Mul(whole), true).Minimum(sums.SearchSorted(whole, false))
	}, t)
}

// Permutation returns the numbers from 0 to n − 1 in a random order, in Int64: torch.randperm. It panics with ErrShape as
// [Empty] does.
func (r *RNG) Permutation(d Device, n int) *Tensor {
	const op = "Permutation"
	mustDevice(op, d)
	checkShape(op, []int{n})
	high, low := r.Ints(d, math.MaxInt32, n), r.Ints(d, math.MaxInt32, n)
	defer high.Free()
	defer low.Free()
	return composed(op, func() *Tensor { return high.To(Int64).MulScalar(math.MaxInt32).Add(low).ArgSort(0) }, high)
}
