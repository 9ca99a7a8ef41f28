package fn

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// The leaves of the formulas below: operands, and the scalars. In gradients of functions of one
// operand the value is y1 and the gradient of it g1; of two operands, g2.
var (
	x, w   = expr.Input(0), expr.Input(1)
	y1, g1 = expr.Input(1), expr.Input(2)
	y2, g2 = expr.Input(2), expr.Input(3)
	a, b   = expr.Param(0), expr.Param(1)

	zero, half, one, two = expr.Const(0), expr.Const(0.5), expr.Const(1), expr.Const(2)
)

// The element-wise functions of one tensor. Values at kinks and ties are stated where the functions
// are exported, in package autograd.
var (
	Identity = &kernels.Function{Name: "copy", Value: x, Integers: true, Domains: wide}
	Neg      = &kernels.Function{Name: "neg", Value: x.Neg(), Integers: true, Domains: wide}
	Abs      = &kernels.Function{Name: "abs", Value: x.Abs(), Integers: true, Domains: wide, NonDifferentiable: []float64{0}}
	Sign     = &kernels.Function{Name: "sign", Value: expr.Where(x.Gt(zero), one, expr.Where(x.Lt(zero), expr.Const(-1), x)), Integers: true,
		Domains: wide, NonDifferentiable: []float64{0}, Gradients: []*expr.Expr{zero}}
	Sqrt   = &kernels.Function{Name: "sqrt", Value: x.Sqrt(), Domains: positive, Gradients: []*expr.Expr{g1.Div(two.Mul(y1))}}
	Exp    = &kernels.Function{Name: "exp", Value: x.Exp(), Domains: wide, Gradients: []*expr.Expr{y1.Mul(g1)}}
	Log    = &kernels.Function{Name: "log", Value: x.Log(), Domains: positive}
	Square = &kernels.Function{Name: "square", Value: x.Mul(x), Integers: true, Domains: wide, Gradients: []*expr.Expr{two.Mul(x).Mul(g1)}}
	ReLU   = &kernels.Function{Name: "relu", Value: expr.Where(x.Lt(zero), zero, x), Integers: true, Domains: wide, NonDifferentiable: []float64{0},
		Gradients:      []*expr.Expr{expr.Where(x.Gt(zero), g1, zero)},
		GradFromOutput: expr.Where(y1.Gt(zero), g1, zero)}
	LeakyReLU = &kernels.Function{Name: "leaky_relu", Value: expr.Where(x.Gt(zero), x, a.Mul(x)), Domains: wide, NonDifferentiable: []float64{0},
		Scalars: []float64{0.1}, Gradients: []*expr.Expr{expr.Where(x.Gt(zero), g1, a.Mul(g1))},
		GradFromOutput: expr.Where(y1.Gt(zero), g1, a.Mul(g1)), OutputDeterminesGrad: func(s []float64) bool { return !(s[0] < 0) }}
	Sine    = &kernels.Function{Name: "sine", Value: a.Mul(x).Sin(), Domains: wide, Scalars: []float64{2}, Gradients: []*expr.Expr{a.Mul(a.Mul(x).Cos()).Mul(g1)}}
	Tanh    = &kernels.Function{Name: "tanh", Value: x.Tanh(), Domains: wide, Gradients: []*expr.Expr{one.Sub(y1.Mul(y1)).Mul(g1)}}
	Sigmoid = &kernels.Function{Name: "sigmoid", Value: one.Div(one.Add(x.Neg().Exp())), Domains: wide, Gradients: []*expr.Expr{y1.Mul(one.Sub(y1)).Mul(g1)}}
	Pow     = &kernels.Function{Name: "pow", Value: x.Pow(a), Integers: true, Domains: [][2]float64{{0.1, 3}}, Scalars: []float64{2.5},
		Gradients: []*expr.Expr{expr.Where(a.Eq(zero), zero, a.Mul(x.Pow(a.Sub(one))).Mul(g1))}}
	Clamp = &kernels.Function{Name: "clamp", Value: clamped, Integers: true, Scalars: []float64{-1, 1}, NonDifferentiable: []float64{-1, 1},
		Gradients: []*expr.Expr{expr.Where(x.Le(a).Or(x.Ge(b)), zero, g1)}}
	AddScalar = &kernels.Function{Name: "add_scalar", Value: x.Add(a), Integers: true, Domains: wide, Scalars: []float64{1.5}}
	SubScalar = &kernels.Function{Name: "sub_scalar", Value: x.Sub(a), Integers: true, Domains: wide, Scalars: []float64{1.5}}
	MulScalar = &kernels.Function{Name: "mul_scalar", Value: x.Mul(a), Integers: true, Domains: wide, Scalars: []float64{1.5}}
	DivScalar = &kernels.Function{Name: "div_scalar", Value: x.Div(a), Domains: wide, Scalars: []float64{1.5}}
	MaxScalar = &kernels.Function{Name: "max_scalar", Value: expr.Where(x.Lt(a), a, x), Integers: true, Scalars: []float64{0.5}, NonDifferentiable: []float64{0.5},
		Gradients: []*expr.Expr{expr.Where(x.Le(a), zero, g1)}}
	MinScalar = &kernels.Function{Name: "min_scalar", Value: expr.Where(x.Gt(a), a, x), Integers: true, Scalars: []float64{0.5}, NonDifferentiable: []float64{0.5},
		Gradients: []*expr.Expr{expr.Where(x.Ge(a), zero, g1)}}
	RSubScalar = &kernels.Function{Name: "rsub_scalar", Value: a.Sub(x), Integers: true, Domains: wide, Scalars: []float64{1.5}}
	RDivScalar = &kernels.Function{Name: "rdiv_scalar", Value: a.Div(x), Domains: [][2]float64{{0.1, 9}}, Scalars: []float64{1.5},
		Gradients: []*expr.Expr{y1.Neg().Div(x).Mul(g1)}}
)

