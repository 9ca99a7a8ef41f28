//go:build ignore

package table

// Sum returns the sum over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. A scalar has axis 0. Of no elements it is 0. The order of
// the additions is fixed: the same input gives the same bits. Of integers it is Int64, and wraps
// around. It panics with ErrAxis for an axis that x has not, or that is named twice.
//
// Error: sums are pairwise. That of n elements is off by at most (256 + log₂ n)·u·Σ|x|, u being
// 2⁻²⁴ in float32 and 2⁻⁵³ in float64, for each run of neighbouring axes that it is over. The same
// holds for all that sums over axes: means, norms, gradients of what is broadcast.
//
// Gradient: g, repeated along the axes.
//
//op:torch torch.sum
//op:tensor x.sum("Sum", 1, axes)
//op:autocast float32
func (x T) Sum(axes ...int) T

// Mean returns the mean over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. Of no elements it is NaN, of integers a float. It panics
// with ErrAxis for an axis that x has not, or that is named twice. Error: that of [Tensor.Sum],
// divided by n.
//
// Gradient: g/n, repeated along the axes, n being the number of elements that a mean is of.
//
//op:torch torch.mean
func (x T) Mean(axes ...int) T

// Max returns the maximum over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. A NaN is a maximum. Of integers it is of their type. It
// panics with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if
// there is nothing to take the maximum of.
//
// Gradient: g to the elements that attain the maximum, in equal parts; if it is NaN, to the NaNs.
//
//op:torch torch.amax
//op:tensor x.extreme("Max", defs.FoldMax, axes)
func (x T) Max(axes ...int) T

// Min returns the minimum over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. A NaN is a minimum. Of integers it is of their type. It
// panics with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if
// there is nothing to take the minimum of.
//
// Gradient: g to the elements that attain the minimum, in equal parts; if it is NaN, to the NaNs.
//
//op:torch torch.amin
//op:tensor x.extreme("Min", defs.FoldMin, axes)
func (x T) Min(axes ...int) T

// SumTo returns the sum of x over the axes along which shape broadcasts to x's: the gradient of
// [Tensor.Expand]. The result has that shape. It panics with ErrShape if shape does not broadcast
// to x's. Error: that of [Tensor.Sum].
//
// Gradient: g, repeated along those axes.
//
//op:torch torch.Tensor.sum_to_size
func (x T) SumTo(shape ...int) T

// Norm returns the p-norm over the given axes, (Σ |x|ᵖ)^(1/p), which disappear from the shape
// unless [Keepdims] is among them; over all if none is given. For p = +Inf it is the largest |x|,
// for −Inf the least, for 0 the number of elements that are not 0. As in PyTorch, the sum is of
// powers as they are: one that overflows makes it infinite, one that underflows counts as 0. Of no
// elements it is 0. Of integers it is of floats. It panics with ErrAxis for an axis that x has not,
// or that is named twice, with ErrValue if p is NaN, and with ErrShape if p is infinite and there
// are no elements.
//
// Gradient: sign(x)·(|x|/y)^(p − 1)·g for the result y, 0 where x is 0, whatever p is, and where y
// is: powers that underflow make it so. Of p = ±Inf it is sign(x)·g for the elements whose |x| is
// y, in equal parts; of p = 0 it is 0.
//
//op:torch torch.linalg.vector_norm
//op:calls pNorm
//op:autocast float32
func (x T) Norm(p float64, axes ...int) T

// LogSumExp returns log Σ eˣ over the given axes, without overflow, in one pass over x. The axes
// disappear from the shape unless [Keepdims] is among them; all are meant if none is given. Of no
// elements it is −Inf, of integers a float. It panics with ErrAxis for an axis that x has not, or
// that is named twice.
//
// Gradient: e^(x − y)·g for the result y; where x and y are one infinity, g, whose gradient by x is
// 0.
//
//op:torch torch.logsumexp
//op:autocast float32
func (x T) LogSumExp(axes ...int) T

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
// Gradient: 2(x − mean)·g/(n − correction).
//
// Source: Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
// Technometrics 4, 1962.
//
//op:torch torch.var
//op:calls variance
func (x T) Var(correction int, axes ...int) T

