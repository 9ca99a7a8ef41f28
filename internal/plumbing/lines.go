package plumbing

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/tensor"
)

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

// Scan runs a sum, a product or a logarithm of a sum along an axis of x, for an operation, in the direction and with or without
// each element itself, as ops.ScanReverse and ops.ScanExclusive say. It panics with tensor.ErrAxis.
func Scan(op string, kind ops.ScanKind, x *tensor.Tensor, axis, flags int) *tensor.Tensor {
	return of(x.Device()).Scan(op, kind, x, axis, flags)
}

// ScanLinear returns y with y[k] = x[k]·y[k−1] + z[k] along an axis, 0 being before the first, of x and z of one shape; with
// ops.ScanReverse k + 1 is before k, with ops.ScanShifted the factor is the x of where that y is. It panics with tensor.ErrAxis. Error:
// the terms pass through the factors one after the other, so that y[k] is off by at most 2(k + 3)·u times the same scan of |x| and |z|;
// on the Go device by one rounding of what float64 has.
func ScanLinear(x, z *tensor.Tensor, axis, flags int) *tensor.Tensor {
	return of(x.Device()).ScanLinear(x, z, axis, flags)
}
