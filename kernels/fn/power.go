package fn

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Powers, logarithms and the error function.
var (
	Exp2  = &kernels.Function{Name: "exp2", Value: x.Exp2(), Domains: wide, Gradients: []*expr.Expr{y1.Mul(expr.Const(math.Ln2)).Mul(g1)}}
	Expm1 = &kernels.Function{Name: "expm1", Value: x.Expm1(), Domains: wide}
	Log2  = &kernels.Function{Name: "log2", Value: x.Log2(), Domains: positive}
	Log10 = &kernels.Function{Name: "log10", Value: x.Log10(), Domains: positive}
	Log1p = &kernels.Function{Name: "log1p", Value: x.Log1p(), Domains: [][2]float64{{-0.9, 9}}}
	Rsqrt = &kernels.Function{Name: "rsqrt", Value: one.Div(x.Sqrt()), Domains: [][2]float64{{0.1, 9}},
		Gradients: []*expr.Expr{half.Neg().Mul(y1).Mul(y1).Mul(y1).Mul(g1)}}
	Reciprocal = &kernels.Function{Name: "reciprocal", Value: one.Div(x), Domains: [][2]float64{{0.3, 9}}, Gradients: []*expr.Expr{y1.Mul(y1).Neg().Mul(g1)}}
	Erf        = &kernels.Function{Name: "erf", Value: x.Erf()}
	Erfc       = &kernels.Function{Name: "erfc", Value: x.Erfc()}
	ErfInv     = &kernels.Function{Name: "erfinv", Value: x.ErfInv(), Domains: [][2]float64{{-0.8, 0.8}},
		Gradients: []*expr.Expr{expr.Const(math.Sqrt(math.Pi) / 2).Mul(y1.Square().Exp()).Mul(g1)}}

	// At x = 0 the exponent's gradient is 0 where the power is, and at 0⁰. That of x is 0 where the
	// exponent is, also of 0 and NaN; of other x the product is 0 by itself, and its derivative by
	// the exponent is not.
	PowTensor = &kernels.Function{Name: "pow_tensor", Value: x.Pow(w), Domains: [][2]float64{{0.1, 3}, {-2, 2}}, Gradients: []*expr.Expr{
		expr.Where(w.Eq(zero).And(x.Lt(zero).Or(x.Gt(zero)).Not()), zero, w.Mul(x.Pow(w.Sub(one))).Mul(g2)),
		expr.Where(x.Eq(zero).And(w.Ge(zero)), zero, y2.Mul(x.Log()).Mul(g2))}}
)
