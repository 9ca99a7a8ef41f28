package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// mustIndex panics with ErrType unless index can be indices of t. Bool is refused: comparisons
// return masks of it, whose 0 and 1 would be the first two indices. So is Uint8, which masks once were.
func mustIndex(op string, t, index *Tensor) {
	switch index.typ {
	case Int32, Int64:
	case Bool:
		misuse(op, ErrType, "indices are of type int64 or int32, and bool is that of masks: a mask goes to Index, MaskedSelect, MaskedFill or Where", t, index)
	default:
		misuse(op, ErrType, fmt.Sprintf("indices are of type int64 or int32, not %v: convert them with To(tensor.Int64)", index.typ), t, index)
	}
}

// mustClass panics with ErrType unless index can be numbers of classes, or of rows of a table that
// t is: all integers can.
func mustClass(op string, t, index *Tensor) { mustNameRows(op, index, t, index) }

// mustNameRows panics with ErrType, for some operands, unless an index is of integers.
func mustNameRows(op string, index *Tensor, operands ...*Tensor) {
	if !index.typ.Integer() || index.typ == Bool {
		misuse(op, ErrType, fmt.Sprintf("indices are of integers, not %v: convert them with To(tensor.Int64)", index.typ),
			operands...)
	}
}

// indices returns t, of integers that int32 holds, as a contiguous operand of Int32: that of kernels.
// Call release after the launch.
func (t *Tensor) indices() contiguousOperand { return t.dense(Int32) }

// asIndices returns indices that a kernel wrote as those that operations return. It takes them over.
func (t *Tensor) asIndices() *Tensor {
	defer t.Free()
	return t.To(Int64)
}

// around returns the sizes of what lies before an axis, of it, and behind it.
func around(shape []int, axis int) (outer, n, inner int) {
	return intmath.Product(shape[:axis]), shape[axis], intmath.Product(shape[axis+1:])
}

// rowsOf returns which rows of the matrices that lie behind an axis indices name along it, for all
// that lies before the axis. It takes the operand over.
func rowsOf(at contiguousOperand, outer, n int) contiguousOperand {
	if outer == 1 {
		return at
	}
	defer at.release()
	keys := alloc("Index", at.Device(), Int32, []int{outer, at.Len()})
	if keys.Len() > 0 {
		line := at.Reshape(1, at.Len())
		MapInto(ops.RowKeys, []kernels.Arg{kernels.IntArg(n)}, []*Tensor{keys}, line)
		line.Free()
	}
	return contiguousOperand{keys, true}
}

// takeRows returns what indices, of any shape and Int32, name along an axis: their axes take its
// place. It takes the operand over.
func (t *Tensor) takeRows(op string, axis int, at contiguousOperand) *Tensor {
	defer at.release()
	d := t.Device()
	outer, n, inner := around(t.shape, axis)
	y := alloc(op, d, t.typ, slices.Concat(t.shape[:axis], at.shape, t.shape[axis+1:]))
	if y.Len() == 0 {
		return y
	}
	x := t.contiguous()
	defer x.release()
	m := kernels.IntArg(at.Len())
	if outer == 1 {
		launch(d, ops.GatherRows.Of(t.typ), x.arg(), at.arg(), y.arg(), m, kernels.IntArg(inner), kernels.IntArg(n))
	} else {
		launch(d, ops.GatherAxis.Of(t.typ), x.arg(), at.arg(), y.arg(), kernels.IntArg(outer), kernels.IntArg(n), m, kernels.IntArg(inner), kernels.FlagArg(false))
	}
	y.keepUnion(t)
	return y
}

// putRows brings src to what indices name along an axis of t, which is contiguous and nobody else's
// operand. It takes the operands over.
func (t *Tensor) putRows(how ops.Scatter, axis int, at, src contiguousOperand) {
	defer src.release()
	outer, n, inner := around(t.shape, axis)
	if src.Len() == 0 || t.Len() == 0 {
		at.release()
		return
	}
	if m := at.Len(); outer > 1 && manyLines(t.Device(), outer*inner, m) {
		defer at.release()
		t.scatterAxis(how, at.Tensor, src.Tensor, outer, n, m, inner, false)
		return
	}
	keys := rowsOf(at, outer, n)
	defer keys.release()
	scatterRows(how, t, keys.Tensor, src.Tensor, outer*n, inner)
}

// changeable returns a copy of t to scatter to in a way: of a type that kernels scatter. [Tensor.changed]
// takes it back.
func (t *Tensor) changeable(op string, how ops.Scatter) *Tensor {
	if t.typ == Uint64 && (how == ops.ScatterMin || how == ops.ScatterMax) {
		misuse(op, ErrType, "there is no minimum or maximum of uint64 here: convert numbers below 2⁶³ with To(tensor.Int64)", t)
	}
	if t.typ == Bool && how != ops.ScatterSet {
		misuse(op, ErrType, "bools are not counted: convert with To(tensor.Int64)", t)
	}
	var y *Tensor
	switch t.typ {
	case Int8, Int16, Uint16, Uint32, Uint64:
		y = t.To(min(t.typ.Widened(), Int64))
	default:
		y = t.wide()
	}
	y.st.ints = intRange{} // the range of t's elements is none of what is scattered
	return y
}

