// Code generated from internal/operations/table/shape.go by "make generate". DO NOT EDIT.

package tensor

// Reshape returns x's elements, in row-major order, under another shape of the same size. One
// dimension may be −1: it is inferred. The result shares x's storage where the axes that are joined
// are contiguous, and is a copy otherwise. It panics with ErrShape if the elements cannot take that
// shape.
func (x *Tensor) Reshape(shape ...int) *Tensor { return x.reshape(shape...) }

// Transpose returns a view with the axes in the given order, reversed if none is given: of a
// matrix, its transpose. It is PyTorch's permute. It panics with ErrAxis unless the axes are a
// permutation.
func (x *Tensor) Transpose(axes ...int) *Tensor { return x.transpose(axes...) }

// T returns the transpose of a matrix, as a view. It panics with ErrShape for another rank.
func (x *Tensor) T() *Tensor { return x.t() }

// Slice returns the view of elements [from, to) along an axis. Numbers below 0 count from the end,
// and to may be [End]:
//
//	x.Slice(0, 2, tensor.End)  // NumPy's x[2:]
//	x.Slice(-1, -3, -1)        // x[..., -3:-1]
//
// The axis may count from the end, too. It panics with ErrAxis, and with ErrIndex unless, counted
// from the start, 0 ≤ from ≤ to ≤ the dimension: NumPy would cut the rest off. For steps see
// [Tensor.Step].
func (x *Tensor) Slice(axis, from, to int) *Tensor { return x.slice(axis, from, to) }

// Step returns the view of every step-th element along an axis, which may count from the end,
// beginning with the first: NumPy's x[::step]. After [Tensor.Slice] it is x[from:to:step]. A step
// below 0 begins with the last and goes backwards, in a tensor of its own: the elements of a view
// lie forward from its first, as kernels read them. It panics with ErrAxis, and with ErrValue for a
// step of 0.
func (x *Tensor) Step(axis, step int) *Tensor { return x.step(axis, step) }

// Select returns the view of the elements with one index along an axis, which disappears: NumPy's
// x[i] for axis 0. Axis and index may count from the end. It panics with ErrAxis, and with ErrIndex
// for an index past either end.
func (x *Tensor) Select(axis, index int) *Tensor { return x.selectIndex(axis, index) }

// Expand returns a view under a shape that x broadcasts to by NumPy's rule, without copying. It
// panics with ErrShape if x does not.
func (x *Tensor) Expand(shape ...int) *Tensor { return x.expand(shape...) }

// Copy returns a contiguous tensor with x's elements and storage of its own.
func (x *Tensor) Copy() *Tensor { return x.copy() }

// To returns x's elements as another type; of x's own type, a view of x. What the type does not
// hold:
//
//   - floats as integers have their fractions cut off, numbers beyond the range become its end, and
//     NaN becomes 0;
//   - integers as shorter ones keep their low bits: 200 is −56 as Int8;
//   - as floats, numbers are rounded once, to nearest, ties to even; beyond the type they are infinite;
//   - as floats of 8 and 4 bits they are rounded alike, and become the end of the range beyond it: see
//     tensor.Cast;
//   - as Bool, 0 is false, and the rest is true, NaN too.
//
// Every device gives the same bits.
func (x *Tensor) To(typ Type) *Tensor { return x.to(typ) }

// GatherRows returns the rows of a matrix x [r, c], of any type, that an Int64 or Int32 tensor [n]
// names: y[i] = x[index[i]], of shape [n, c]. It panics with ErrShape for another rank, with
// ErrType for an index of another type, and with ErrIndex if an index is not in [0, r). Indices
// that the host uploaded, and those of RNG.Ints, ArangeOf, ArgMax, Sort, TopK and their like, are
// known; others it waits for.
func (x *Tensor) GatherRows(index *Tensor) *Tensor { return x.gatherRows(index) }
