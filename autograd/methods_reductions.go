// Code generated from internal/operations/table/reductions.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// Sum returns the sum over the given axes, which disappear from the shape unless [tensor.Keepdims]
// is among them; over all if none is given. A scalar has axis 0. Of no elements it is 0. The order
// of the additions is fixed: the same input gives the same bits. Of integers it is Int64, and wraps
// around. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice.
//
// Error: sums are pairwise. That of n elements is off by at most (256 + log₂ n)·u·Σ|x|, u being
// 2⁻²⁴ in float32 and 2⁻⁵³ in float64, for each run of neighbouring axes that it is over. The same
// holds for all that sums over axes: means, norms, gradients of what is broadcast.
//
// Gradient: g, repeated along the axes.
func (x *Node) Sum(axes ...int) *Node {
	x = castFloat32(x)
	y := lowered(x.sum(axes...), x)
	if trace.On() {
		trace.Record("Sum", []any{x, axes}, y)
	}
	return y
}

// Mean returns the mean over the given axes, which disappear from the shape unless
// [tensor.Keepdims] is among them; over all if none is given. Of no elements it is NaN, of integers
// a float. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice. Error:
// that of [Node.Sum], divided by n.
//
// Gradient: g/n, repeated along the axes, n being the number of elements that a mean is of.
func (x *Node) Mean(axes ...int) *Node {
	y := lowered(x.mean(axes...), x)
	if trace.On() {
		trace.Record("Mean", []any{x, axes}, y)
	}
	return y
}

// Max returns the maximum over the given axes, which disappear from the shape unless
// [tensor.Keepdims] is among them; over all if none is given. A NaN is a maximum. Of integers it is
// of their type. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice,
// and with tensor.ErrShape if there is nothing to take the maximum of.
//
// Gradient: g to the elements that attain the maximum, in equal parts; if it is NaN, to the NaNs.
func (x *Node) Max(axes ...int) *Node {
	y := lowered(x.max(axes...), x)
	if trace.On() {
		trace.Record("Max", []any{x, axes}, y)
	}
	return y
}

// Min returns the minimum over the given axes, which disappear from the shape unless
// [tensor.Keepdims] is among them; over all if none is given. A NaN is a minimum. Of integers it is
// of their type. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice,
// and with tensor.ErrShape if there is nothing to take the minimum of.
//
// Gradient: g to the elements that attain the minimum, in equal parts; if it is NaN, to the NaNs.
func (x *Node) Min(axes ...int) *Node {
	y := lowered(x.min(axes...), x)
	if trace.On() {
		trace.Record("Min", []any{x, axes}, y)
	}
	return y
}

// SumTo returns the sum of x over the axes along which shape broadcasts to x's: the gradient of
// [Node.Expand]. The result has that shape. It panics with tensor.ErrShape if shape does not
// broadcast to x's. Error: that of [Node.Sum].
//
// Gradient: g, repeated along those axes.
func (x *Node) SumTo(shape ...int) *Node {
	y := lowered(x.sumTo(shape...), x)
	if trace.On() {
		trace.Record("SumTo", []any{x, shape}, y)
	}
	return y
}

// Norm returns the p-norm over the given axes, (Σ |x|ᵖ)^(1/p), which disappear from the shape
// unless [tensor.Keepdims] is among them; over all if none is given. For p = +Inf it is the largest
// |x|, for −Inf the least, for 0 the number of elements that are not 0. As in PyTorch, the sum is
// of powers as they are: one that overflows makes it infinite, one that underflows counts as 0. Of
// no elements it is 0. Of integers it is of floats. It panics with tensor.ErrAxis for an axis that
// x has not, or that is named twice, with tensor.ErrValue if p is NaN, and with tensor.ErrShape if
// p is infinite and there are no elements.
//
// Gradient: sign(x)·(|x|/y)^(p − 1)·g for the result y, 0 where x is 0, whatever p is, and where y
// is: powers that underflow make it so. Of p = ±Inf it is sign(x)·g for the elements whose |x| is
// y, in equal parts; of p = 0 it is 0.
func (x *Node) Norm(p float64, axes ...int) *Node {
	x = castFloat32(x)
	y := lowered(x.pNorm(p, axes...), x)
	if trace.On() {
		trace.Record("Norm", []any{x, p, axes}, y)
	}
	return y
}

