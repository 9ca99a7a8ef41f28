package operation

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// Scan folds the elements of the middle axis of X, which has Outer, Len and Inner elements along its axes, one
// after the other with a Function of two operands, fn.Add, fn.Mul, fn.LogAddExp, fn.Max or fn.Min, and keeps
// what each comes to: cumsum, cumprod, logcumsumexp, cummax, cummin. Along each share [s·Chunk, min(Len,
// (s+1)·Chunk)) of the axis, k ascending, or descending if it is Reverse,
//
//	state = Function(Decay[o, k, i]·state, X[o, k, i])     Y[o, k, i] = state, or what it was before if it is Exclusive
//
// where state begins as Init[o, s, i], and Decay, which is there for a linear recurrence, is 1 otherwise and for the
// first element. Without Init, state begins as what the Function leaves alone: 0, 1 or −∞, or of a maximum or minimum
// as the first element. Index[o, k, i] is the k of the last element that is the maximum or minimum so far. A NaN is
// beyond all others.
//
// Views: X, Decay, Y and Index by (o, k, i), Init by (o, s, i). Those without Strides are not there. Index is of
// integers. Chunk is at least 1.
//
// Order: that of the kernel. Integers wrap around.
type Scan struct {
	Function                 *kernels.Function
	Outer, Len, Inner, Chunk int
	Reverse, Exclusive       bool
	X, Decay, Init, Y, Index kernels.View
}

// Views returns X, Decay and Init, and Y and Index, as far as they are there.
func (s *Scan) Views() (reads, writes []kernels.View) {
	return present(s.X, s.Decay, s.Init), present(s.Y, s.Index)
}

// AllViews returns all views, to be changed.
func (s *Scan) AllViews() []*kernels.View {
	return []*kernels.View{&s.X, &s.Decay, &s.Init, &s.Y, &s.Index}
}

// present returns the views that are there.
func present(views ...kernels.View) []kernels.View {
	return slices.DeleteFunc(views, func(v kernels.View) bool { return v.Strides == nil })
}
