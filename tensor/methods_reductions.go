// Code generated from internal/operations/table/reductions.go by "make generate". DO NOT EDIT.

package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels/defs"
)

// Sum returns the sum over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. A scalar has axis 0. Of no elements it is 0. The order of
// the additions is fixed: the same input gives the same bits. Of integers it is Int64, and wraps
// around. It panics with ErrAxis for an axis that x has not, or that is named twice.
//
// Error: sums are pairwise. That of n elements is off by at most (256 + log₂ n)·u·Σ|x|, u being
// 2⁻²⁴ in float32 and 2⁻⁵³ in float64, for each run of neighbouring axes that it is over. The same
// holds for all that sums over axes: means, norms, gradients of what is broadcast.
func (x *Tensor) Sum(axes ...int) *Tensor { return lowered(x.sum("Sum", 1, axes), x) }

// Mean returns the mean over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. Of no elements it is NaN, of integers a float. It panics
// with ErrAxis for an axis that x has not, or that is named twice. Error: that of [Tensor.Sum],
// divided by n.
func (x *Tensor) Mean(axes ...int) *Tensor { return lowered(x.mean(axes...), x) }

// Max returns the maximum over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. A NaN is a maximum. Of integers it is of their type. It
// panics with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if
// there is nothing to take the maximum of.
func (x *Tensor) Max(axes ...int) *Tensor {
	return lowered(x.extreme("Max", defs.FoldMax, axes), x)
}

// Min returns the minimum over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. A NaN is a minimum. Of integers it is of their type. It
// panics with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if
// there is nothing to take the minimum of.
func (x *Tensor) Min(axes ...int) *Tensor {
	return lowered(x.extreme("Min", defs.FoldMin, axes), x)
}

// SumTo returns the sum of x over the axes along which shape broadcasts to x's: the gradient of
// [Tensor.Expand]. The result has that shape. It panics with ErrShape if shape does not broadcast
// to x's. Error: that of [Tensor.Sum].
func (x *Tensor) SumTo(shape ...int) *Tensor { return lowered(x.sumTo(shape...), x) }

// Norm returns the p-norm over the given axes, (Σ |x|ᵖ)^(1/p), which disappear from the shape
// unless [Keepdims] is among them; over all if none is given. For p = +Inf it is the largest |x|,
// for −Inf the least, for 0 the number of elements that are not 0. As in PyTorch, the sum is of
// powers as they are: one that overflows makes it infinite, one that underflows counts as 0. Of no
// elements it is 0. Of integers it is of floats. It panics with ErrAxis for an axis that x has not,
// or that is named twice, with ErrValue if p is NaN, and with ErrShape if p is infinite and there
// are no elements.
func (x *Tensor) Norm(p float64, axes ...int) *Tensor { return lowered(x.pNorm(p, axes...), x) }

// LogSumExp returns log Σ eˣ over the given axes, without overflow, in one pass over x. The axes
// disappear from the shape unless [Keepdims] is among them; all are meant if none is given. Of no
// elements it is −Inf, of integers a float. It panics with ErrAxis for an axis that x has not, or
// that is named twice.
func (x *Tensor) LogSumExp(axes ...int) *Tensor { return lowered(x.logSumExp(axes...), x) }

// Var returns the variance over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. It is Σ (x − mean)²/(n − correction) of n elements, 0 in
// place of a divisor below that: correction 1 is Bessel's, and PyTorch's default, 0 NumPy's. The
// deviations are from the mean, or from running means where one pass computes both, so that nothing
// cancels. Squares that overflow make it infinite, or NaN; those that underflow count as 0. Of no
// elements it is NaN, and of one with correction 1; of integers it is a float. It panics with
// ErrAxis for an axis that x has not, or that is named twice, and with ErrValue if correction is
// negative. Error: a variance v about a mean m is off by at most (256 + log₂ n)·u·(v + √v·|m|),
// with the u of [Tensor.Sum].
//
// Source: Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
// Technometrics 4, 1962.
func (x *Tensor) Var(correction int, axes ...int) *Tensor {
	return lowered(x.variance(correction, axes...), x)
}

// Std returns the standard deviation over the given axes, the root of what [Tensor.Var] returns. It
// panics as that does.
func (x *Tensor) Std(correction int, axes ...int) *Tensor {
	return lowered(x.std(correction, axes...), x)
}

// MaxWithIndex returns the maximum over the given axes and, as [Tensor.ArgMax] does, its index. It
// panics as that does.
func (x *Tensor) MaxWithIndex(axes ...int) (values *Tensor, indices *Tensor) {
	y, at := x.extremes("MaxWithIndex", false, axes)
	return lowered(y, x), at
}

