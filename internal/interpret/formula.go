package interpret

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// formula computes one result of a Map, in the type that its elements are computed in.
type formula[T kernels.Real] struct {
	typ      kernels.DType
	reals    *expr.Eval[T]
	integers *expr.Eval[int32]
}

func newFormula[T kernels.Real](r kernels.Result, args []kernels.Arg) *formula[T] {
	f := &formula[T]{typ: r.View.Type}
	program := expr.Compile(r.Function.Value)
	scalar := func(i int) float64 { return r.Scalars[i].In(args, f.typ) }
	if f.typ.Integer() {
		f.integers = expr.NewEval[int32](program)
		f.integers.Scalars(func(i int) int32 { return int32(scalar(i)) })
	} else {
		f.reals = expr.NewEval[T](program)
		f.reals.Scalars(func(i int) T { return T(scalar(i)) })
	}
	return f
}

// at returns the result for operands of its type.
func (f *formula[T]) at(operands []float64) float64 {
	if f.integers == nil {
		return float64(one(f.reals, operands))
	}
	v := one(f.integers, operands)
	if f.typ == kernels.Uint8 {
		v &= 255
	}
	return float64(v)
}

func one[T expr.Number](e *expr.Eval[T], operands []float64) T {
	in := make([][]T, len(operands))
	for i, v := range operands {
		in[i] = []T{T(v)}
	}
	var out [1]T
	e.Run(out[:], in)
	return out[0]
}
