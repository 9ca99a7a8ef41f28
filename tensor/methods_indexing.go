// Code generated from internal/operations/table/indexing.go by "make generate". DO NOT EDIT.

package tensor

import "github.com/clgrad/clgrad/internal/ops"

// Gather returns the elements of x that a tensor of Int64 or Int32 of x's rank names along an axis:
// y[i, j, k] = x[i, index[i, j, k], k] for axis 1, of index's shape. NumPy's take_along_axis. Along
// other axes index has at most x's dimensions. Indices are not negative. It panics with ErrAxis,
// with ErrType for indices of another type, with ErrShape for another rank or a dimension that is
// larger, and with ErrIndex for an index past the end, as [Tensor.GatherRows] does.
func (x *Tensor) Gather(axis int, index *Tensor) *Tensor {
	return lowered(x.gather(axis, index), x)
}

// Scatter returns x with elements of src in the places that a tensor of Int64 or Int32 of x's rank
// names along an axis, in a tensor of its own: y[i, index[i, j, k], k] = src[i, j, k] for axis 1.
// Of several for one place, the last along the axis counts. Along other axes index has at most x's
// dimensions, and along all at most src's. Indices are not negative. It panics with ErrAxis, with
// ErrType for indices of another type or a src of a higher one, with ErrShape for another rank or a
// dimension that is larger, and with ErrIndex for an index past the end, as [Tensor.GatherRows]
// does.
func (x *Tensor) Scatter(axis int, index *Tensor, src *Tensor) *Tensor {
	return lowered(x.scattered("Scatter", ops.ScatterSet, axis, index, src), x, src)
}

// ScatterAdd returns x with elements of src added in the places that a tensor of Int64 or Int32 of
// x's rank names along an axis: see [Tensor.Scatter], as which it panics. The order of the
// additions is fixed.
func (x *Tensor) ScatterAdd(axis int, index *Tensor, src *Tensor) *Tensor {
	return lowered(x.scattered("ScatterAdd", ops.ScatterAdd, axis, index, src), x, src)
}

// ScatterReduce returns x with one element made of what comes to a place along an axis and of what
// is there, in an order that is fixed: see [Tensor.Scatter], as which it panics. Means are of
// floats. It panics with ErrValue for another reduction, and more than one ScatterOptions, and with
// ErrType for a mean of integers.
func (x *Tensor) ScatterReduce(axis int, index *Tensor, src *Tensor, reduce ScatterReduction, opts ...ScatterOptions) *Tensor {
	return lowered(x.scatterReduce(axis, index, src, reduce, opts...), x, src)
}

// IndexSelect returns what an index tensor [m] of Int64 or Int32 names along an axis, whose
// dimension becomes m: of NumPy, take. Indices are not negative. It panics with ErrAxis, with
// ErrType for indices of another type, with ErrShape unless they have one axis, and with ErrIndex
// for an index past the end, as [Tensor.GatherRows] does.
func (x *Tensor) IndexSelect(axis int, index *Tensor) *Tensor {
	return lowered(x.indexSelect(axis, index), x)
}

// IndexAdd returns x with the parts of src along an axis added to those that an index tensor [m] of
// Int64 or Int32 names, in a tensor of its own: y[…, index[j], …] = x + the sum over j of src[…, j,
// …]. The order of the additions is fixed. src has x's shape but for the axis, which has m. It
// panics with ErrAxis, ErrType, ErrShape and ErrIndex as [Tensor.IndexSelect] does, with ErrShape
// for another shape of src, and with ErrType if src is of a higher type.
func (x *Tensor) IndexAdd(axis int, index *Tensor, src *Tensor) *Tensor {
	return lowered(x.indexAdd(axis, index, src), x, src)
}

// IndexCopy returns x with the parts of src along an axis in the place of those that an index
// tensor [m] of Int64 or Int32 names, in a tensor of its own. Of several for one index, the last
// counts. It panics as [Tensor.IndexAdd] does.
func (x *Tensor) IndexCopy(axis int, index *Tensor, src *Tensor) *Tensor {
	return lowered(x.indexCopy(axis, index, src), x, src)
}

// IndexFill returns x with a value in the places that an index tensor [m] of Int64 or Int32 names
// along an axis, in a tensor of its own. It panics as [Tensor.IndexSelect] does, and with ErrType
// if the value is no number of x's type.
func (x *Tensor) IndexFill(axis int, index *Tensor, value float64) *Tensor {
	return lowered(x.indexFill(axis, index, value), x)
}