// LogSumExp returns log Σ eˣ over the given axes, without overflow, in one pass over x. The axes
// disappear from the shape unless [tensor.Keepdims] is among them; all are meant if none is given.
// Of no elements it is −Inf, of integers a float. It panics with tensor.ErrAxis for an axis that x
// has not, or that is named twice.
//
// Gradient: e^(x − y)·g for the result y; where x and y are one infinity, g, whose gradient by x is
// 0.
func (x *Node) LogSumExp(axes ...int) *Node {
	x = castFloat32(x)
	y := lowered(x.logSumExp(axes...), x)
	if trace.On() {
		trace.Record("LogSumExp", []any{x, axes}, y)
	}
	return y
}

// Var returns the variance over the given axes, which disappear from the shape unless
// [tensor.Keepdims] is among them; over all if none is given. It is Σ (x − mean)²/(n − correction)
// of n elements, 0 in place of a divisor below that: correction 1 is Bessel's, and PyTorch's
// default, 0 NumPy's. The deviations are from the mean, or from running means where one pass
// computes both, so that nothing cancels. Squares that overflow make it infinite, or NaN; those
// that underflow count as 0. Of no elements it is NaN, and of one with correction 1; of integers it
// is a float. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice, and
// with tensor.ErrValue if correction is negative. Error: a variance v about a mean m is off by at
// most (256 + log₂ n)·u·(v + √v·|m|), with the u of [Node.Sum].
//
// Gradient: 2(x − mean)·g/(n − correction).
//
// Source: Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
// Technometrics 4, 1962.
func (x *Node) Var(correction int, axes ...int) *Node {
	y := lowered(x.variance(correction, axes...), x)
	if trace.On() {
		trace.Record("Var", []any{x, correction, axes}, y)
	}
	return y
}

// Std returns the standard deviation over the given axes, the root of what [Node.Var] returns. It
// panics as that does.
//
// Gradient: (x − mean)·g/((n − correction)·y) for the result y, 0 where that is 0.
func (x *Node) Std(correction int, axes ...int) *Node {
	y := lowered(x.std(correction, axes...), x)
	if trace.On() {
		trace.Record("Std", []any{x, correction, axes}, y)
	}
	return y
}

// MaxWithIndex returns the maximum over the given axes and, as [Node.ArgMax] does, its index. It
// panics as that does.
//
// Gradient: g to the element that the index names, of equal ones the first; see [Node.Max] for one
// that goes to all of them.
func (x *Node) MaxWithIndex(axes ...int) (values *Node, indices *tensor.Tensor) {
	y, at := x.maxWithIndex(axes...)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("MaxWithIndex", []any{x, axes}, y, at)
	}
	return y, at
}

// MinWithIndex returns the minimum over the given axes and, as [Node.ArgMin] does, its index. It
// panics as that does.
//
// Gradient: g to the element that the index names, of equal ones the first; see [Node.Min] for one
// that goes to all of them.
func (x *Node) MinWithIndex(axes ...int) (values *Node, indices *tensor.Tensor) {
	y, at := x.minWithIndex(axes...)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("MinWithIndex", []any{x, axes}, y, at)
	}
	return y, at
}

// ArgMax returns, as Int64, the index of the maximum over the given axes, of equal ones the first;
// a NaN is a maximum. Over several axes, and over all if none is given, it counts their elements in
// row-major order. The axes disappear from the shape unless [tensor.Keepdims] is among them. It
// panics with tensor.ErrAxis for an axis that x has not, or that is named twice, and with
// tensor.ErrShape if there is nothing to take the maximum of.
//
// Gradient: none.
func (x *Node) ArgMax(axes ...int) *tensor.Tensor {
	y := x.use("ArgMax").ArgMax(axes...)
	if trace.On() {
		trace.Record("ArgMax", []any{x, axes}, y)
	}
	return y
}

