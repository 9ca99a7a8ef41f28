package fn

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Functions of angles, hyperbolic ones, and their inverses.
var (
	Sin   = &kernels.Function{Name: "sin", Value: x.Sin(), Domains: wide}
	Cos   = &kernels.Function{Name: "cos", Value: x.Cos(), Domains: wide}
	Tan   = &kernels.Function{Name: "tan", Value: x.Tan(), Domains: [][2]float64{{-1.2, 1.2}}, Gradients: []*expr.Expr{one.Add(y1.Square()).Mul(g1)}}
	Asin  = &kernels.Function{Name: "asin", Value: x.Asin(), Domains: inside}
	Acos  = &kernels.Function{Name: "acos", Value: x.Acos(), Domains: inside}
	Atan  = &kernels.Function{Name: "atan", Value: x.Atan(), Domains: wide}
	Sinh  = &kernels.Function{Name: "sinh", Value: x.Sinh(), Domains: [][2]float64{{-5, 5}}}
	Cosh  = &kernels.Function{Name: "cosh", Value: x.Cosh(), Domains: [][2]float64{{-5, 5}}}
	Asinh = &kernels.Function{Name: "asinh", Value: x.Asinh(), Domains: wide}
	Acosh = &kernels.Function{Name: "acosh", Value: x.Acosh(), Domains: [][2]float64{{1.2, 9}},
		Gradients: []*expr.Expr{g1.Div(unsigned.Sub(one).Sqrt().Mul(unsigned.Add(one).Sqrt()))}}
	Atanh = &kernels.Function{Name: "atanh", Value: x.Atanh(), Domains: inside}
	Atan2 = &kernels.Function{Name: "atan2", Value: x.Atan2(w), Domains: [][2]float64{{0.5, 3}}}
	Hypot = &kernels.Function{Name: "hypot", Value: x.Hypot(w), Domains: [][2]float64{{0.5, 3}},
		Gradients: []*expr.Expr{x.Div(y2).Mul(g2), w.Div(y2).Mul(g2)}}
)

// unsigned is |x|, with a derivative of one part.
var unsigned = x.Mul(one.Copysign(x))

var inside = [][2]float64{{-0.9, 0.9}}