// Std returns the standard deviation over the given axes, the root of what [Tensor.Var] returns. It
// panics as that does.
//
// Gradient: (x − mean)·g/((n − correction)·y) for the result y, 0 where that is 0.
//
//op:torch torch.std
func (x T) Std(correction int, axes ...int) T

// MaxWithIndex returns the maximum over the given axes and, as [Tensor.ArgMax] does, its index. It
// panics as that does.
//
// Gradient: g to the element that the index names, of equal ones the first; see [Tensor.Max] for
// one that goes to all of them.
//
//op:torch torch.max
//op:tensor x.extremes("MaxWithIndex", false, axes)
func (x T) MaxWithIndex(axes ...int) (values T, indices *tensor.Tensor)

// MinWithIndex returns the minimum over the given axes and, as [Tensor.ArgMin] does, its index. It
// panics as that does.
//
// Gradient: g to the element that the index names, of equal ones the first; see [Tensor.Min] for
// one that goes to all of them.
//
//op:torch torch.min
//op:tensor x.extremes("MinWithIndex", true, axes)
func (x T) MinWithIndex(axes ...int) (values T, indices *tensor.Tensor)

// ArgMax returns, as Int64, the index of the maximum over the given axes, of equal ones the first;
// a NaN is a maximum. Over several axes, and over all if none is given, it counts their elements in
// row-major order. The axes disappear from the shape unless [Keepdims] is among them. It panics
// with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if there is
// nothing to take the maximum of.
//
// Gradient: none.
//
//op:torch torch.argmax
//op:tensor x.extremeAt("ArgMax", false, axes)
//op:value
func (x T) ArgMax(axes ...int) *tensor.Tensor

// ArgMin returns, as Int64, the index of the minimum over the given axes, of equal ones the first;
// a NaN is a minimum. Over several axes, and over all if none is given, it counts their elements in
// row-major order. The axes disappear from the shape unless [Keepdims] is among them. It panics
// with ErrAxis for an axis that x has not, or that is named twice, and with ErrShape if there is
// nothing to take the minimum of.
//
// Gradient: none.
//
//op:torch torch.argmin
//op:tensor x.extremeAt("ArgMin", true, axes)
//op:value
func (x T) ArgMin(axes ...int) *tensor.Tensor

// Prod returns the product over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. Of no elements it is 1. The order of the factors is fixed:
// the same input gives the same bits. Of integers it is Int64, and wraps around. It panics with
// ErrAxis for an axis that x has not, or that is named twice.
//
// Gradient: g times the product of the other elements, without a division, so that it is right
// where elements are 0. It is finite for an infinity and for NaN beside finite elements.
//
//op:torch torch.prod
//op:autocast float32
func (x T) Prod(axes ...int) T

// CumSum returns the sums of the elements up to each along an axis. The order of the additions is
// fixed: the same input gives the same bits. Of integers it is Int64, and wraps around. A scalar
// has axis 0. It panics with ErrAxis. Error: each is off by at most what [Tensor.Sum] says of the
// sum of the elements up to it.
//
// Gradient: the sums of g from each on.
//
//op:torch torch.cumsum
//op:tensor api{}.Scan("CumSum", ops.ScanSum, x, axis, 0)
//op:autograd x.cumSum(axis, 0)
//op:autocast float32
func (x T) CumSum(axis int) T

// CumProd returns the products of the elements up to each along an axis, in a fixed order. Of
// integers it is Int64, and wraps around. A scalar has axis 0. It panics with ErrAxis.
//
// Gradient: that of every product, without a division, so that it is right where elements are 0.
// That of an element does not read it: beside finite elements, that of an infinity and of NaN is
// finite. It is a recurrence: over n elements, it is off by at most 2(n + 3)·u times that of the
// magnitudes.
//
//op:torch torch.cumprod
//op:tensor api{}.Scan("CumProd", ops.ScanProd, x, axis, 0)
//op:autograd x.cumProd(axis, 0)
//op:autocast float32
func (x T) CumProd(axis int) T