// ArgMin returns, as Int64, the index of the minimum over the given axes, of equal ones the first;
// a NaN is a minimum. Over several axes, and over all if none is given, it counts their elements in
// row-major order. The axes disappear from the shape unless [tensor.Keepdims] is among them. It
// panics with tensor.ErrAxis for an axis that x has not, or that is named twice, and with
// tensor.ErrShape if there is nothing to take the minimum of.
//
// Gradient: none.
func (x *Node) ArgMin(axes ...int) *tensor.Tensor {
	y := x.use("ArgMin").ArgMin(axes...)
	if trace.On() {
		trace.Record("ArgMin", []any{x, axes}, y)
	}
	return y
}

// Prod returns the product over the given axes, which disappear from the shape unless
// [tensor.Keepdims] is among them; over all if none is given. Of no elements it is 1. The order of
// the factors is fixed: the same input gives the same bits. Of integers it is Int64, and wraps
// around. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice.
//
// Gradient: g times the product of the other elements, without a division, so that it is right
// where elements are 0. It is finite for an infinity and for NaN beside finite elements.
func (x *Node) Prod(axes ...int) *Node {
	x = castFloat32(x)
	y := lowered(x.prod(axes...), x)
	if trace.On() {
		trace.Record("Prod", []any{x, axes}, y)
	}
	return y
}

// CumSum returns the sums of the elements up to each along an axis. The order of the additions is
// fixed: the same input gives the same bits. Of integers it is Int64, and wraps around. A scalar
// has axis 0. It panics with tensor.ErrAxis. Error: each is off by at most what [Node.Sum] says of
// the sum of the elements up to it.
//
// Gradient: the sums of g from each on.
func (x *Node) CumSum(axis int) *Node {
	x = castFloat32(x)
	y := lowered(x.cumSum(axis, 0), x)
	if trace.On() {
		trace.Record("CumSum", []any{x, axis}, y)
	}
	return y
}

// CumProd returns the products of the elements up to each along an axis, in a fixed order. Of
// integers it is Int64, and wraps around. A scalar has axis 0. It panics with tensor.ErrAxis.
//
// Gradient: that of every product, without a division, so that it is right where elements are 0.
// That of an element does not read it: beside finite elements, that of an infinity and of NaN is
// finite. It is a recurrence: over n elements, it is off by at most 2(n + 3)·u times that of the
// magnitudes.
func (x *Node) CumProd(axis int) *Node {
	x = castFloat32(x)
	y := lowered(x.cumProd(axis, 0), x)
	if trace.On() {
		trace.Record("CumProd", []any{x, axis}, y)
	}
	return y
}

// LogCumSumExp returns log Σ eˣ of the elements up to each along an axis, without overflow, in a
// fixed order. Of integers it is a float. A scalar has axis 0. It panics with tensor.ErrAxis.
//
// Gradient: Σ e^(x − y)·g over the results y from each on, without overflow; between equal
// infinities the power is 1, a constant.
func (x *Node) LogCumSumExp(axis int) *Node {
	y := lowered(x.logCumSumExp(axis), x)
	if trace.On() {
		trace.Record("LogCumSumExp", []any{x, axis}, y)
	}
	return y
}

// CumMax returns the maximum of the elements up to each along an axis and, as Int64, its index: of
// equal ones the last. A NaN is a maximum. A scalar has axis 0. It panics with tensor.ErrAxis.
//
// Gradient: g to the elements that the index names.
func (x *Node) CumMax(axis int) (values *Node, indices *tensor.Tensor) {
	y, at := x.cumMax(axis)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("CumMax", []any{x, axis}, y, at)
	}
	return y, at
}

// CumMin returns the minimum of the elements up to each along an axis and, as Int64, its index: of
// equal ones the last. A NaN is a minimum. A scalar has axis 0. It panics with tensor.ErrAxis.
//
// Gradient: g to the elements that the index names.
func (x *Node) CumMin(axis int) (values *Node, indices *tensor.Tensor) {
	y, at := x.cumMin(axis)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("CumMin", []any{x, axis}, y, at)
	}
	return y, at
}

