package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Functions of what reductions return.
var (
	// SomeOf is whether a count is not 0, WholeOf whether it is the scalar.
	SomeOf  = &kernels.Function{Name: "some_of", Value: expr.Where(x.Eq(zero), zero, one), Integers: true}
	WholeOf = &kernels.Function{Name: "whole_of", Value: expr.Where(x.Eq(a), one, zero), Integers: true, Scalars: []float64{1}}

	// LogSumExpGrad is e^(x − y)·g: the share of eˣ in a sum eʸ, times the gradient of y. Between
	// equal numbers, infinite ones too, the share is 1; between equal infinities, that is a
	// constant.
	LogSumExpGrad = &kernels.Function{Name: "logsumexp_gradient", Value: partialOfSum.Mul(v),
		Gradients: []*expr.Expr{partialGrad, partialGrad.Neg(), partialOfSum.Mul(expr.Input(4))}}
	partialOfSum = expr.Where(x.Eq(w), one, x.Sub(w).Exp())
	partialGrad  = expr.Where(x.Eq(w), expr.Where(x.Sub(w).Eq(zero), u.Mul(expr.Input(4)), zero), u.Mul(expr.Input(4)))

	// Norm1Grad is sign(x)·g, Norm2Grad x/y·g for the norm y, and NormPowGrad sign(x)·(|x|/y)^(p −
	// 1)·g; 0 where x is, and the latter two where y is. The gradients of the last are those of its
	// value, so that no infinity of |x|/y is multiplied by a power that is 0.
	Norm1Grad = &kernels.Function{Name: "norm1_gradient", Value: signOf.Mul(w),
		Gradients: []*expr.Expr{zero, expr.Where(x.Eq(zero), x.Mul(zero), signOf).Mul(u)}} // flat at 0, too
	Norm2Grad   = &kernels.Function{Name: "norm2_gradient", Value: expr.Where(w.Eq(zero), zero, x.Div(w).Mul(v))}
	NormPowGrad = &kernels.Function{Name: "norm_gradient", Scalars: []float64{3},
		Value: unlessZero(signOf.Mul(normPower).Mul(v)),
		Gradients: []*expr.Expr{unlessZero(a.Sub(one).Mul(u.Div(x)).Mul(expr.Input(4))), unlessZero(one.Sub(a).Mul(u.Div(w)).Mul(expr.Input(4))),
			unlessZero(signOf.Mul(normPower).Mul(expr.Input(4)))}}
	normPower = x.Abs().Div(w).Pow(a.Sub(one))
	signOf    = expr.Where(x.Gt(zero), one, expr.Where(x.Lt(zero), one.Neg(), x))

	// VarGrad is a·(x − mean)·g, of which a is 2/(n − correction), and StdGrad that over the
	// deviation, of which a is half as much, 0 where the deviation is.
	VarGrad = &kernels.Function{Name: "var_gradient", Scalars: []float64{1}, Value: a.Mul(x.Sub(w)).Mul(v)}
	StdGrad = &kernels.Function{Name: "std_gradient", Scalars: []float64{1}, Value: expr.Where(u.Eq(zero), zero, a.Mul(x.Sub(w)).Mul(v).Div(u))}
)

// unlessZero is e, but 0 where an element or the norm is.
func unlessZero(e *expr.Expr) *expr.Expr {
	return expr.Where(x.Eq(zero), zero, expr.Where(w.Eq(zero), zero, e))
}