// MinWithIndex returns the minimum over the given axes and, as [Tensor.ArgMin] does, its index. It
// panics as that does.
func (x *Tensor) MinWithIndex(axes ...int) (values *Tensor, indices *Tensor) {
	y, at := x.extremes("MinWithIndex", true, axes)
	return lowered(y, x), at
}

// ArgMax returns, as Int64, the index of the maximum over the given axes, of equal ones the first;
// a NaN is a maximum. Over several axes, and over all if none is given, it counts their elements in
// row-major order. The axes disappear from the shape unless [Keepdims] is among them. It panics
// with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if there is
// nothing to take the maximum of.
func (x *Tensor) ArgMax(axes ...int) *Tensor { return x.extremeAt("ArgMax", false, axes) }

// ArgMin returns, as Int64, the index of the minimum over the given axes, of equal ones the first;
// a NaN is a minimum. Over several axes, and over all if none is given, it counts their elements in
// row-major order. The axes disappear from the shape unless [Keepdims] is among them. It panics
// with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if there is
// nothing to take the minimum of.
func (x *Tensor) ArgMin(axes ...int) *Tensor { return x.extremeAt("ArgMin", true, axes) }

// Prod returns the product over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. Of no elements it is 1. The order of the factors is fixed:
// the same input gives the same bits. Of integers it is Int64, and wraps around. It panics with
// ErrAxis for an axis that x has not, or that is named twice.
func (x *Tensor) Prod(axes ...int) *Tensor { return lowered(x.prod(axes...), x) }

// CumSum returns the sums of the elements up to each along an axis. The order of the additions is
// fixed: the same input gives the same bits. Of integers it is Int64, and wraps around. A scalar
// has axis 0. It panics with ErrAxis. Error: each is off by at most what [Tensor.Sum] says of the
// sum of the elements up to it.
func (x *Tensor) CumSum(axis int) *Tensor {
	return lowered(api{}.Scan("CumSum", ops.ScanSum, x, axis, 0), x)
}

// CumProd returns the products of the elements up to each along an axis, in a fixed order. Of
// integers it is Int64, and wraps around. A scalar has axis 0. It panics with ErrAxis.
func (x *Tensor) CumProd(axis int) *Tensor {
	return lowered(api{}.Scan("CumProd", ops.ScanProd, x, axis, 0), x)
}

// LogCumSumExp returns log Σ eˣ of the elements up to each along an axis, without overflow, in a
// fixed order. Of integers it is a float. A scalar has axis 0. It panics with ErrAxis.
func (x *Tensor) LogCumSumExp(axis int) *Tensor {
	return lowered(api{}.Scan("LogCumSumExp", ops.ScanLSE, x, axis, 0), x)
}

// CumMax returns the maximum of the elements up to each along an axis and, as Int64, its index: of
// equal ones the last. A NaN is a maximum. A scalar has axis 0. It panics with ErrAxis.
func (x *Tensor) CumMax(axis int) (values *Tensor, indices *Tensor) {
	y, at := x.scanExtreme("CumMax", ops.ScanMax, axis)
	return lowered(y, x), at
}

// CumMin returns the minimum of the elements up to each along an axis and, as Int64, its index: of
// equal ones the last. A NaN is a minimum. A scalar has axis 0. It panics with ErrAxis.
func (x *Tensor) CumMin(axis int) (values *Tensor, indices *Tensor) {
	y, at := x.scanExtreme("CumMin", ops.ScanMin, axis)
	return lowered(y, x), at
}

// Sort returns x's elements in ascending order along an axis, NaN last, and, as Int64, their
// indices. Equal elements keep their order. A scalar has axis 0. It panics with ErrAxis.
func (x *Tensor) Sort(axis int, o ...SortOptions) (values *Tensor, indices *Tensor) {
	y, at := x.sort("Sort", axis, o)
	return lowered(y, x), at
}

// ArgSort returns, as Int64, the indices that put x in ascending order along an axis, NaN last.
// Equal elements keep their order. A scalar has axis 0. It panics with ErrAxis.
func (x *Tensor) ArgSort(axis int, o ...SortOptions) *Tensor { return x.argSort(axis, o...) }

// TopK returns the k greatest elements along an axis, from the greatest on, and, as Int64, their
// indices. A NaN is greater than all others; of equal elements those that come first are taken, in
// their order. A scalar has axis 0. It panics with ErrAxis, and with ErrValue unless the axis has k
// elements.
func (x *Tensor) TopK(k, axis int, o ...TopKOptions) (values *Tensor, indices *Tensor) {
	y, at := x.topK("TopK", k, axis, single("TopK", o))
	return lowered(y, x), at
}