// Sort returns x's elements in ascending order along an axis, NaN last, and, as Int64, their
// indices. Equal elements keep their order. A scalar has axis 0. It panics with tensor.ErrAxis.
//
// Gradient: g, each to the element that came there.
func (x *Node) Sort(axis int, o ...tensor.SortOptions) (values *Node, indices *tensor.Tensor) {
	y, at := x.sort(axis, o...)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("Sort", []any{x, axis, o}, y, at)
	}
	return y, at
}

// ArgSort returns, as Int64, the indices that put x in ascending order along an axis, NaN last.
// Equal elements keep their order. A scalar has axis 0. It panics with tensor.ErrAxis.
//
// Gradient: none.
func (x *Node) ArgSort(axis int, o ...tensor.SortOptions) *tensor.Tensor {
	y := x.use("ArgSort").ArgSort(axis, o...)
	if trace.On() {
		trace.Record("ArgSort", []any{x, axis, o}, y)
	}
	return y
}

// TopK returns the k greatest elements along an axis, from the greatest on, and, as Int64, their
// indices. A NaN is greater than all others; of equal elements those that come first are taken, in
// their order. A scalar has axis 0. It panics with tensor.ErrAxis, and with tensor.ErrValue unless
// the axis has k elements.
//
// Gradient: g, each to the element that it is of.
func (x *Node) TopK(k, axis int, o ...tensor.TopKOptions) (values *Node, indices *tensor.Tensor) {
	y, at := x.topK(k, axis, o...)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("TopK", []any{x, k, axis, o}, y, at)
	}
	return y, at
}

// KeepTopK returns x with the k greatest elements along an axis where they are, and 0 in place of
// all others: global inhibition, by which the k strongest units of a layer silence the rest. A NaN
// is greater than all others; of equal elements those that come first stay. Of integers it is of
// floats. A scalar has axis 0. It panics with tensor.ErrAxis, and with tensor.ErrValue unless the
// axis has k elements.
//
// Gradient: g where elements stayed, else 0.
//
// Source: Makhzani, Frey, "k-Sparse Autoencoders", ICLR 2014.
func (x *Node) KeepTopK(k, axis int) *Node {
	y := lowered(x.keepTopK(k, axis), x)
	if trace.On() {
		trace.Record("KeepTopK", []any{x, k, axis}, y)
	}
	return y
}

// Median returns the lower median over the given axes, element (n − 1)/2 of the n in ascending
// order, and, as Int64, its index: that which a stable sort puts there. If there is a NaN, that is
// the median, the first of them. Over several axes, and over all if none is given, the index counts
// their elements in row-major order. The axes disappear from the shape unless [tensor.Keepdims] is
// among them. It panics with tensor.ErrAxis for an axis that x has not, or that is named twice, and
// with tensor.ErrShape if there is nothing to take the median of.
//
// Gradient: g to the element that the index names.
func (x *Node) Median(axes ...int) (values *Node, indices *tensor.Tensor) {
	y, at := x.median(axes...)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("Median", []any{x, axes}, y, at)
	}
	return y, at
}

// CountNonzero returns, as Int64, how many elements are not 0 over the given axes, which disappear
// from the shape unless [tensor.Keepdims] is among them; over all if none is given. A NaN is not 0.
// It panics with tensor.ErrAxis for an axis that x has not, or that is named twice.
//
// Gradient: none.
func (x *Node) CountNonzero(axes ...int) *tensor.Tensor {
	y := x.use("CountNonzero").CountNonzero(axes...)
	if trace.On() {
		trace.Record("CountNonzero", []any{x, axes}, y)
	}
	return y
}

// Any returns, as Bool, whether an element over the given axes is not 0. The axes disappear from
// the shape unless [tensor.Keepdims] is among them; all are meant if none is given. Of no elements
// it is 0. A NaN is not 0. It panics with tensor.ErrAxis for an axis that x has not, or that is
// named twice.
//
// Gradient: none.
func (x *Node) Any(axes ...int) *tensor.Tensor {
	y := x.use("Any").Any(axes...)
	if trace.On() {
		trace.Record("Any", []any{x, axes}, y)
	}
	return y
}

