package interpret

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// formula computes one result of a Map, in the type that its elements are computed in.
type formula[T kernels.Real] struct {
	typ      kernels.DType
	reals    *single[T]
	integers *single[int32]
}

func newFormula[T kernels.Real](r kernels.Result, operands int, args []kernels.Arg) *formula[T] {
	f := &formula[T]{typ: r.View.Type}
	scalar := func(i int) float64 { return r.Scalars[i].In(args, f.typ) }
	if f.typ.Integer() {
		f.integers = newSingle[int32](r.Function, operands, scalar)
	} else {
		f.reals = newSingle[T](r.Function, operands, scalar)
	}
	return f
}

// at returns the result for operands of its type.
func (f *formula[T]) at(operands []float64) float64 {
	if f.integers == nil {
		return float64(f.reals.at(operands))
	}
	v := f.integers.at(operands)
	if f.typ == kernels.Uint8 {
		v &= 255
	}
	return float64(v)
}

// single computes a function in T, an element at a time.
type single[T expr.Number] struct {
	eval     *expr.Eval[T]
	operands [][]T // of one element each
	out      [1]T
}

func newSingle[T expr.Number](f *kernels.Function, operands int, scalar func(i int) float64) *single[T] {
	s := &single[T]{eval: expr.NewEval[T](expr.Compile(f.Value)), operands: make([][]T, operands)}
	s.eval.Scalars(func(i int) T { return T(scalar(i)) })
	for i := range s.operands {
		s.operands[i] = make([]T, 1)
	}
	return s
}

func (s *single[T]) at(operands []float64) T {
	for i, v := range operands {
		s.operands[i][0] = T(v)
	}
	s.eval.Run(s.out[:], s.operands)
	return s.out[0]
}
