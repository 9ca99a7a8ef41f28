package fn

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Powers, logarithms, the error function and the gamma function.
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
	PowTensor = &kernels.Function{Name: "pow_tensor", Value: x.Pow(w), Integers: true, Domains: [][2]float64{{0.1, 3}, {-2, 2}}, Gradients: []*expr.Expr{
		expr.Where(w.Eq(zero).And(x.Lt(zero).Or(x.Gt(zero)).Not()), zero, w.Mul(x.Pow(w.Sub(one))).Mul(g2)),
		expr.Where(x.Eq(zero).And(w.Ge(zero)), zero, y2.Mul(x.Log()).Mul(g2))}}

	Logit = &kernels.Function{Name: "logit", Value: x.Div(one.Sub(x)).Log(), Domains: [][2]float64{{0.05, 0.95}},
		Gradients: []*expr.Expr{expr.Where(x.Lt(zero).Or(x.Gt(one)), expr.Const(math.NaN()), g1.Div(x.Mul(one.Sub(x))))}}
	// LogAddExp is ln(eˣ + eʷ) without overflow; what is equal may be infinite.
	LogAddExp = &kernels.Function{Name: "log_add_exp", Value: expr.Where(x.Eq(w), x.Add(expr.Const(math.Ln2)), x.Max(w).Add(x.Sub(w).Abs().Neg().Exp().Log1p())),
		Gradients: []*expr.Expr{x.Sub(w).Sigmoid().Mul(g2), w.Sub(x).Sigmoid().Mul(g2)}}
	// Xlogy is 0 where x is, whatever w is but NaN.
	Xlogy = &kernels.Function{Name: "xlogy", Value: expr.Where(x.Eq(zero).And(w.Eq(w)), zero, x.Mul(w.Log())), Domains: [][2]float64{{-3, 3}, {0.1, 9}},
		Gradients: []*expr.Expr{expr.Where(x.Eq(zero).And(w.Le(zero)), zero, w.Log().Mul(g2)), x.Div(w).Mul(g2)}}

	Lgamma  = &kernels.Function{Name: "lgamma", Value: logGamma, Domains: gammas, Gradients: []*expr.Expr{digamma.Mul(g1)}}
	Digamma = &kernels.Function{Name: "digamma", Value: digamma, Domains: gammas, Gradients: []*expr.Expr{trigamma.Mul(g1)}}
)

// The logarithm of the gamma function Γ and its derivatives ψ and ψ′, of z ≥ ½, which is x or 1 − x. The logarithm is by
// Lanczos' approximation, whose coefficients are positive: Boost's lanczos13m53, with e^g in them. The derivatives are by
// Stirling's series at z + 8 and the recurrence Γ(z + 1) = z·Γ(z): Abramowitz, Stegun, "Handbook of Mathematical
// Functions", 6.3.18 and 6.4.12. Reflections are 6.1.17, 6.3.7 and 6.4.7.
var (
	gammas    = [][2]float64{{0.2, 9}}
	reflected = x.Lt(half)
	above     = expr.Where(reflected, one.Sub(x), x)
	shifted   = above.Add(expr.Const(gammaShift))
	pi        = expr.Const(math.Pi)

	lanczosG     = 6.024680040776729583740234375
	lanczosAbove = []float64{56906521.91347156388, 103794043.1163445452, 86363131.28813859146, 43338889.32467613835, 14605578.08768506808,
		3481712.154980645909, 601859.6171681098787, 75999.29304014542650, 6955.999602515376140, 449.9445569063168119,
		19.51992788247617483, 0.5098416655656676188, 0.006061842346248906526}
	lanczosBelow = []float64{0, 39916800, 120543840, 150917976, 105258076, 45995730, 13339535, 2637558, 357423, 32670, 1925, 66, 1}
	lanczos      = inverseSeries(above, lanczosAbove).Div(inverseSeries(above, lanczosBelow))
	logAbove     = above.Sub(half).Mul(above.Add(expr.Const(lanczosG - 0.5)).Log().Sub(one)).Add(lanczos.Log())
	logGamma     = expr.Where(x.Le(zero).And(x.Floor().Eq(x)), expr.Const(math.Inf(1)),
		expr.Where(reflected, pi.Div(x.SinPi().Abs()).Log().Sub(logAbove), expr.Where(x.Eq(one).Or(x.Eq(two)), zero, logAbove)))

	psiAbove = logarithmic(shifted).Sub(inverses(above, 1))
	digamma  = expr.Where(x.Le(zero).And(x.Floor().Eq(x)), expr.Where(x.Eq(zero), one.Div(x).Neg(), expr.Const(math.NaN())),
		expr.Where(reflected, psiAbove.Sub(pi.Mul(x.CosPi()).Div(x.SinPi())), psiAbove))

	trigammaAbove = logarithmicSlope(shifted).Add(inverses(above, 2))
	trigamma      = expr.Where(reflected, pi.Div(x.SinPi()).Square().Sub(trigammaAbove), trigammaAbove)
)

const gammaShift = 8

// logarithmic is ψ(s) of a large s.
func logarithmic(s *expr.Expr) *expr.Expr {
	t := one.Div(s)
	rest := t.Square().Mul(series(t.Square(), 1.0/12, -1.0/120, 1.0/252, -1.0/240, 1.0/132, -691.0/32760, 1.0/12))
	return s.Log().Sub(half.Mul(t)).Sub(rest)
}

// logarithmicSlope is ψ′(s) of a large s.
func logarithmicSlope(s *expr.Expr) *expr.Expr {
	t := one.Div(s)
	rest := t.Square().Mul(t).Mul(series(t.Square(), 1.0/6, -1.0/30, 1.0/42, -1.0/30, 5.0/66, -691.0/2730, 7.0/6))
	return t.Add(half.Mul(t.Square())).Add(rest)
}

// series is the polynomial of t with coefficients, from that of 1 on.
func series(t *expr.Expr, coefficients ...float64) *expr.Expr {
	var sum *expr.Expr
	for _, c := range slices.Backward(coefficients) {
		if sum == nil {
			sum = expr.Const(c)
		} else {
			sum = sum.Mul(t).Add(expr.Const(c))
		}
	}
	return sum
}

// inverseSeries is the polynomial of z with coefficients, divided by its highest power of z: it does not overflow.
func inverseSeries(z *expr.Expr, coefficients []float64) *expr.Expr {
	reversed := slices.Clone(coefficients)
	slices.Reverse(reversed)
	return series(one.Div(z), reversed...)
}

// inverses is the sum of 1/z, 1/(z + 1), …, 1/(z + 7), or of their squares if power is 2.
func inverses(z *expr.Expr, power int) *expr.Expr {
	sum := zero
	for k := range gammaShift {
		each := one.Div(z.Add(expr.Const(float64(k))))
		if power == 2 {
			each = each.Square()
		}
		sum = sum.Add(each)
	}
	return sum
}