// All returns, as Bool, whether no element over the given axes is 0. The axes disappear from the
// shape unless [tensor.Keepdims] is among them; all are meant if none is given. Of no elements it
// is 1. A NaN is not 0. It panics with tensor.ErrAxis for an axis that x has not, or that is named
// twice.
//
// Gradient: none.
func (x *Node) All(axes ...int) *tensor.Tensor {
	y := x.use("All").All(axes...)
	if trace.On() {
		trace.Record("All", []any{x, axes}, y)
	}
	return y
}

// Kthvalue returns the k-th element along an axis in ascending order, from 1 on, and, as Int64, its
// index: that which a stable sort puts there. NaN is above all others. The axis disappears; a
// scalar has axis 0. It panics with tensor.ErrAxis, and with tensor.ErrValue unless the axis has k
// elements.
//
// Gradient: g to the element that the index names.
func (x *Node) Kthvalue(k, axis int) (values *Node, indices *tensor.Tensor) {
	y, at := x.kthvalue(k, axis)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("Kthvalue", []any{x, k, axis}, y, at)
	}
	return y, at
}

// Mode returns the element that is there most often along an axis, the least of several, and, as
// Int64, the index of the last of them. A NaN equals nothing. The axis disappears; a scalar has
// axis 0. It panics with tensor.ErrAxis, and with tensor.ErrShape for an axis without elements.
//
// Gradient: g to the element that the index names.
func (x *Node) Mode(axis int) (values *Node, indices *tensor.Tensor) {
	y, at := x.mode(axis)
	y = lowered(y, x)
	if trace.On() {
		trace.Record("Mode", []any{x, axis}, y, at)
	}
	return y, at
}

// Quantile returns the element at the share q of the way from the least to the greatest along an
// axis, which disappears; a scalar has axis 0. Between two elements it is what the options say, by
// their distances without. A line with a NaN is NaN. Integers are converted to floats. It panics
// with tensor.ErrAxis, with tensor.ErrShape for an axis without elements, and with tensor.ErrValue
// unless q is in [0, 1].
//
// Gradient: g to the elements that it is made of, by their shares.
func (x *Node) Quantile(q float64, axis int, options ...tensor.QuantileOptions) *Node {
	y := lowered(x.quantile(q, axis, options...), x)
	if trace.On() {
		trace.Record("Quantile", []any{x, q, axis, options}, y)
	}
	return y
}

// Unique returns the different elements in ascending order, with the place among them of each
// element of x, in its shape, and how often each is there, both as Int64. A NaN equals nothing. The
// device is waited for.
//
// Gradient: none.
func (x *Node) Unique() (values, inverse, counts *tensor.Tensor) {
	y, at, counts := x.use("Unique").Unique()
	if trace.On() {
		trace.Record("Unique", []any{x}, y, at, counts)
	}
	return y, at, counts
}

// Bincount returns, as Int64, how often each number from 0 on is in x, a list of integers: as many
// counts as the greatest number asks for, and least at least. With weights, a list of as many, it
// is the sums of those, in their type. The device is waited for. It panics with tensor.ErrType for
// another x, with tensor.ErrShape for other weights, with tensor.ErrValue for a least below 0, and
// with tensor.ErrIndex for a number below 0.
//
// Gradient: none.
func (x *Node) Bincount(weights *tensor.Tensor, least int) *tensor.Tensor {
	y := x.use("Bincount").Bincount(weights, least)
	if trace.On() {
		trace.Record("Bincount", []any{x, weights, least}, y)
	}
	return y
}

// Histc returns how many elements of x are in each of so many bins of one width from low to high,
// whose ends count, as floats. What is outside, and NaN, does not count. If low is high, the ends
// are the least and the greatest element, for which the device is waited for. It panics with
// tensor.ErrValue for no bins or more than 2²³, and for ends that are not finite or not in order.
//
// Gradient: none.
func (x *Node) Histc(bins int, low, high float64) *tensor.Tensor {
	y := x.use("Histc").Histc(bins, low, high)
	if trace.On() {
		trace.Record("Histc", []any{x, bins, low, high}, y)
	}
	return y
}