// KeepTopK returns x with the k greatest elements along an axis where they are, and 0 in place of
// all others: global inhibition, by which the k strongest units of a layer silence the rest. A NaN
// is greater than all others; of equal elements those that come first stay. Of integers it is of
// floats. A scalar has axis 0. It panics with ErrAxis, and with ErrValue unless the axis has k
// elements.
//
// Source: Makhzani, Frey, "k-Sparse Autoencoders", ICLR 2014.
func (x *Tensor) KeepTopK(k, axis int) *Tensor { return lowered(x.keepTopK(k, axis), x) }

// Median returns the lower median over the given axes, element (n − 1)/2 of the n in ascending
// order, and, as Int64, its index: that which a stable sort puts there. If there is a NaN, that is
// the median, the first of them. Over several axes, and over all if none is given, the index counts
// their elements in row-major order. The axes disappear from the shape unless [Keepdims] is among
// them. It panics with ErrAxis for an axis that x has not, or that is named twice, and with
// ErrShape if there is nothing to take the median of.
func (x *Tensor) Median(axes ...int) (values *Tensor, indices *Tensor) {
	y, at := x.median(axes...)
	return lowered(y, x), at
}

// CountNonzero returns, as Int64, how many elements are not 0 over the given axes, which disappear
// from the shape unless [Keepdims] is among them; over all if none is given. A NaN is not 0. It
// panics with ErrAxis for an axis that x has not, or that is named twice.
func (x *Tensor) CountNonzero(axes ...int) *Tensor { return x.countNonzero(axes...) }

// Any returns, as Bool, whether an element over the given axes is not 0. The axes disappear from
// the shape unless [Keepdims] is among them; all are meant if none is given. Of no elements it is
// 0. A NaN is not 0. It panics with ErrAxis for an axis that x has not, or that is named twice.
func (x *Tensor) Any(axes ...int) *Tensor { return x.any(axes...) }

// All returns, as Bool, whether no element over the given axes is 0. The axes disappear from the
// shape unless [Keepdims] is among them; all are meant if none is given. Of no elements it is 1. A
// NaN is not 0. It panics with ErrAxis for an axis that x has not, or that is named twice.
func (x *Tensor) All(axes ...int) *Tensor { return x.all(axes...) }

// Kthvalue returns the k-th element along an axis in ascending order, from 1 on, and, as Int64, its
// index: that which a stable sort puts there. NaN is above all others. The axis disappears; a
// scalar has axis 0. It panics with ErrAxis, and with ErrValue unless the axis has k elements.
func (x *Tensor) Kthvalue(k, axis int) (values *Tensor, indices *Tensor) {
	y, at := x.kthvalue(k, axis)
	return lowered(y, x), at
}

// Mode returns the element that is there most often along an axis, the least of several, and, as
// Int64, the index of the last of them. A NaN equals nothing. The axis disappears; a scalar has
// axis 0. It panics with ErrAxis, and with ErrShape for an axis without elements.
func (x *Tensor) Mode(axis int) (values *Tensor, indices *Tensor) {
	y, at := x.mode(axis)
	return lowered(y, x), at
}

// Quantile returns the element at the share q of the way from the least to the greatest along an
// axis, which disappears; a scalar has axis 0. Between two elements it is what the options say, by
// their distances without. A line with a NaN is NaN. Integers are converted to floats. It panics
// with ErrAxis, with ErrShape for an axis without elements, and with ErrValue unless q is in [0,
// 1].
func (x *Tensor) Quantile(q float64, axis int, options ...QuantileOptions) *Tensor {
	return lowered(x.quantile(q, axis, options...), x)
}

// Unique returns the different elements in ascending order, with the place among them of each
// element of x, in its shape, and how often each is there, both as Int64. A NaN equals nothing. The
// device is waited for.
func (x *Tensor) Unique() (values, inverse, counts *Tensor) { return x.unique() }

// Bincount returns, as Int64, how often each number from 0 on is in x, a list of integers: as many
// counts as the greatest number asks for, and least at least. With weights, a list of as many, it
// is the sums of those, in their type. The device is waited for. It panics with ErrType for another
// x, with ErrShape for other weights, with ErrValue for a least below 0, and with ErrIndex for a
// number below 0.
func (x *Tensor) Bincount(weights *Tensor, least int) *Tensor { return x.bincount(weights, least) }

// Histc returns how many elements of x are in each of so many bins of one width from low to high,
// whose ends count, as floats. What is outside, and NaN, does not count. If low is high, the ends
// are the least and the greatest element, for which the device is waited for. It panics with
// ErrValue for no bins or more than 2²³, and for ends that are not finite or not in order.
func (x *Tensor) Histc(bins int, low, high float64) *Tensor { return x.histc(bins, low, high) }
