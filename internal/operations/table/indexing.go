//go:build ignore

package table

// Gather returns the elements of x that a tensor of Int64 or Int32 of x's rank names along an axis: y[i, j,
// k] = x[i, index[i, j, k], k] for axis 1, of index's shape. NumPy's take_along_axis. Along other
// axes index has at most x's dimensions. Indices are not negative. It panics with ErrAxis, with
// ErrType for indices of another type, with ErrShape for another rank or a dimension that is
// larger, and with ErrIndex for an index past the end, as [Tensor.GatherRows] does.
//
// Gradient: g, added to the elements that it came from in the order of the axis. index must outlive
// Backward, unchanged.
//
//op:torch torch.gather
func (x T) Gather(axis int, index *tensor.Tensor) T

// Scatter returns x with elements of src in the places that a tensor of Int64 or Int32 of x's rank names
// along an axis, in a tensor of its own: y[i, index[i, j, k], k] = src[i, j, k] for axis 1. Of
// several for one place, the last along the axis counts. Along other axes index has at most x's
// dimensions, and along all at most src's. Indices are not negative. It
// panics with ErrAxis, with ErrType for indices of another type or a src of a higher one, with
// ErrShape for another rank or a dimension that is larger, and with ErrIndex for an index past the
// end, as [Tensor.GatherRows] does.
//
// Gradients: g, 0 in those places; of src, g in the place of each element, 0 for one that is not
// taken or that a later one took the place of. index must outlive Backward, unchanged.
//
//op:torch torch.scatter
//op:tensor x.scattered("Scatter", ops.ScatterSet, axis, index, src)
func (x T) Scatter(axis int, index *tensor.Tensor, src T) T

// ScatterAdd returns x with elements of src added in the places that a tensor of Int64 or Int32 of x's rank
// names along an axis: see [Tensor.Scatter], as which it panics. The order of the additions is
// fixed.
//
// Gradients: g; of src, g in the place of each element, 0 for one that is not taken. index must
// outlive Backward, unchanged.
//
//op:torch torch.scatter_add
//op:tensor x.scattered("ScatterAdd", ops.ScatterAdd, axis, index, src)
func (x T) ScatterAdd(axis int, index *tensor.Tensor, src T) T

// ScatterReduce returns x with one element made of what comes to a place along an axis and of what
// is there, in an order that is fixed: see [Tensor.Scatter], as which it panics. Means are of
// floats. It panics with ErrValue for another reduction, and more than one ScatterOptions, and with
// ErrType for a mean of integers.
//
// Gradients: of a sum, g; of a mean, g over the number of elements; of a product, g times the
// product of the others; of a minimum or maximum, g in equal parts to the elements that attain it,
// to the NaNs if it is NaN. 0 for an element that does not count or is not taken. Second gradients of
// a product are right for any number of factors 0, third ones for at most one in a place. index must
// outlive Backward, unchanged.
//
//op:torch torch.scatter_reduce
func (x T) ScatterReduce(axis int, index *tensor.Tensor, src T, reduce tensor.ScatterReduction, opts ...tensor.ScatterOptions) T

// IndexSelect returns what an index tensor [m] of Int64 or Int32 names along an axis, whose dimension
// becomes m: of NumPy, take. Indices are not negative. It panics with ErrAxis, with ErrType for
// indices of another type, with ErrShape unless they have one axis, and
// with ErrIndex for an index past the end, as [Tensor.GatherRows] does.
//
// Gradient: the parts of g, added to those that they came from in the order of index. index must
// outlive Backward, unchanged.
//
//op:torch torch.index_select
func (x T) IndexSelect(axis int, index *tensor.Tensor) T

// IndexAdd returns x with the parts of src along an axis added to those that an index tensor [m] of
// Int64 or Int32 names, in a tensor of its own: y[…, index[j], …] = x + the sum over j of src[…, j, …]. The
// order of the additions is fixed. src has x's shape but for the axis, which has m. It panics with
// ErrAxis, ErrType, ErrShape and ErrIndex as [Tensor.IndexSelect] does, with ErrShape for another
// shape of src, and with ErrType if src is of a higher type.
//
// Gradients: g; of src, the parts of g that index names. index must outlive Backward, unchanged.
//
//op:torch torch.index_add
func (x T) IndexAdd(axis int, index *tensor.Tensor, src T) T

// IndexCopy returns x with the parts of src along an axis in the place of those that an index
// tensor [m] of Int64 or Int32 names, in a tensor of its own. Of several for one index, the last counts. It
// panics as [Tensor.IndexAdd] does.
//
// Gradients: g, 0 in those places; of src, the parts of g that index names, 0 for one that a later
// one took the place of. index must outlive Backward, unchanged.
//
//op:torch torch.index_copy
func (x T) IndexCopy(axis int, index *tensor.Tensor, src T) T

// IndexFill returns x with a value in the places that an index tensor [m] of Int64 or Int32 names along an
// axis, in a tensor of its own. It panics as [Tensor.IndexSelect] does, and with ErrType if the
// value is no number of x's type.
//
// Gradient: g, 0 in those places. index must outlive Backward, unchanged.
//
//op:torch torch.index_fill
func (x T) IndexFill(axis int, index *tensor.Tensor, value float64) T

