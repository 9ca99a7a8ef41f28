package fn

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Functions between layers. Their forms lose no accuracy where one of their factors nears 0.
var (
	Softplus = &kernels.Function{Name: "softplus", Value: x.Softplus(), Domains: wide}
	// SoftplusBeta is x itself above the threshold.
	SoftplusBeta = &kernels.Function{Name: "softplus_beta", Value: expr.Where(a.Mul(x).Gt(b), x, a.Mul(x).Softplus().Div(a)), Domains: wide,
		Scalars: []float64{1.5, 6}, NonDifferentiable: []float64{4},
		Gradients: []*expr.Expr{expr.Where(a.Mul(x).Gt(b), g1, a.Mul(x).Sigmoid().Mul(g1))}}
	LogSigmoid = &kernels.Function{Name: "log_sigmoid", Value: x.Neg().Softplus().Neg(), Domains: wide}

	// GELU is x·Φ(x), with the distribution Φ of the normal distribution: erfc is exact where Φ is
	// small.
	GELU = &kernels.Function{Name: "gelu", Value: x.Mul(normal), Domains: wide,
		Gradients: []*expr.Expr{normal.Add(x.Mul(x.Square().Mul(half).Neg().Exp()).Mul(expr.Const(1 / math.Sqrt(2*math.Pi)))).Mul(g1)}}
	// GELUTanh is x·(1 + tanh(t/2))/2 = x/(1 + e⁻ᵗ). The slope of t overflows where that of the
	// tanh has long been 0.
	GELUTanh = &kernels.Function{Name: "gelu_tanh", Value: x.Div(one.Add(geluTwice(x).Neg().Exp())), Domains: wide,
		Gradients: []*expr.Expr{geluNear.Add(near.Mul(geluNear.Mul(geluTwice(near).Neg().Sigmoid())).
			Mul(expr.Const(2 * geluScale).Mul(one.Add(expr.Const(3 * 0.044715).Mul(near.Square()))))).Mul(g1)}}
	SiLU = &kernels.Function{Name: "silu", Value: x.Div(one.Add(x.Neg().Exp())), Domains: wide,
		Gradients: []*expr.Expr{x.Sigmoid().Mul(one.Add(x.Mul(x.Neg().Sigmoid()))).Mul(g1)}}
	// Mish is x·tanh(softplus(x)), which is a quotient of polynomials of e⁻|ˣ|.
	Mish = &kernels.Function{Name: "mish", Value: x.Mul(mishTanh), Domains: wide,
		Gradients: []*expr.Expr{mishTanh.Add(x.Mul(mishRest.Mul(one.Add(mishTanh))).Mul(x.Sigmoid())).Mul(g1)}}

	ELU = &kernels.Function{Name: "elu", Value: expr.Where(x.Le(zero), a.Mul(x.Expm1()), x), Domains: wide, Scalars: []float64{0.7}, NonDifferentiable: []float64{0},
		Gradients: []*expr.Expr{expr.Where(x.Gt(zero), g1, a.Mul(x.Exp()).Mul(g1))}}
	SELU = &kernels.Function{Name: "selu", Value: expr.Where(x.Le(zero), expr.Const(seluScale*seluAlpha).Mul(x.Expm1()), expr.Const(seluScale).Mul(x)), Domains: wide,
		NonDifferentiable: []float64{0},
		Gradients:         []*expr.Expr{expr.Where(x.Gt(zero), expr.Const(seluScale), expr.Const(seluScale*seluAlpha).Mul(x.Exp())).Mul(g1)}}
	CELU = &kernels.Function{Name: "celu", Value: expr.Where(x.Le(zero), a.Mul(x.Div(a).Expm1()), x), Domains: wide, Scalars: []float64{0.7}, NonDifferentiable: []float64{0},
		Gradients: []*expr.Expr{expr.Where(x.Gt(zero), g1, x.Div(a).Exp().Mul(g1))}}
	Softsign = &kernels.Function{Name: "softsign", Value: x.Div(one.Add(x.Abs())), Domains: wide, NonDifferentiable: []float64{0}, // of the second derivative
		Gradients: []*expr.Expr{g1.Div(one.Add(x.Abs())).Div(one.Add(x.Abs()))}}
	Hardswish = &kernels.Function{Name: "hardswish", Value: x.Mul(hardsigmoid), Domains: wide, NonDifferentiable: []float64{-3, 3},
		Gradients: []*expr.Expr{expr.Where(x.Lt(expr.Const(-3)), zero, expr.Where(x.Gt(three), g1, x.Div(three).Add(half).Mul(g1)))}}
	Hardsigmoid = &kernels.Function{Name: "hardsigmoid", Value: hardsigmoid, Domains: wide, NonDifferentiable: []float64{-3, 3},
		Gradients: []*expr.Expr{expr.Where(x.Gt(expr.Const(-3)).And(x.Lt(three)), g1.Div(expr.Const(6)), zero)}}
	Hardtanh = &kernels.Function{Name: "hardtanh", Value: clamped, Integers: true, Scalars: []float64{-1, 1}, NonDifferentiable: []float64{-1, 1},
		Gradients: []*expr.Expr{expr.Where(x.Le(a).Or(x.Ge(b)), zero, g1)}}
	Hardshrink = &kernels.Function{Name: "hardshrink", Value: expr.Where(small, zero, x), Scalars: []float64{0.5}, NonDifferentiable: []float64{-0.5, 0.5},
		Gradients: []*expr.Expr{expr.Where(small, zero, g1)}}
	Softshrink = &kernels.Function{Name: "softshrink", Value: expr.Where(small, zero, expr.Where(x.Gt(a), x.Sub(a), x.Add(a))), Scalars: []float64{0.5},
		NonDifferentiable: []float64{-0.5, 0.5}, Gradients: []*expr.Expr{expr.Where(small, zero, g1)}}
	// PReLU is LeakyReLU with a slope for each element.
	PReLU = &kernels.Function{Name: "prelu", Value: expr.Where(x.Gt(zero), x, w.Mul(x)), Integers: true, NonDifferentiable: []float64{0},
		Gradients: []*expr.Expr{expr.Where(x.Gt(zero), g2, w.Mul(g2)), expr.Where(x.Gt(zero), zero, x.Mul(g2))}}
	ReLU6 = &kernels.Function{Name: "relu6", Value: limited(x, expr.Const(6)), Integers: true, Domains: wide, NonDifferentiable: []float64{0, 6},
		Gradients: []*expr.Expr{expr.Where(x.Le(zero).Or(x.Ge(expr.Const(6))), zero, g1)}}
)

