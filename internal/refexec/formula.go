package refexec

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// formula computes one result of a Map, in the type that its elements are computed in.
type formula[T kernels.Float] struct {
	typ      kernels.DType // that operands are converted to
	identity int           // the operand that it is; −1: it is none
	floats   *single[T]
	integers *single[int32]
	longs    *single[int64]
	unsigned *single[uint64]
}

func newFormula[T kernels.Float](r operation.Result, operands []kernels.View, args []kernels.Arg) *formula[T] {
	f := &formula[T]{typ: convertedTo(r, operands), identity: -1}
	for i := range operands {
		if r.Function.Is(i) && !r.Function.Indexed() {
			f.identity = i
		}
	}
	passed := f.typ
	if r.View.Type.Half() { // an int is the bits of one
		passed = r.View.Type
	}
	scalar := func(i int) float64 { return r.Scalars[i].In(args, passed) }
	whole := func(i int) int32 { return int32(int64(r.Scalars[i].In(args, kernels.Int32))) }
	n := len(operands)
	switch f.typ.Widened() {
	case kernels.Int32:
		f.integers = newSingle[int32](r.Function, n, scalar, whole)
	case kernels.Int64:
		f.longs = newSingle[int64](r.Function, n, scalar, whole)
	case kernels.Uint64:
		f.unsigned = newSingle[uint64](r.Function, n, scalar, whole)
	default:
		f.floats = newSingle[T](r.Function, n, scalar, whole)
	}
	return f
}

// convertedTo returns the type that the operands of a result are converted to: its own, float32 of one
// of 16 bits or, of a condition, what they are computed in.
func convertedTo(r operation.Result, operands []kernels.View) kernels.DType {
	switch {
	case r.View.Type.Half():
		return kernels.Float32
	case !r.Function.Condition():
		return r.View.Type
	}
	typ := kernels.Int32
	for i, v := range operands {
		if !r.Function.Uses(i) {
			continue
		}
		if !v.Type.Integer() || !r.Function.Integers {
			return kernels.Float32
		}
		typ = max(typ, v.Type.Widened()) // Int32, Int64, Uint64
	}
	return typ
}

// gathered sets the elements of operand i, which is read by index.
func (f *formula[T]) gathered(i int, elements []float64) {
	switch {
	case f.floats != nil:
		f.floats.gathered(i, elements)
	case f.integers != nil:
		f.integers.gathered(i, elements)
	case f.longs != nil:
		f.longs.gathered(i, elements)
	default:
		f.unsigned.gathered(i, elements)
	}
}

// at returns the result for operands of its type, at an index.
func (f *formula[T]) at(operands []float64, index []int) float64 {
	switch {
	case f.floats != nil:
		return float64(f.floats.at(operands, index))
	case f.integers != nil:
		return lowBits(int64(f.integers.at(operands, index)), f.typ)
	case f.longs != nil:
		return lowBits(f.longs.at(operands, index), f.typ)
	}
	return float64(f.unsigned.at(operands, index))
}

// lowBits returns what an integer is as another type of integers.
func lowBits(v int64, typ kernels.DType) float64 {
	shift := 64 - 8*typ.Size()
	switch {
	case typ.Signed():
		return float64(v << shift >> shift)
	case shift == 0:
		return float64(uint64(v))
	}
	return float64(v & (1<<(8*typ.Size()) - 1))
}

// single computes a function in T, an element at a time.
type single[T expr.Number] struct {
	eval     *expr.Eval[T]
	operands [][]T  // of one element each
	whole    []bool // but for those that are read by index
	out      [1][]T
}

func newSingle[T expr.Number](f *kernels.Function, operands int, scalar func(i int) float64, whole func(i int) int32) *single[T] {
	s := &single[T]{eval: expr.NewEval[T](expr.Compile(f.Value)), operands: make([][]T, operands), whole: make([]bool, operands), out: [1][]T{make([]T, 1)}}
	s.eval.Scalars(func(i int) T { return T(scalar(i)) }, whole)
	for i := range s.operands {
		s.operands[i] = make([]T, 1)
	}
	return s
}

func (s *single[T]) gathered(i int, elements []float64) {
	s.whole[i], s.operands[i] = true, make([]T, len(elements))
	for k, v := range elements {
		s.operands[i][k] = T(v)
	}
}

func (s *single[T]) at(operands []float64, index []int) T {
	for i, v := range operands {
		if !s.whole[i] {
			s.operands[i][0] = T(v)
		}
	}
	s.eval.RunAll(s.out[:], s.operands, func(axis int) expr.Indices { return expr.Indices{Cols: 1, First: index[axis]} })
	return s.out[0][0]
}