// Index returns the elements of x at indices along several axes: NumPy's x[i, j]. Each of the
// tensors of Int64 or Int32 is the indices along one axis, from the first on; nil is a whole axis.
// They broadcast to one shape, which takes the place of their axes; it comes first if whole axes
// lie between them. Indices below 0 count from the end. The result is a tensor of its own. It
// panics with ErrValue if there is no index, with ErrShape for more of them than axes, if they do
// not broadcast, or if the result has too many axes, with ErrType for another type, and with
// ErrIndex for an index past either end, as [Tensor.GatherRows] does.
//
// A mask, of Bool, has the shape of as many axes from its place on, and stands for the indices of
// its elements that are true, in row-major order, along each of these: NumPy's x[mask]. The device
// is waited for.
func (x *Tensor) Index(indices ...*Tensor) *Tensor { return lowered(x.index(indices...), x) }

// IndexPut returns x with values at the elements that [Tensor.Index] returns, or, if the options
// say so, with values added to them, in a tensor of its own: NumPy's x[i, j] = values. Values
// broadcast to the shape of those. Of several for one element, the last in their order counts. Of
// It panics as [Tensor.Index] does, with ErrShape if values do not broadcast, with ErrType if they
// are of a higher type, and with ErrValue for more than one IndexPutOptions.
func (x *Tensor) IndexPut(indices []*Tensor, values *Tensor, opts ...IndexPutOptions) *Tensor {
	return lowered(x.indexPut(indices, values, opts...), x, values)
}

// Embedding returns the rows of a matrix x [r, c] that an index tensor of integers, bytes too,
// names, of any shape: its shape, and an axis of c behind. The options matter to the gradient
// alone. It panics with ErrShape for another rank, with ErrType for indices of another type, with
// ErrIndex for an index or a padding that is not in [0, r), and with ErrValue for more than one
// EmbeddingOptions. Indices that are not known to the host are waited for, as by
// [Tensor.GatherRows].
func (x *Tensor) Embedding(index *Tensor, opts ...EmbeddingOptions) *Tensor {
	return lowered(x.embedding(index, opts...), x)
}

// Tril returns x with 0 above a diagonal of the matrices of its last two axes, in a tensor of its
// own: where the column is greater than the row plus diagonal. Of ones, it is the mask of what
// comes before. It panics with ErrShape for fewer than two axes.
func (x *Tensor) Tril(diagonal int) *Tensor {
	return lowered(x.triangle("Tril", false, diagonal), x)
}

// Triu returns x with 0 below a diagonal of the matrices of its last two axes, in a tensor of its
// own: where the column is less than the row plus diagonal. It panics with ErrShape for fewer than
// two axes.
func (x *Tensor) Triu(diagonal int) *Tensor {
	return lowered(x.triangle("Triu", true, diagonal), x)
}

// NonZero returns the indices of the elements that are not 0, in row-major order: [count, axes], as
// Int64. The device is waited for. To have a list for each axis, take [Tensor.Unbind] of it.
func (x *Tensor) NonZero() *Tensor { return x.nonZero() }

// SearchSorted returns, as Int64, where each of values would be inserted in x, which is sorted
// along its last axis: before what is equal, or behind it if right. An x of one axis takes values
// of any shape; of more axes, those of the same leading ones. Both are sorted together: x that is
// not sorted gives what it would if it were. NaN is above all others. It panics with ErrShape.
func (x *Tensor) SearchSorted(values *Tensor, right bool) *Tensor {
	return x.searchSorted(values, right)
}

// Multinomial returns the indices of n elements along the last axis of x, drawn by rng with
// probabilities that are proportional to the elements, with replacement or without: [..., n], as
// Int64. The same seed and call draw the same on every device, but for rounding. Elements are 0 or
// more, which is not checked; what is 0 is drawn only without replacement, after all others, and
// where all are 0 with replacement, the first one (PyTorch raises an error). It panics with
// ErrShape for an axis without elements, and with ErrValue for more than there are without
// replacement, for more than 2²⁴, and for an rng that is nil.
func (x *Tensor) Multinomial(n int, replace bool, rng *RNG) *Tensor {
	return x.multinomial(n, replace, rng)
}

// Bernoulli returns 1 with the probability of each element of x, by the next numbers of rng, and
// else 0, as floats. It panics with ErrValue for an rng that is nil.
func (x *Tensor) Bernoulli(rng *RNG) *Tensor { return x.bernoulli(rng) }

// Meshgrid returns a view of each tensor, of one axis, repeated along those of the others: result i
// has the elements of tensor i along axis i, and the shape of all. A scalar counts as one element.
// The indexing is that of matrices, PyTorch's "ij"; ys, xs := Meshgrid(y, x) is that of "xy". It
// panics with ErrValue if there are no tensors, and with ErrShape for another rank, or too many of
// them.
func Meshgrid(xs ...*Tensor) []*Tensor { return meshgrid(xs...) }
