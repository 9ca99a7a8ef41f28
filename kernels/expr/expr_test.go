package expr_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

var x, y, z = expr.Input(0), expr.Input(1), expr.Input(2)

// formulas use every primitive; with the range of operands where their derivatives are finite.
var formulas = map[string]struct {
	f      *expr.Expr
	lo, hi float64
}{
	"neg": {x.Neg(), -3, 3}, "abs": {x.Abs(), 0.1, 3}, "abs below 0": {x.Abs(), -3, -0.1}, "add": {x.Add(y), -3, 3}, "sub": {x.Sub(y), -3, 3},
	"mul": {x.Mul(y), -3, 3}, "div": {x.Div(y), 0.5, 3}, "fma": {x.FMA(y, z), -3, 3}, "min": {x.Min(y), -3, 3}, "max": {x.Max(y), -3, 3},
	"fmod": {x.Mul(expr.Const(5)).Fmod(y), 1.1, 1.4}, "copysign": {x.Copysign(y), 0.1, 3}, "copysign below 0": {x.Copysign(y), -3, -0.1}, "floor": {x.Floor().Mul(x), 0.1, 0.9}, "ceil": {x.Ceil().Mul(x), 0.1, 0.9},
	"trunc": {x.Trunc().Mul(x), 1.1, 1.9}, "round": {x.Round().Mul(x), 1.6, 2.4}, "sqrt": {x.Sqrt(), 0.1, 3}, "hypot": {x.Hypot(y), 0.1, 3},
	"pow": {x.Pow(y), 0.1, 3}, "exp": {x.Exp(), -3, 3}, "exp2": {x.Exp2(), -3, 3}, "expm1": {x.Expm1(), -3, 3}, "log": {x.Log(), 0.1, 3},
	"squares": {x.Pow(expr.Const(2)), 0.1, 3}, "cubes": {x.Pow(expr.Const(4).Sub(expr.Const(1))), 0.1, 3},
	"log2": {x.Log2(), 0.1, 3}, "log10": {x.Log10(), 0.1, 3}, "log1p": {x.Log1p(), -0.9, 3}, "sin": {x.Sin(), -3, 3}, "cos": {x.Cos(), -3, 3},
	"tan": {x.Tan(), -1, 1}, "asin": {x.Asin(), -0.9, 0.9}, "acos": {x.Acos(), -0.9, 0.9}, "atan": {x.Atan(), -3, 3}, "atan2": {x.Atan2(y), 0.1, 3},
	"sinh": {x.Sinh(), -3, 3}, "cosh": {x.Cosh(), -3, 3}, "tanh": {x.Tanh(), -3, 3}, "asinh": {x.Asinh(), -3, 3}, "acosh": {x.Acosh(), 1.1, 3},
	"atanh": {x.Atanh(), -0.9, 0.9}, "erf": {x.Erf(), -2, 2}, "erfc": {x.Erfc(), -2, 2}, "erfinv": {x.ErfInv(), -0.8, 0.8},
	"floordiv": {x.Mul(expr.Const(5)).FloorDiv(y).Mul(x), 1.1, 1.2},
	"sinpi":    {x.SinPi(), -3, 3}, "cospi": {x.CosPi(), -3, 3}, "ldexp": {x.Sin().Ldexp(expr.Const(-2)), -3, 3}, "int": {expr.Const(7).Quo(expr.Const(2)).Float().Mul(x), -3, 3},
	"sigmoid": {x.Mul(y).Sigmoid(), -3, 3}, "softplus": {x.Mul(y).Softplus(), -3, 3}, "sigmoid of −x": {x.Neg().Sigmoid(), -3, 3},
	"where lt": {expr.Where(x.Lt(y), x.Mul(z), y.Exp()), -3, 3}, "where le": {expr.Where(x.Le(y), x, z), -3, 3}, "where eq": {expr.Where(x.Eq(x), x.Square(), z), -3, 3},
	"where and": {expr.Where(x.Lt(y).And(y.Lt(z)), x.Mul(y), z), -3, 3}, "where or": {expr.Where(x.Gt(y).Or(y.Ge(z)), x.Mul(y), z), -3, 3},
	"where not": {expr.Where(x.Lt(y).Not(), x.Mul(y), z), -3, 3}, "twice": {x.Exp().Mul(x.Exp()).Add(x.Exp()), -2, 2},
	"mixed":                 {x.Exp().Mul(y.Tanh()).Sub(z.Square()).Div(x.Square().Add(expr.Const(1))), -2, 2},
	"squares beside others": {x.Abs().Square().Add(x.Floor().Add(x.Ceil())), 0.1, 0.9},
	"nested":                {expr.Where(x.Lt(expr.Const(0)), expr.Where(y.Lt(expr.Const(0)), z, x), x.Mul(y)).Sin(), -3, 3},
}