// LogCumSumExp returns log Σ eˣ of the elements up to each along an axis, without overflow, in a
// fixed order. Of integers it is a float. A scalar has axis 0. It panics with ErrAxis.
//
// Gradient: Σ e^(x − y)·g over the results y from each on, without overflow; between equal
// infinities the power is 1, a constant.
//
//op:torch torch.logcumsumexp
//op:tensor api{}.Scan("LogCumSumExp", ops.ScanLSE, x, axis, 0)
func (x T) LogCumSumExp(axis int) T

// CumMax returns the maximum of the elements up to each along an axis and, as Int64, its index: of
// equal ones the last. A NaN is a maximum. A scalar has axis 0. It panics with ErrAxis.
//
// Gradient: g to the elements that the index names.
//
//op:torch torch.cummax
//op:tensor x.scanExtreme("CumMax", ops.ScanMax, axis)
func (x T) CumMax(axis int) (values T, indices *tensor.Tensor)

// CumMin returns the minimum of the elements up to each along an axis and, as Int64, its index: of
// equal ones the last. A NaN is a minimum. A scalar has axis 0. It panics with ErrAxis.
//
// Gradient: g to the elements that the index names.
//
//op:torch torch.cummin
//op:tensor x.scanExtreme("CumMin", ops.ScanMin, axis)
func (x T) CumMin(axis int) (values T, indices *tensor.Tensor)

// Sort returns x's elements in ascending order along an axis, NaN last, and, as Int64, their
// indices. Equal elements keep their order. A scalar has axis 0. It panics with ErrAxis.
//
// Gradient: g, each to the element that came there.
//
//op:torch torch.sort
//op:tensor x.sort("Sort", axis, o)
func (x T) Sort(axis int, o ...tensor.SortOptions) (values T, indices *tensor.Tensor)

// ArgSort returns, as Int64, the indices that put x in ascending order along an axis, NaN last.
// Equal elements keep their order. A scalar has axis 0. It panics with ErrAxis.
//
// Gradient: none.
//
//op:torch torch.argsort
//op:value
func (x T) ArgSort(axis int, o ...tensor.SortOptions) *tensor.Tensor

// TopK returns the k greatest elements along an axis, from the greatest on, and, as Int64, their
// indices. A NaN is greater than all others; of equal elements those that come first are taken, in
// their order. A scalar has axis 0. It panics with ErrAxis, and with ErrValue unless the axis has k
// elements.
//
// Gradient: g, each to the element that it is of.
//
//op:torch torch.topk
//op:tensor x.topK("TopK", k, axis, single("TopK", o))
func (x T) TopK(k, axis int, o ...tensor.TopKOptions) (values T, indices *tensor.Tensor)

// KeepTopK returns x with the k greatest elements along an axis where they are, and 0 in place of
// all others: global inhibition, by which the k strongest units of a layer silence the rest. A NaN
// is greater than all others; of equal elements those that come first stay. Of integers it is of
// floats. A scalar has axis 0. It panics with ErrAxis, and with ErrValue unless the axis has k
// elements.
//
// Gradient: g where elements stayed, else 0.
//
// Source: Makhzani, Frey, "k-Sparse Autoencoders", ICLR 2014.
func (x T) KeepTopK(k, axis int) T

// Median returns the lower median over the given axes, element (n − 1)/2 of the n in ascending
// order, and, as Int64, its index: that which a stable sort puts there. If there is a NaN, that is
// the median, the first of them. Over several axes, and over all if none is given, the index counts
// their elements in row-major order. The axes disappear from the shape unless [Keepdims] is among
// them. It panics with ErrAxis for an axis that x has not, or that is named twice, and with
// ErrShape if there is nothing to take the median of.
//
// Gradient: g to the element that the index names.
//
//op:torch torch.median
func (x T) Median(axes ...int) (values T, indices *tensor.Tensor)

