// Code generated from internal/operations/table/shape.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// Reshape returns x's elements, in row-major order, under another shape of the same size. One
// dimension may be −1: it is inferred. The result shares x's storage where the axes that are joined
// are contiguous, and is a copy otherwise. It panics with tensor.ErrShape if the elements cannot
// take that shape.
//
// Gradient: g under x's shape.
func (x *Node) Reshape(shape ...int) *Node {
	y := x.reshape(shape...)
	if trace.On() {
		trace.Record("Reshape", []any{x, shape}, y)
	}
	return y
}

// Transpose returns a view with the axes in the given order, reversed if none is given: of a
// matrix, its transpose. It is PyTorch's permute. It panics with tensor.ErrAxis unless the axes are
// a permutation.
//
// Gradient: g with the axes in the order that undoes it.
func (x *Node) Transpose(axes ...int) *Node {
	y := x.transpose(axes...)
	if trace.On() {
		trace.Record("Transpose", []any{x, axes}, y)
	}
	return y
}

// T returns the transpose of a matrix, as a view. It panics with tensor.ErrShape for another rank.
//
// Gradient: gᵀ.
func (x *Node) T() *Node {
	y := x.t()
	if trace.On() {
		trace.Record("T", []any{x}, y)
	}
	return y
}

// Slice returns the view of elements [from, to) along an axis. Numbers below 0 count from the end,
// and to may be [tensor.End]:
//
//	x.Slice(0, 2, tensor.End)  // NumPy's x[2:]
//	x.Slice(-1, -3, -1)        // x[..., -3:-1]
//
// The axis may count from the end, too. It panics with tensor.ErrAxis, and with tensor.ErrIndex
// unless, counted from the start, 0 ≤ from ≤ to ≤ the dimension: NumPy would cut the rest off. For
// steps see [Node.Step].
//
// Gradient: g in that place, 0 elsewhere.
func (x *Node) Slice(axis, from, to int) *Node {
	y := x.slice(axis, from, to)
	if trace.On() {
		trace.Record("Slice", []any{x, axis, from, to}, y)
	}
	return y
}

// Step returns the view of every step-th element along an axis, which may count from the end,
// beginning with the first: NumPy's x[::step]. After [Node.Slice] it is x[from:to:step]. A step
// below 0 begins with the last and goes backwards, in a tensor of its own: the elements of a view
// lie forward from its first, as kernels read them. It panics with tensor.ErrAxis, and with
// tensor.ErrValue for a step of 0.
//
// Gradient: g in those places, 0 elsewhere.
func (x *Node) Step(axis, step int) *Node {
	y := x.step(axis, step)
	if trace.On() {
		trace.Record("Step", []any{x, axis, step}, y)
	}
	return y
}

// Select returns the view of the elements with one index along an axis, which disappears: NumPy's
// x[i] for axis 0. Axis and index may count from the end. It panics with tensor.ErrAxis, and with
// tensor.ErrIndex for an index past either end.
//
// Gradient: g in that place, 0 elsewhere.
func (x *Node) Select(axis, index int) *Node {
	y := x.selectIndex(axis, index)
	if trace.On() {
		trace.Record("Select", []any{x, axis, index}, y)
	}
	return y
}

// Expand returns a view under a shape that x broadcasts to by NumPy's rule, without copying. It
// panics with tensor.ErrShape if x does not.
//
// Gradient: g, summed over the repeated axes.
func (x *Node) Expand(shape ...int) *Node {
	y := x.expand(shape...)
	if trace.On() {
		trace.Record("Expand", []any{x, shape}, y)
	}
	return y
}

// Copy returns a contiguous tensor with x's elements and storage of its own.
//
// Gradient: g.
func (x *Node) Copy() *Node {
	y := x.copy()
	if trace.On() {
		trace.Record("Copy", []any{x}, y)
	}
	return y
}

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
//
// Gradient: as a type of floats, those for storage too, that of x itself, in the type that x
// computes in; as integers or Bool the node is a constant, for steps have no slope.
func (x *Node) To(typ tensor.Type) *Node {
	y := x.to(typ)
	if trace.On() {
		trace.Record("To", []any{x, typ}, y)
	}
	return y
}

// GatherRows returns the rows of a matrix x [r, c], of any type, that an Int64 or Int32 tensor [n]
// names: y[i] = x[index[i]], of shape [n, c]. It panics with tensor.ErrShape for another rank, with
// tensor.ErrType for an index of another type, and with tensor.ErrIndex if an index is not in [0,
// r). Indices that the host uploaded, and those of RNG.Ints, ArangeOf, ArgMax, Sort, TopK and their
// like, are known; others it waits for.
//
// Gradient: the rows of g, added to the rows they came from in the order of index. index must
// outlive Backward, unchanged.
func (x *Node) GatherRows(index *tensor.Tensor) *Node {
	y := x.gatherRows(index)
	if trace.On() {
		trace.Record("GatherRows", []any{x, index}, y)
	}
	return y
}