// changed returns y, which it takes over and changeable made of integers of a type, in that type.
func (y *Tensor) changed(typ Type) *Tensor {
	if !typ.Integer() || y.typ == typ {
		return y
	}
	defer y.Free()
	return y.To(typ)
}

// mustTake panics with ErrType if integers of t do not hold those of src.
func mustTake(op string, t, src *Tensor) {
	if t.typ.Integer() && higher(t.typ, src.typ) != t.typ {
		misuse(op, ErrType, fmt.Sprintf("%v into %v: convert one with To", src.typ, t.typ), t, src)
	}
}

// source returns src as a contiguous operand of the type of y, which must not be a lower one.
func (y *Tensor) source(op string, src *Tensor) contiguousOperand {
	if higher(y.typ, src.typ) != y.typ && !(y.typ == Int64 && src.typ == Uint64) { // which has the same bits
		misuse(op, ErrType, fmt.Sprintf("%v into %v: convert one with To", src.typ, y.typ), y, src)
	}
	if src.typ != y.typ {
		return contiguousOperand{src.To(y.typ), true}
	}
	return src.contiguous()
}

func (t *Tensor) indexSelect(axis int, index *Tensor) *Tensor {
	const op = "IndexSelect"
	a := t.checkLine(op, axis, index)
	checkIndices(op, t.shape, a, index, false)
	return t.takeRows(op, a, index.indices())
}

// checkLine is check of indices with one axis, along an axis of t, which it resolves.
func (t *Tensor) checkLine(op string, axis int, index *Tensor) int {
	check(op, t, index)
	mustIndex(op, t, index)
	if index.Rank() != 1 {
		misuse(op, ErrShape, "indices have one axis", t, index)
	}
	return axisOf(op, t, axis)
}

// checkParts is checkLine for parts of t that src has.
func (t *Tensor) checkParts(op string, axis int, index, src *Tensor) int {
	check(op, t, src)
	mustTake(op, t, src)
	a := t.checkLine(op, axis, index)
	want := slices.Clone(t.shape)
	want[a] = index.Len()
	if !slices.Equal(src.shape, want) {
		misuse(op, ErrShape, fmt.Sprintf("what goes to %d indices of axis %d has the shape %v", index.Len(), axis, want), t, index, src)
	}
	checkIndices(op, t.shape, a, index, false)
	return a
}

func (t *Tensor) indexAdd(axis int, index, src *Tensor) *Tensor {
	const op = "IndexAdd"
	return t.withParts(op, ops.ScatterAdd, t.checkParts(op, axis, index, src), index, src)
}

func (t *Tensor) indexCopy(axis int, index, src *Tensor) *Tensor {
	const op = "IndexCopy"
	return t.withParts(op, ops.ScatterSet, t.checkParts(op, axis, index, src), index, src)
}

func (t *Tensor) withParts(op string, how ops.Scatter, a int, index, src *Tensor) *Tensor {
	y := t.changeable(op, how)
	y.putRows(how, a, index.indices(), y.source(op, src))
	return y.changed(t.typ)
}

func (t *Tensor) indexFill(axis int, index *Tensor, value float64) *Tensor {
	const op = "IndexFill"
	a := t.checkLine(op, axis, index)
	mustFit(op, t.typ, value)
	checkIndices(op, t.shape, a, index, false)
	y := t.changeable(op, ops.ScatterSet)
	shape := slices.Clone(t.shape)
	shape[a] = index.Len()
	if intmath.Product(shape) > 0 {
		fill := alloc(op, y.Device(), y.typ, shape)
		fill.fill(value)
		y.putRows(ops.ScatterSet, a, index.indices(), contiguousOperand{fill, true})
	}
	return y.changed(t.typ)
}

// EmbeddingOptions is what may be said to [Tensor.Embedding].
type EmbeddingOptions struct {
	Padded  bool // whether there is a row that gets no gradient
	Padding int  // which it is, if Padded; from the end below 0
}

func (t *Tensor) embedding(index *Tensor, opts ...EmbeddingOptions) *Tensor {
	const op = "Embedding"
	check(op, t, index)
	mustClass(op, t, index)
	if t.Rank() != 2 {
		misuse(op, ErrShape, "rows are those of a matrix", t)
	}
	if len(opts) > 1 {
		misuse(op, ErrValue, "pass one EmbeddingOptions", t, index)
	}
	if len(opts) == 1 && opts[0].Padded {
		if p := fromEnd(opts[0].Padding, t.shape[0]); p < 0 || p >= t.shape[0] {
			misuse(op, ErrIndex, fmt.Sprintf("padding %d of %d rows", opts[0].Padding, t.shape[0]), t, index)
		}
	}
	checkIndices(op, t.shape, 0, index, false)
	return t.takeRows(op, 0, index.indices())
}