// What SELU is made of, so that layers keep mean 0 and variance 1.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

var (
	three       = expr.Const(3)
	small       = x.Ge(a.Neg()).And(x.Le(a))
	normal      = half.Mul(x.Mul(expr.Const(-1 / math.Sqrt2)).Erfc())
	hardsigmoid = limited(x.Add(three), expr.Const(6)).Div(expr.Const(6))

	geluScale = math.Sqrt(2 / math.Pi)
	near      = x.Max(expr.Const(-100)).Min(expr.Const(100))
	geluNear  = geluTwice(near).Sigmoid()

	mishAbove = x.Ge(zero)
	mishExp   = expr.Where(mishAbove, x.Neg(), x).Exp()
	mishTop   = expr.Where(mishAbove, two.Mul(mishExp).Add(one), mishExp.Mul(mishExp.Add(two)))
	mishLeft  = expr.Where(mishAbove, two.Mul(mishExp).Mul(mishExp), two) // so that tanh = top/(top + left)
	mishTanh  = mishTop.Div(mishTop.Add(mishLeft))
	mishRest  = mishLeft.Div(mishTop.Add(mishLeft)) // 1 − tanh
)

// geluTwice is 2·√(2/π)·(t + 0.044715·t³).
func geluTwice(t *expr.Expr) *expr.Expr {
	return expr.Const(2 * geluScale).Mul(t.Mul(one.Add(expr.Const(0.044715).Mul(t.Square()))))
}

// limited is t limited to [0, high]; NaN stays.
func limited(t, high *expr.Expr) *expr.Expr {
	least := expr.Where(t.Lt(zero), zero, t)
	return expr.Where(least.Gt(high), high, least)
}
