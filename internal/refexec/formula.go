package refexec

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// formula computes one result of a Map, in the type that its elements are computed in.
type formula[T kernels.Real] struct {
	typ      kernels.DType // that it is computed in
	reals    *single[T]
	integers *single[int32]
}

func newFormula[T kernels.Real](r kernels.Result, operands []kernels.View, args []kernels.Arg) *formula[T] {
	f := &formula[T]{typ: computedIn(r, operands)}
	passed := f.typ
	if r.View.Type.Half() { // an int is the bits of one
		passed = r.View.Type
	}
	scalar := func(i int) float64 { return r.Scalars[i].In(args, passed) }
	whole := func(i int) int32 { return int32(int64(r.Scalars[i].In(args, kernels.Int32))) }
	if f.typ.Integer() {
		f.integers = newSingle[int32](r.Function, len(operands), scalar, whole)
	} else {
		f.reals = newSingle[T](r.Function, len(operands), scalar, whole)
	}
	return f
}

// computedIn returns the type that a result is computed in: its own, float32 of one of 16 bits or, of
// a condition, that of its operands.
func computedIn(r kernels.Result, operands []kernels.View) kernels.DType {
	switch {
	case r.View.Type.Half():
		return kernels.Float32
	case !r.Function.Condition():
		return r.View.Type
	}
	for i, v := range operands {
		if r.Function.Uses(i) && (!v.Type.Integer() || !r.Function.Integers) {
			return kernels.Float32
		}
	}
	return kernels.Int32
}

// gathered sets the elements of operand i, which is read by index.
func (f *formula[T]) gathered(i int, elements []float64) {
	if f.integers == nil {
		f.reals.gathered(i, elements)
	} else {
		f.integers.gathered(i, elements)
	}
}

// at returns the result for operands of its type, at an index.
func (f *formula[T]) at(operands []float64, index []int) float64 {
	if f.integers == nil {
		return float64(f.reals.at(operands, index))
	}
	v := f.integers.at(operands, index)
	if f.typ == kernels.Uint8 {
		v &= 255
	}
	return float64(v)
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
