package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/compose"
)

// QuantileOptions are those of [Tensor.Quantile].
type QuantileOptions struct {
	Interpolation Interpolation // between two elements
}

// Interpolation says what a quantile between two elements is.
type Interpolation = compose.Interpolation

// The interpolations of [Tensor.Quantile].
const (
	LinearInterpolation   = compose.Linear   // between both, by their distances
	LowerInterpolation    = compose.Lower    // the lower
	HigherInterpolation   = compose.Higher   // the higher
	NearestInterpolation  = compose.Nearest  // the nearer; at the middle the one whose index is even
	MidpointInterpolation = compose.Midpoint // the mean of both
)

func (t *Tensor) quantile(q float64, axis int, options ...QuantileOptions) *Tensor {
	const op = "Quantile"
	between := only(op, options).Interpolation
	return composed(op, func() *Tensor {
		return compose.Quantile(t, q, axis, between, func(x *Tensor, axis int) *Tensor {
			values, _ := x.Sort(axis)
			return values
		})
	}, t)
}

func (t *Tensor) kthvalue(k, axis int) (values, indices *Tensor) {
	const op = "Kthvalue"
	check(op, t)
	a, over := t.axisOrScalar(op, axis)
	n := 1
	if len(over) > 0 {
		n = t.shape[a]
	}
	if k < 1 || k > n {
		misuse(op, ErrValue, fmt.Sprintf("k is %d: it is 1 to %d, the elements along axis %d", k, n, axis), t)
	}
	y, at := t.topK(op, k, axis, TopKOptions{Smallest: true})
	if len(over) == 0 {
		return y.reshaped([]int{}), at.reshaped([]int{})
	}
	return y.taken(a, k-1), at.taken(a, k-1)
}

// taken returns the elements of t at an index of an axis, in a tensor of their own, and frees t.
func (t *Tensor) taken(axis, index int) *Tensor {
	defer t.Free()
	part := t.Select(axis, index)
	defer part.Free()
	return part.Copy()
}

// mode looks for the longest run of equal elements among the sorted ones; where each stands in its run says how long that
// is so far.
func (t *Tensor) mode(axis int) (values, indices *Tensor) {
	const op = "Mode"
	d := check(op, t)
	a, over := t.axisOrScalar(op, axis)
	if len(over) == 0 {
		return t.Copy(), ZerosOf(d, Int64)
	}
	n := t.shape[a]
	if n == 0 {
		misuse(op, ErrShape, fmt.Sprintf("axis %d has no elements", axis), t)
	}
	Scope(d, func() {
		sorted, at := t.Sort(a)
		along := slices.Repeat([]int{1}, t.Rank())
		along[a] = n
		place := ArangeOf(d, Int64, 0, float64(n), 1).Reshape(along...)
		first, _ := sorted.changes(a).Mul(place).CumMax(a)
		_, last := place.Sub(first).MaxWithIndex(a)
		last = last.Unsqueeze(a)
		values, indices = sorted.Gather(a, last).Squeeze(a).Retain(), at.Gather(a, last).Squeeze(a).Retain()
	})
	defer values.Free()
	defer indices.Free()
	return values.View(), indices.View()
}

// changes returns 1 where elements along an axis differ from those before, else 0, in Int64; 0 for the first.
func (t *Tensor) changes(axis int) *Tensor {
	n := t.shape[axis]
	differ := t.Slice(axis, 1, n).Ne(t.Slice(axis, 0, n-1)).To(Int64)
	widths := make([][2]int, t.Rank()-axis)
	widths[0][0] = 1
	return differ.Pad(widths)
}

func (t *Tensor) unique() (values, inverse, counts *Tensor) {
	const op = "Unique"
	d := check(op, t)
	n := t.Len()
	if n == 0 {
		return EmptyOf(d, t.typ, 0), EmptyOf(d, Int64, t.shape...), EmptyOf(d, Int64, 0)
	}
	Scope(d, func() {
		sorted, at := t.Reshape(-1).Sort(0)
		fresh := sorted.changes(0)
		number := fresh.CumSum(0)
		inverse = ZerosOf(d, Int64, n).Scatter(0, at, number).Reshape(t.shape...).Retain()
		ends := FullOf(d, Int64, float64(n), 1)
		first := Concat(0, ZerosOf(d, Int64, 1), fresh.NonZero().Reshape(-1), ends)
		values = sorted.IndexSelect(0, first.Slice(0, 0, -1)).Retain()
		counts = first.Diff(1, 0).Retain()
	})
	defer values.Free()
	defer inverse.Free()
	defer counts.Free()
	return values.View(), inverse.View(), counts.View()
}

// searchSorted sorts the values among the sequence: before what is equal there, or behind it if right. How many elements
// of the sequence are before each is its place.
func (t *Tensor) searchSorted(values *Tensor, right bool) *Tensor {
	const op = "SearchSorted"
	check(op, t, values)
	shape := values.Shape()
	lead := t.Rank() - 1
	if lead < 0 || lead > 0 && (len(shape) != lead+1 || !slices.Equal(shape[:lead], t.shape[:lead])) {
		misuse(op, ErrShape, "a sequence of one axis takes values of any shape, and others those of their leading axes", t, values)
	}
	return composed(op, func() *Tensor {
		v, n := values, t.shape[lead]
		if lead == 0 {
			v = v.Reshape(values.Len())
		}
		m := v.shape[lead]
		all, from := []*Tensor{v, t}, 0
		if right {
			all, from = []*Tensor{t, v}, n
		}
		_, at := Concat(lead, all...).Sort(lead)
		before := at.GeScalar(float64(m))
		if right {
			before = at.LtScalar(float64(n))
		}
		places := before.To(Int64).CumSum(lead)
		return ZerosOf(t.Device(), Int64, at.shape...).Scatter(lead, at, places).Slice(lead, from, from+m).Reshape(shape...)
	}, t, values)
}