// Index returns the elements of x at indices along several axes: NumPy's x[i, j]. Each of the
// tensors of Int64 or Int32 is the indices along one axis, from the first on; nil is a whole axis. They
// broadcast to one shape, which takes the place of their axes; it comes first if whole axes lie
// between them. Indices below 0 count from the end. The result is a tensor of its own. It panics
// with ErrValue if there is no index, with ErrShape for more of them than axes, if they do not
// broadcast, or if the result has too many axes, with ErrType for another type, and with ErrIndex for
// an index past either end, as [Tensor.GatherRows] does.
//
// A mask, of Bool, has the shape of as many axes from its place on, and stands for the indices of its
// elements that are true, in row-major order, along each of these: NumPy's x[mask]. The device is
// waited for.
//
// Gradient: g, added to the elements that it came from in the order of the indices. The indices
// must outlive Backward, unchanged.
//
//op:torch x[i, j]
func (x T) Index(indices ...*tensor.Tensor) T

// IndexPut returns x with values at the elements that [Tensor.Index] returns, or, if the options
// say so, with values added to them, in a tensor of its own: NumPy's x[i, j] = values. Values
// broadcast to the shape of those. Of several for one element, the last in their order counts. Of
// It panics as [Tensor.Index] does, with ErrShape if values do not
// broadcast, with ErrType if they are of a higher type, and with ErrValue for more than one
// IndexPutOptions.
//
// Gradients: g, 0 at those elements unless they were added to; of values, g at the elements that
// they went to, summed over what they were repeated for, 0 for one that a later one took the place
// of. The indices must outlive Backward, unchanged.
//
//op:torch torch.index_put
func (x T) IndexPut(indices []*tensor.Tensor, values T, opts ...tensor.IndexPutOptions) T

// Embedding returns the rows of a matrix x [r, c] that an index tensor of integers, bytes too,
// names, of any shape: its shape, and an axis of c behind. The options matter to the gradient
// alone. It panics with ErrShape for another rank, with ErrType for indices of another type, with
// ErrIndex for an index or a padding that is not in [0, r), and with ErrValue for more than one
// EmbeddingOptions. Indices that are not known to the host are waited for, as by
// [Tensor.GatherRows].
//
// Gradient: the rows of g, added to those that they came from in the order of index; 0 for the row
// of Padding, if there is one. index must outlive Backward, unchanged.
//
//op:torch torch.nn.functional.embedding
func (x T) Embedding(index *tensor.Tensor, opts ...tensor.EmbeddingOptions) T

// Tril returns x with 0 above a diagonal of the matrices of its last two axes, in a tensor of its
// own: where the column is greater than the row plus diagonal. Of ones, it is the mask of what
// comes before. It panics with ErrShape for fewer than two axes.
//
// Gradient: g, 0 where the result is.
//
//op:torch torch.tril
//op:tensor x.triangle("Tril", false, diagonal)
func (x T) Tril(diagonal int) T

// Triu returns x with 0 below a diagonal of the matrices of its last two axes, in a tensor of its
// own: where the column is less than the row plus diagonal. It panics
// with ErrShape for fewer than two axes.
//
// Gradient: g, 0 where the result is.
//
//op:torch torch.triu
//op:tensor x.triangle("Triu", true, diagonal)
func (x T) Triu(diagonal int) T

//op:listed autograd.EmbeddingBag torch.nn.functional.embedding_bag
//op:listed OneHot torch.nn.functional.one_hot
//op:listed tensor.Arange torch.arange
//op:listed tensor.ArangeOf torch.arange(dtype)
//op:listed tensor.Linspace torch.linspace
//op:listed tensor.LinspaceOf torch.linspace(dtype)
//op:listed tensor.Eye torch.eye

// NonZero returns the indices of the elements that are not 0, in row-major order: [count, axes], as
// Int64. The device is waited for. To have a list for each axis, take [Tensor.Unbind] of it.
//
// Gradient: none.
//
//op:torch torch.nonzero, torch.argwhere
//op:value
func (x T) NonZero() *tensor.Tensor

// SearchSorted returns, as Int64, where each of values would be inserted in x, which is sorted along its
// last axis: before what is equal, or behind it if right. An x of one axis takes values of any shape; of
// more axes, those of the same leading ones. Both are sorted together: x that is not sorted gives what
// it would if it were. NaN is above all others. It panics with ErrShape.
//
// Gradient: none.
//
//op:torch torch.searchsorted, torch.bucketize
//op:value
func (x T) SearchSorted(values *tensor.Tensor, right bool) *tensor.Tensor

// Multinomial returns the indices of n elements along the last axis of x, drawn by rng with probabilities
// that are proportional to the elements, with replacement or without: [..., n], as Int64. The same seed
// and call draw the same on every device, but for rounding. Elements are 0 or more, which is not
// checked; what is 0 is drawn only without replacement, after all others, and where all are 0 with
// replacement, the first one (PyTorch raises an error). It panics with ErrShape for an axis without
// elements, and with ErrValue for more than there are without replacement, for more than 2²⁴, and for an
// rng that is nil.
//
// Gradient: none.
//
//op:torch torch.multinomial
//op:value
func (x T) Multinomial(n int, replace bool, rng *tensor.RNG) *tensor.Tensor

// Bernoulli returns 1 with the probability of each element of x, by the next numbers of rng, and else 0,
// as floats. It panics with ErrValue for an rng that is nil.
//
// Gradient: none.
//
//op:torch torch.bernoulli
//op:value
func (x T) Bernoulli(rng *tensor.RNG) *tensor.Tensor

// Meshgrid returns a view of each tensor, of one axis, repeated along those of the others: result i
// has the elements of tensor i along axis i, and the shape of all. A scalar counts as one element.
// The indexing is that of matrices, PyTorch's "ij"; ys, xs := Meshgrid(y, x) is that of "xy". It
// panics with ErrValue if there are no tensors, and with ErrShape for another rank, or too many of
// them.
//
// Gradient: g, summed over the axes of the others.
//
//op:torch torch.meshgrid(indexing="ij")
func Meshgrid(xs ...T) []T
