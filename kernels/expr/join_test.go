package expr_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// TestJoin: the common functions and their gradients are one vector loop each.
func TestJoin(t *testing.T) {
	for _, f := range []*kernels.Function{fn.Sigmoid, fn.SiLU, fn.GELU, fn.GELUTanh, fn.Mish,
		fn.ELU} {
		for _, f := range []*kernels.Function{f, f.Gradient(0)} {
			if n := expr.Compile(f.Value).Loops(); n != 1 {
				t.Errorf("%s takes %d loops, want 1", f.Name, n)
			}
		}
	}
	for f, want := range map[*kernels.Function]int{fn.Tanh.Gradient(0): 1, fn.Softplus: 3, fn.Softplus.Gradient(0): 1,
		fn.LogSigmoid.Gradient(0): 1} {
		if n := expr.Compile(f.Value).Loops(); n != want {
			t.Errorf("%s takes %d loops, want %d", f.Name, n, want)
		}
	}
}

// TestJoinBits: with steps joined, a program gives the bits that its steps give: also where a step
// within a formula is needed elsewhere, or is a result, which keeps them apart, where two operands
// are one, and with scalars.
func TestJoinBits(t *testing.T) {
	if set, err := vec.Chosen(); set == nil || err != nil {
		t.Skip("no vector instructions")
	}
	testJoinBits[float32](t)
	testJoinBits[float64](t)
}

func testJoinBits[T float32 | float64](t *testing.T) {
	one := expr.Const(1)
	e := x.Neg().Exp()
	sum := one.Add(e)
	s := expr.Param(0)
	for name, c := range map[string]struct {
		formulas []*expr.Expr
		loops    int
	}{
		"sigmoid":         {[]*expr.Expr{one.Div(sum)}, 1},
		"silu":            {[]*expr.Expr{x.Div(sum)}, 1},
		"other numerator": {[]*expr.Expr{y.Div(sum)}, 1},
		"other constant":  {[]*expr.Expr{y.Div(expr.Const(2).Add(e))}, 4},
		"exp elsewhere":   {[]*expr.Expr{one.Div(sum).Mul(e)}, 5},
		"exp result":      {[]*expr.Expr{one.Div(sum), e}, 4},
		"exp above":       {[]*expr.Expr{e.Div(sum)}, 4},
		"two":             {[]*expr.Expr{one.Div(sum), x.Mul(expr.Const(3)).Neg().Softplus().Neg()}, 7},
		"in each other":   {[]*expr.Expr{x.Sigmoid().Sigmoid().Mul(y)}, 2},
		"same operands":   {[]*expr.Expr{x.Mul(one.Sub(x)).Mul(x)}, 1},
		"scalar":          {[]*expr.Expr{expr.Where(x.Le(expr.Const(0)), s.Mul(x.Expm1()), x)}, 1},
		"by a scalar":     {[]*expr.Expr{s.Mul(x).Softplus().Div(s)}, 5},
	} {
		p := expr.Compile(c.formulas...)
		if n := p.Loops(); n != c.loops {
			t.Errorf("%s takes %d loops, want %d", name, n, c.loops)
		}
		const n = expr.Block - 3
		in := [][]T{make([]T, n), make([]T, n)}
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			in[0][i], in[1][i] = T(r.NormFloat64()*5), T(r.NormFloat64())
		}
		copy(in[0], []T{0, T(math.Copysign(0, -1)), T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 200, -200, 1e-40})
		run := func(p *expr.Program) [][]T {
			e := expr.NewEval[T](p)
			e.Vectors(true)
			e.Scalars(func(int) T { return 0.7 })
			out := make([][]T, len(c.formulas))
			for i := range out {
				out[i] = make([]T, n)
			}
			e.RunAll(out, in, nil)
			return out
		}
		got, want := run(p), run(p.Apart())
		for k := range got {
			for i, v := range got[k] {
				if w := want[k][i]; math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
					t.Errorf("%s of %v: %v, want %v", name, in[0][i], v, w)
				}
			}
		}
	}
}