// CountNonzero returns, as Int64, how many elements are not 0 over the given axes, which disappear
// from the shape unless [Keepdims] is among them; over all if none is given. A NaN is not 0. It
// panics with ErrAxis for an axis that x has not, or that is named twice.
//
// Gradient: none.
//
//op:torch torch.count_nonzero
//op:value
func (x T) CountNonzero(axes ...int) *tensor.Tensor

// Any returns, as Bool, whether an element over the given axes is not 0. The axes
// disappear from the shape unless [Keepdims] is among them; all are meant if none is given. Of no
// elements it is 0. A NaN is not 0. It panics with ErrAxis for an axis that x has not, or that is
// named twice.
//
// Gradient: none.
//
//op:torch torch.any
//op:value
func (x T) Any(axes ...int) *tensor.Tensor

// All returns, as Bool, whether no element over the given axes is 0. The axes disappear
// from the shape unless [Keepdims] is among them; all are meant if none is given. Of no elements it
// is 1. A NaN is not 0. It panics with ErrAxis for an axis that x has not, or that is named twice.
//
// Gradient: none.
//
//op:torch torch.all
//op:value
func (x T) All(axes ...int) *tensor.Tensor

// Kthvalue returns the k-th element along an axis in ascending order, from 1 on, and, as Int64, its index:
// that which a stable sort puts there. NaN is above all others. The axis disappears; a scalar has axis 0.
// It panics with ErrAxis, and with ErrValue unless the axis has k elements.
//
// Gradient: g to the element that the index names.
//
//op:torch torch.kthvalue
func (x T) Kthvalue(k, axis int) (values T, indices *tensor.Tensor)

// Mode returns the element that is there most often along an axis, the least of several, and, as Int64,
// the index of the last of them. A NaN equals nothing. The axis disappears; a scalar has axis 0. It
// panics with ErrAxis, and with ErrShape for an axis without elements.
//
// Gradient: g to the element that the index names.
//
//op:torch torch.mode
func (x T) Mode(axis int) (values T, indices *tensor.Tensor)

// Quantile returns the element at the share q of the way from the least to the greatest along an axis,
// which disappears; a scalar has axis 0. Between two elements it is what the options say, by their
// distances without. A line with a NaN is NaN. Integers are converted to floats. It panics with ErrAxis,
// with ErrShape for an axis without elements, and with ErrValue unless q is in [0, 1].
//
// Gradient: g to the elements that it is made of, by their shares.
//
//op:torch torch.quantile
func (x T) Quantile(q float64, axis int, options ...tensor.QuantileOptions) T

// Unique returns the different elements in ascending order, with the place among them of each element of
// x, in its shape, and how often each is there, both as Int64. A NaN equals nothing. The device is waited
// for.
//
// Gradient: none.
//
//op:torch torch.unique(return_inverse=True, return_counts=True)
//op:value
func (x T) Unique() (values, inverse, counts *tensor.Tensor)

// Bincount returns, as Int64, how often each number from 0 on is in x, a list of integers: as many counts
// as the greatest number asks for, and least at least. With weights, a list of as many, it is the sums of
// those, in their type. The device is waited for. It panics with ErrType for another x, with ErrShape for
// other weights, with ErrValue for a least below 0, and with ErrIndex for a number below 0.
//
// Gradient: none.
//
//op:torch torch.bincount
//op:value
func (x T) Bincount(weights *tensor.Tensor, least int) *tensor.Tensor

// Histc returns how many elements of x are in each of so many bins of one width from low to high, whose
// ends count, as floats. What is outside, and NaN, does not count. If low is high, the ends are the least
// and the greatest element, for which the device is waited for. It panics with ErrValue for no bins or
// more than 2²³, and for ends that are not finite or not in order.
//
// Gradient: none.
//
//op:torch torch.histc
//op:value
func (x T) Histc(bins int, low, high float64) *tensor.Tensor
