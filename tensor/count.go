package tensor

import (
	"fmt"
	"math"
)

func (t *Tensor) nonZero() *Tensor {
	const op = "NonZero"
	d := check(op, t)
	var y *Tensor
	Scope(d, func() {
		mask := t.NeScalar(0)
		if t.Rank() == 0 {
			mask = mask.Reshape(1)
		}
		list := mask.nonzero(op)
		if t.Rank() == 0 {
			y = EmptyOf(d, Int64, list[0].Len(), 0).Retain()
			return
		}
		y = Stack(1, list...).To(Int64).Retain()
	})
	defer y.Free()
	return y.View()
}

func (t *Tensor) bincount(weights *Tensor, least int) *Tensor {
	const op = "Bincount"
	d := check(op, t)
	if t.Rank() != 1 || !t.typ.Integer() {
		misuse(op, ErrType, "numbers are a list of integers", t)
	}
	if weights != nil {
		if check(op, t, weights); weights.Rank() != 1 || weights.Len() != t.Len() {
			misuse(op, ErrShape, "there is a weight for each number", t, weights)
		}
	}
	if least < 0 {
		misuse(op, ErrValue, fmt.Sprintf("%d counts at least: it is 0 or more", least), t)
	}
	return composed(op, func() *Tensor {
		n, index := least, t.To(Int64)
		if t.Len() > 0 {
			ends := index.read(op, index.Min(), index.Max())
			if ends[0] < 0 || ends[1] >= math.MaxInt32 {
				misuse(op, ErrIndex, fmt.Sprintf("numbers from %v to %v: they are 0 to %d", ends[0], ends[1], math.MaxInt32-1), t)
			}
			n = max(n, int(ends[1])+1)
		}
		if weights == nil {
			return ZerosOf(d, Int64, n).ScatterAdd(0, index, FullOf(d, Int64, 1, t.Len()))
		}
		return ZerosOf(d, weights.typ, n).ScatterAdd(0, index, weights)
	}, t)
}

// read returns numbers that the device computes, which it waits for; zeros if the device failed.
func (t *Tensor) read(op string, numbers ...*Tensor) []float64 {
	list := make([]float64, len(numbers))
	for i, x := range numbers {
		if v, err := x.Float64s(); err == nil {
			list[i] = v[0]
		}
	}
	return list
}

// mostBins is how many bins the numbers of a float32 between two powers of 2 tell apart.
const mostBins = 1 << 23

func (t *Tensor) histc(bins int, low, high float64) *Tensor {
	const op = "Histc"
	d := check(op, t)
	if bins < 1 || bins > mostBins || !(low <= high) || math.IsInf(high-low, 0) {
		misuse(op, ErrValue, fmt.Sprintf("%d bins from %v to %v: there are 1 to %d, and the ends are finite and in order", bins, low, high, mostBins), t)
	}
	return composed(op, func() *Tensor {
		x := t.To(floats(t)).Reshape(t.Len())
		if low == high && t.Len() > 0 {
			ends := t.read(op, x.Min(), x.Max())
			if low, high = ends[0], ends[1]; math.IsNaN(high-low) || math.IsInf(high-low, 0) {
				misuse(op, ErrValue, fmt.Sprintf("elements from %v to %v: give the ends of the bins", low, high), t)
			}
		}
		if low == high {
			low, high = low-1, high+1
		}
		inside := x.GeScalar(low).LogicalAnd(x.LeScalar(high))
		bin := x.SubScalar(low).MulScalar(float64(bins)).DivScalar(high-low).MaskedFill(inside.LogicalNot(), 0)
		index := bin.To(Int64).Clamp(0, float64(bins-1))
		return ZerosOf(d, Int64, bins).ScatterAdd(0, index, inside.To(Int64)).To(floatsOf(t))
	}, t)
}