// The element-wise functions of two tensors.
var (
	Add = &kernels.Function{Name: "add", Value: x.Add(w), Integers: true}
	Sub = &kernels.Function{Name: "sub", Value: x.Sub(w), Integers: true}
	Mul = &kernels.Function{Name: "mul", Value: x.Mul(w), Integers: true}
	Div = &kernels.Function{Name: "div", Value: x.Div(w), Domains: [][2]float64{{-3, 3}, {0.5, 3}},
		Gradients: []*expr.Expr{g2.Div(w), x.Neg().Div(w).Div(w).Mul(g2)}}
	Min = &kernels.Function{Name: "min", Value: x.Min(w), Integers: true}
	Max = &kernels.Function{Name: "max", Value: x.Max(w), Integers: true}
)

// Functions are all that give numbers of numbers; those with more operands than one come last. What
// takes masks is in Choices, what gives them in Conditions, and what is of integers alone in
// Bitwise.
var Functions = []*kernels.Function{Identity, Neg, Abs, Sign, Sqrt, Exp, Log, Square, ReLU, LeakyReLU, Sine, Tanh, Sigmoid, Softplus, Pow,
	Clamp, AddScalar, SubScalar, MulScalar, DivScalar, MaxScalar, MinScalar, RSubScalar, RDivScalar,
	Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh,
	Exp2, Expm1, Log2, Log10, Log1p, Rsqrt, Reciprocal, Erf, Erfc, ErfInv,
	Floor, Ceil, Round, Trunc, Frac, NanToNum,
	GELU, GELUTanh, SiLU, ELU, SELU, CELU, Softsign, Mish, Hardswish, Hardsigmoid, Hardtanh, ReLU6, LogSigmoid, SoftplusBeta,
	Hardshrink, Softshrink, Lgamma, Digamma, Logit,
	Add, Sub, Mul, Div, Min, Max,
	Atan2, Hypot, PowTensor, Copysign, Heaviside, Fmod, Remainder, FloorDivide, TruncDivide, LogAddExp, Xlogy, PReLU, Lerp,
	LerpTensor, ClampTensor}

var (
	wide     = [][2]float64{{-9, 9}}
	positive = [][2]float64{{0.01, 9}}

	atLeast = expr.Where(x.Lt(a), a, x)
	clamped = expr.Where(atLeast.Gt(b), b, atLeast)
)