// formulaNames are in an order, so that tests draw the same operands each time.
var formulaNames = slices.Sorted(maps.Keys(formulas))

// TestDerivatives compares first and second derivatives with central differences.
func TestDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range formulaNames {
		c := formulas[name]
		f := expr.Compile(c.f)
		for i := range 3 {
			d := c.f.Derivative(i, expr.Const(1))
			df := expr.Compile(d)
			for range 20 {
				at := make([]float64, 3)
				for k := range at {
					at[k] = c.lo + (c.hi-c.lo)*rng.Float64()
				}
				near(t, name, f, df, at, i)
				for j := range 3 {
					near(t, name+" twice", df, expr.Compile(d.Derivative(j, expr.Const(1))), at, j)
				}
			}
		}
	}
}

func value(p *expr.Program, at []float64) float64 {
	return p.At(func(i int) float64 { return at[i] }, nil)
}

func near(t *testing.T, name string, f, df *expr.Program, at []float64, i int) {
	t.Helper()
	const h = 1e-5
	up, down := append([]float64{}, at...), append([]float64{}, at...)
	up[i] += h
	down[i] -= h
	want, got := (value(f, up)-value(f, down))/(2*h), value(df, at)
	if math.Abs(want-got) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("%s by operand %d at %v: %v, central differences have %v", name, i, at, got, want)
	}
}

// TestEval: blocks of any length give the values of single elements, in place too.
func TestEval(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range formulaNames {
		c := formulas[name]
		p := expr.Compile(c.f.Add(expr.Param(0).Mul(expr.Const(2))))
		e := expr.NewEval[float64](p)
		e.Scalars(func(int) float64 { return 0.25 })
		for _, n := range []int{0, 1, 7, expr.Block, p.Block()} {
			ops := make([][]float64, 3)
			for i := range ops {
				ops[i] = make([]float64, n)
				for k := range ops[i] {
					ops[i][k] = c.lo + (c.hi-c.lo)*rng.Float64()
				}
			}
			want := make([]float64, n)
			for k := range want {
				want[k] = p.At(func(i int) float64 { return ops[i][k] }, func(int) float64 { return 0.25 })
			}
			e.Run(ops[0], ops)
			for k := range want {
				if ops[0][k] != want[k] {
					t.Fatalf("%s of %d: element %d is %v, want %v", name, n, k, ops[0][k], want[k])
				}
			}
		}
	}
}

// TestLeaves: operands and scalars that cannot be are refused where they are made.
func TestLeaves(t *testing.T) {
	for want, leaf := range map[string]func() *expr.Expr{
		"expr: operand -1: they count from 0 to 255":  func() *expr.Expr { return expr.Input(-1) },
		"expr: scalar -1: they count from 0 to 255":   func() *expr.Expr { return expr.Param(-1) },
		"expr: operand 256: they count from 0 to 255": func() *expr.Expr { return expr.Input(256) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			leaf()
		}()
	}
}

