package plumbing

import "github.com/clgrad/clgrad/tensor"

// Moments returns the mean and the variance of x over axes, for an operation: see tensor.Tensor.Var, as which it panics.
func Moments(op string, x *tensor.Tensor, correction int, axes ...int) (mean, variance *tensor.Tensor) {
	return of(x.Device()).Moments(op, x, correction, axes)
}

// TakeAlong returns n elements of each line of x, of reals, along an axis: those that index, an Int32 tensor of as many
// elements, names. Indices that are none give 0; nothing else is checked.
func TakeAlong(x, index *tensor.Tensor, axis, n int) *tensor.Tensor {
	return of(x.Device()).TakeAlong(x, index, axis, n)
}

// PlaceAlong returns a tensor of x's shape but with n elements along an axis, where each element of x, of reals, was added to
// the one that index, of as many elements, names along that axis, in order, and others are 0. If the indices of a line are distinct, it
// is faster to say so. Indices that are none are passed over; nothing else is checked.
func PlaceAlong(x, index *tensor.Tensor, axis, n int, distinct bool) *tensor.Tensor {
	return of(x.Device()).PlaceAlong(x, index, axis, n, distinct)
}
