package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/cond"
	"github.com/clgrad/clgrad/internal/par"
)

// Unary is an element-wise function y = f(x) with up to two scalar parameters, and its gradient. The
// line of the same name in unary.cl is the device's form of it.
type Unary struct {
	Name string // of the line in unary.cl

	Fwd func(x, a, b float64) float64       // y
	Bwd func(x, y, g, a, b float64) float64 // dx, for the gradient g of y
	Int func(x, a, b int32) int32           // y of integers, wrapping around; nil: they are taken for reals

	UsesX, UsesY bool // what Bwd reads besides g: values that must outlive the forward pass

	ULP    int        // error a device is allowed in Fwd: OpenCL 1.2, section 7.4
	Domain [2]float64 // where tests sample x
	A, B   float64    // the parameters that tests use
	Kinks  []float64  // where f has no derivative at those parameters; tests stay away

	// hot and hotGrad are twins without a call per element, for functions of inner loops. They give the
	// bits that Fwd and Bwd give; a test holds them to it.
	hot, hotGrad Twin

	InPlace string // the name of the in-place form, for errors

	forward, gradient *Kernel
}

// The element-wise functions of one tensor. Values at kinks and ties are stated where the functions
// are exported, in package autograd.
var (
	Neg = &Unary{Name: "neg", Domain: [2]float64{-9, 9},
		Fwd: func(x, _, _ float64) float64 { return -x },
		Bwd: func(_, _, g, _, _ float64) float64 { return -g },
		Int: func(x, _, _ int32) int32 { return -x }}
	Abs = &Unary{Name: "abs", Domain: [2]float64{-9, 9}, Kinks: []float64{0}, UsesX: true,
		Fwd: func(x, _, _ float64) float64 { return math.Abs(x) },
		Bwd: func(x, _, g, _, _ float64) float64 { return cond.When(x > 0, g, cond.When(x < 0, -g, sign(x))) },
		Int: func(x, _, _ int32) int32 { return max(x, -x) }}
	Sign = &Unary{Name: "sign", Domain: [2]float64{-9, 9}, Kinks: []float64{0},
		Fwd: func(x, _, _ float64) float64 { return sign(x) },
		Bwd: func(_, _, _, _, _ float64) float64 { return 0 },
		Int: func(x, _, _ int32) int32 { return min(max(x, -1), 1) }}
	Sqrt = &Unary{Name: "sqrt", Domain: [2]float64{0.01, 9}, ULP: 3, UsesY: true,
		Fwd: func(x, _, _ float64) float64 { return math.Sqrt(x) },
		Bwd: func(_, y, g, _, _ float64) float64 { return g / (2 * y) }}
	Exp = &Unary{Name: "exp", Domain: [2]float64{-9, 9}, ULP: 3, UsesY: true,
		Fwd: func(x, _, _ float64) float64 { return math.Exp(x) },
		Bwd: func(_, y, g, _, _ float64) float64 { return y * g }}
	Log = &Unary{Name: "log", Domain: [2]float64{0.01, 9}, ULP: 3, UsesX: true,
		Fwd: func(x, _, _ float64) float64 { return math.Log(x) },
		Bwd: func(x, _, g, _, _ float64) float64 { return g / x }}
	Square = &Unary{Name: "square", Domain: [2]float64{-9, 9}, UsesX: true,
		Fwd: func(x, _, _ float64) float64 { return x * x },
		Bwd: func(x, _, g, _, _ float64) float64 { return 2 * x * g },
		Int: func(x, _, _ int32) int32 { return x * x }}
	ReLU = &Unary{Name: "relu", Domain: [2]float64{-9, 9}, Kinks: []float64{0}, UsesX: true,
		Fwd: func(x, _, _ float64) float64 { return cond.When(x < 0, 0, x) },
		Bwd: func(x, _, g, _, _ float64) float64 { return cond.When(x > 0, g, 0) },
		Int: func(x, _, _ int32) int32 { return max(x, 0) }}
	LeakyReLU = &Unary{Name: "leaky_relu", Domain: [2]float64{-9, 9}, A: 0.1, Kinks: []float64{0}, UsesX: true,
		Fwd: func(x, a, _ float64) float64 { return cond.When(x > 0, x, a*x) },
		Bwd: func(x, _, g, a, _ float64) float64 { return cond.When(x > 0, g, a*g) },
		hot: Twin{leakyTwin[float32], leakyTwin[float64]}, hotGrad: Twin{leakyGradTwin[float32], leakyGradTwin[float64]}}
	Sine = &Unary{Name: "sine", Domain: [2]float64{-9, 9}, A: 2, ULP: 12, UsesX: true, // Go is off by 11 at 6e38
		Fwd: func(x, a, _ float64) float64 { return math.Sin(a * x) },
		Bwd: func(x, _, g, a, _ float64) float64 { return a * math.Cos(a*x) * g },
		hot: Twin{sineTwin[float32], sineTwin[float64]}, hotGrad: Twin{sineGradTwin[float32], sineGradTwin[float64]}}
	Tanh = &Unary{Name: "tanh", Domain: [2]float64{-9, 9}, ULP: 5, UsesY: true,
		Fwd: func(x, _, _ float64) float64 { return math.Tanh(x) },
		Bwd: func(_, y, g, _, _ float64) float64 { return (1 - y*y) * g }}
	Sigmoid = &Unary{Name: "sigmoid", Domain: [2]float64{-9, 9}, ULP: 8, UsesY: true,
		Fwd: func(x, _, _ float64) float64 { return 1 / (1 + math.Exp(-x)) },
		Bwd: func(_, y, g, _, _ float64) float64 { return y * (1 - y) * g }}
	Softplus = &Unary{Name: "softplus", Domain: [2]float64{-9, 9}, ULP: 8, UsesX: true,
		Fwd: func(x, _, _ float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		Bwd: func(x, _, g, _, _ float64) float64 { return g / (1 + math.Exp(-x)) }}
	Pow = &Unary{Name: "pow", Domain: [2]float64{0.1, 4}, ULP: 16, A: 2.5, UsesX: true,
		Fwd: func(x, a, _ float64) float64 { return math.Pow(x, a) },
		Bwd: func(x, _, g, a, _ float64) float64 { return cond.When(a == 0, 0, a*math.Pow(x, a-1)*g) }}
	Clamp = &Unary{Name: "clamp", Domain: [2]float64{-3, 3}, A: -1, B: 2, Kinks: []float64{-1, 2}, UsesX: true,
		Fwd: func(x, a, b float64) float64 { return cond.When(cond.When(x < a, a, x) > b, b, cond.When(x < a, a, x)) },
		Bwd: func(x, _, g, a, b float64) float64 { return cond.When(x < a || x > b, 0, g) },
		Int: func(x, a, b int32) int32 { return min(max(x, a), b) }}
	AddScalar = &Unary{Name: "add_scalar", Domain: [2]float64{-9, 9}, A: 1.5,
		Fwd: func(x, a, _ float64) float64 { return x + a },
		Bwd: func(_, _, g, _, _ float64) float64 { return g },
		Int: func(x, a, _ int32) int32 { return x + a }}
	SubScalar = &Unary{Name: "sub_scalar", Domain: [2]float64{-9, 9}, A: 1.5,
		Fwd: func(x, a, _ float64) float64 { return x - a },
		Bwd: func(_, _, g, _, _ float64) float64 { return g },
		Int: func(x, a, _ int32) int32 { return x - a }}
	MulScalar = &Unary{Name: "mul_scalar", Domain: [2]float64{-9, 9}, A: 1.5,
		Fwd: func(x, a, _ float64) float64 { return x * a },
		Bwd: func(_, _, g, a, _ float64) float64 { return a * g },
		Int: func(x, a, _ int32) int32 { return x * a }}
	DivScalar = &Unary{Name: "div_scalar", Domain: [2]float64{-9, 9}, ULP: 3, A: 1.5,
		Fwd: func(x, a, _ float64) float64 { return x / a },
		Bwd: func(_, _, g, a, _ float64) float64 { return g / a }}
	MaxScalar = &Unary{Name: "max_scalar", Domain: [2]float64{-3, 3}, A: 0.5, Kinks: []float64{0.5}, UsesX: true,
		Fwd: func(x, a, _ float64) float64 { return cond.When(x < a, a, x) },
		Bwd: func(x, _, g, a, _ float64) float64 { return cond.When(x < a, 0, g) },
		Int: func(x, a, _ int32) int32 { return max(x, a) }}
	MinScalar = &Unary{Name: "min_scalar", Domain: [2]float64{-3, 3}, A: 0.5, Kinks: []float64{0.5}, UsesX: true,
		Fwd: func(x, a, _ float64) float64 { return cond.When(x > a, a, x) },
		Bwd: func(x, _, g, a, _ float64) float64 { return cond.When(x > a, 0, g) },
		Int: func(x, a, _ int32) int32 { return min(x, a) }}
	RSubScalar = &Unary{Name: "rsub_scalar", Domain: [2]float64{-9, 9}, A: 1.5,
		Fwd: func(x, a, _ float64) float64 { return a - x },
		Bwd: func(_, _, g, _, _ float64) float64 { return -g },
		Int: func(x, a, _ int32) int32 { return a - x }}
	RDivScalar = &Unary{Name: "rdiv_scalar", Domain: [2]float64{0.1, 9}, ULP: 3, A: 1.5, UsesX: true, UsesY: true,
		Fwd: func(x, a, _ float64) float64 { return a / x },
		Bwd: func(x, y, g, _, _ float64) float64 { return -y / x * g }}
)

// Unaries are all rows; a test holds them against the lines of unary.cl.
var Unaries = unaries(Neg, Abs, Sign, Sqrt, Exp, Log, Square, ReLU, LeakyReLU, Sine, Tanh, Sigmoid, Softplus, Pow,
	Clamp, AddScalar, SubScalar, MulScalar, DivScalar, MaxScalar, MinScalar, RSubScalar, RDivScalar)

// Forward is the kernel of y = f(x): x, y, n, a, b. It has forms for integers if there is an Int.
func (u *Unary) Forward() *Kernel { return u.forward }

// Gradient is the kernel of dx = f'(x)·g: x, y, g, dx, n, a, b.
func (u *Unary) Gradient() *Kernel { return u.gradient }

func unaries(rows ...*Unary) []*Unary {
	for _, u := range rows {
		u.InPlace = u.Name + "InPlace"
		u.forward = Elementwise(Typed(&Kernel{
			Name: "k_" + u.Name, File: "unary.cl", Grid: PerElement(1), Tol: ULP(u.ULP),
			Params: []Param{{"X", In}, {"Y", Out}, {"n", IntArg}, {"a", RealArg}, {"b", RealArg}},
			Twin:   u.hot.or(unaryTwin[float32](u), unaryTwin[float64](u)),
		}, "integer.cl", "k_int_"+u.Name, integerUnaryTwin[int32](u.Int), integerUnaryTwin[uint8](u.Int), Twin{}), u.inDomain)
		u.gradient = Elementwise(&Kernel{
			Name: "k_" + u.Name + "_grad", File: "unary.cl", Grid: PerElement(3),
			Params: []Param{{"X", In}, {"Y", In}, {"G", In}, {"D", Out}, {"n", IntArg}, {"a", RealArg}, {"b", RealArg}},
			Twin:   u.hotGrad.or(unaryGradTwin[float32](u), unaryGradTwin[float64](u)),
			// Terms such as 1 − y² cancel: their error is relative to the gradient they are multiplied by.
			Tol: Tolerance{ULP: 4 + u.ULP, Rel: 4, Scale: func(a []Arg) float64 { return MaxAbs(a, 2) }},
		}, func(ops []Operand) {
			u.inDomain(ops)
			ops[1] = Derived(ops[1].N, func(before []Arg, i int) float64 { return u.Fwd(before[0].At(i), u.A, u.B) })
		})
	}
	return rows
}

// inDomain sets x, the first operand, and the scalars, the last two, to where the tolerance is known to hold.
func (u *Unary) inDomain(ops []Operand) {
	ops[0].Lo, ops[0].Hi = u.Domain[0], u.Domain[1]
	SetNumbers(ops[len(ops)-2:], u.A, u.B)
}

// or returns t, or the given functions if t is not set.
func (t Twin) or(f32 func(Call[float32]), f64 func(Call[float64])) Twin {
	if t.F32 != nil {
		return t
	}
	return Twin{f32, f64}
}

func unaryTwin[T Real](u *Unary) func(Call[T]) {
	return func(c Call[T]) {
		x, y, a, b := c.Reals(0), c.Reals(1), float64(c.Real(3)), float64(c.Real(4))
		par.For(len(y), par.Grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = T(u.Fwd(float64(x[i]), a, b))
			}
		})
	}
}

func unaryGradTwin[T Real](u *Unary) func(Call[T]) {
	return func(c Call[T]) {
		x, y, g, d, a, b := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), float64(c.Real(5)), float64(c.Real(6))
		par.For(len(d), par.Grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				d[i] = T(u.Bwd(float64(x[i]), float64(y[i]), float64(g[i]), a, b))
			}
		})
	}
}

// sign returns −1, 0 or 1 with the sign of x; ±0 and NaN stay.
func sign(x float64) float64 { return cond.When(x > 0, 1, cond.When(x < 0, -1, x)) }