// TestDerivativeOfTheChosen: what was not chosen adds nothing to a derivative, of any order, though
// its own is infinite or NaN: 0 times that would be NaN.
func TestDerivativeOfTheChosen(t *testing.T) {
	zero, one := expr.Const(0), expr.Const(1)
	above := x.Gt(zero)
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		f                 *expr.Expr
		at, first, second float64
	}{
		"x·log x at 0":         {expr.Where(above, x.Mul(x.Log()), zero), 0, 0, 0},
		"x·log x at 2":         {expr.Where(above, x.Mul(x.Log()), zero), 2, 1 + math.Ln2, 0.5},
		"otherwise":            {expr.Where(above.Not(), x, x.Log()), 0, 1, 0},
		"otherwise at 2":       {expr.Where(above.Not(), x, x.Log()), 2, 0.5, -0.25},
		"steps":                {expr.Where(above, x.Log().Sqrt().Exp(), x.Square()), -1, -2, 2},
		"nested":               {expr.Where(x.Lt(one), expr.Where(above, x.Sqrt().Exp(), x), x), 0, 1, 0},
		"nested, the inner":    {expr.Where(x.Lt(expr.Const(9)), expr.Where(above, x.Square(), x.Sqrt()), x.Log()), 3, 6, 2},
		"two choices, neither": {expr.Where(above, x.Sqrt(), x).Add(expr.Where(x.Gt(one), x.Sqrt().Mul(x), x)), 0, 2, 0},
		"both":                 {expr.Where(above, x.Exp(), x.Exp().Mul(expr.Const(2))), 0, 2, 2},
		"exp overflows":        {expr.Where(x.Lt(one), x.Exp(), x), 1e9, 1, 0},
		"of infinity":          {expr.Where(x.Lt(one), x.Mul(x), one), inf, 0, 0},
		"min":                  {x.Sqrt().Min(expr.Const(-1)), 0, 0, 0},
		"max":                  {x.Sqrt().Max(one), 0, 0, 0},
		"max, the other":       {one.Max(x.Mul(x)), 3, 6, 2},
		"max, abs of NaN":      {expr.Where(above.Not(), x, x.Log().Abs()), -1, 1, 0},
		"abs of a chosen NaN":  {expr.Where(above, x, expr.Const(math.NaN())).Abs(), -1, 0, 0},
	} {
		d := c.f.Derivative(0, one)
		for order, want := range map[*expr.Expr]float64{d: c.first, d.Derivative(0, one): c.second} {
			if got := value(expr.Compile(order), []float64{c.at, 0, 0}); !(math.Abs(got-want) < 1e-12) {
				t.Errorf("%s: %v, want %v, of the derivatives %v and %v", name, got, want, c.first, c.second)
			}
		}
	}
	shared := x.Sqrt() // chosen twice, by different conditions
	f := expr.Where(above, shared, x).Add(expr.Where(x.Gt(one), shared, x))
	for at, want := range map[float64]float64{0: 2, 0.25: 2, 4: 0.5} {
		if got := value(expr.Compile(f.Derivative(0, one)), []float64{at, 0, 0}); got != want {
			t.Errorf("of what two choices share: %v at %v, want %v", got, at, want)
		}
	}
}

// TestDerivativesAtEdges: derivatives where they are no quotient of differences, to the bit: at
// kinks, of operands that are 0, infinite or NaN, and rounded once.
func TestDerivativesAtEdges(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		f    *expr.Expr
		by   int
		at   []float64
		want float64
	}{
		"abs at 0":                       {x.Abs(), 0, []float64{0}, 0},
		"abs of NaN":                     {x.Abs(), 0, []float64{nan}, nan},
		"the difference of two infinite": {x.Exp().Sub(x.Exp()), 0, []float64{1e9}, nan},
		"0⁰ by its base":                 {x.Pow(y), 0, []float64{0, 0}, 0},
		"NaN⁰ by its base":               {x.Pow(y), 0, []float64{nan, 0}, 0},
		"NaN to a constant 0":            {x.Pow(expr.Const(0)), 0, []float64{nan}, 0},
		"a denormal to a constant 0":     {x.Pow(expr.Const(1).Sub(expr.Const(1))), 0, []float64{1e-320}, 0}, // 0·x⁻¹ is NaN
		"0² by its power":                {x.Pow(y), 1, []float64{0, 2}, 0},
	} {
		got := value(expr.Compile(c.f.Derivative(c.by, expr.Const(1))), c.at)
		if got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := value(expr.Compile(x.Log().Derivative(0, y)), []float64{49, 49}); got != 1 { // 49·(1/49) is less
		t.Errorf("a gradient times 1/x is %v, not the quotient", got)
	}
}

// TestFactor: a product with an operand has the other as its factor, unless that reads the operand,
// too.
func TestFactor(t *testing.T) {
	f := x.Exp()
	for _, c := range []struct{ product, want *expr.Expr }{
		{f.Mul(z), f}, {z.Mul(f), f}, {z.Mul(z), nil}, {f.Mul(z).Mul(z), nil}, {f.Add(z), nil}, {z, nil}, {f.Mul(y), nil},
	} {
		if got := c.product.Factor(2); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.product, got, c.want)
		}
	}
}
