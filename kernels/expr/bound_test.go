package expr_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestBoundOfDenormals: a device may take a denormal operand for 0, and what follows multiplies the
// difference; it may take either branch of a comparison with 0, too. A normal operand is exact.
func TestBoundOfDenormals(t *testing.T) {
	const eps, least = 0x1p-23, 0x1p-126
	x := expr.Input(0)
	for _, c := range []struct {
		name         string
		e            *expr.Expr
		x, from, max float64
	}{
		{"multiplied", x.Ldexp(expr.Const(40)), 0x1p-130, 0x1p-90, 0x1p-89},
		{"a choice", expr.Where(expr.Const(0).Lt(x), expr.Const(2), expr.Const(1)), 0x1p-130, 1, 1},
		{"of a normal one", expr.Where(expr.Const(0).Lt(x), expr.Const(2), expr.Const(1)), 0x1p-126, 0, 0},
		{"zero", expr.Where(expr.Const(0).Lt(x), expr.Const(2), expr.Const(1)), 0, 0, 0},
	} {
		_, bound := expr.Compile(c.e).Bound(func(int) (value, off float64) { return c.x, 0 }, nil, eps, least)
		if !(bound >= c.from && bound <= c.max) || math.IsNaN(bound) {
			t.Errorf("%s: the bound is %g, want %g to %g", c.name, bound, c.from, c.max)
		}
	}
}

// TestBoundOfErrors: the error of each argument adds to that of a sum, and a choice may go either
// way where the comparison may. An int is exact, and a number of as many digits as floats have; a scalar
// that a device may take for 0 is off by itself.
func TestBoundOfErrors(t *testing.T) {
	const eps, least = 0x1p-23, 0x1p-126
	x, y, two, one := expr.Input(0), expr.Input(1), expr.Const(2), expr.Const(1)
	for _, c := range []struct {
		name      string
		e         *expr.Expr
		x, y, off float64 // off: of both
		from, max float64
	}{
		{"a sum of both", x.Add(y), 1, 1, 0.25, 0.5, 1.01},
		{"where it falls more than it rises", x.Sqrt(), 0.25, 0, 0.25, 0.5, 0.51},
		{"a choice at its edge", expr.Where(x.Le(y), two, one), 1.25, 0.75, 0.25, 1, 1},
		{"beyond its edge", expr.Where(x.Le(y), two, one), 1.25, 0.75, 0.24, 0, 0},
		{"an int as a number", expr.IntParam(0).Float(), 0, 0, 0, 0, 0},
		{"an int that is no float", expr.IntParam(1).Float(), 0, 0, 0, 2, 8},
		{"a difference of equals", x.Sub(y), 3, 3, 0, 0, 0},
		{"whether a number is NaN", expr.Where(x.Ne(x), two, one), 1, 0, 0.5, 0, 0},
		{"a small scalar", expr.Param(0).Mul(expr.Const(0x1p100)), 0, 0, 0, 0x1p-30, 0x1p-29},
	} {
		operands := []float64{c.x, c.y}
		scalar := func(i int) float64 {
			if c.e.Ints() != nil {
				return []float64{3, 1<<24 + 1}[i]
			}
			return 0x1p-130
		}
		_, bound := expr.Compile(c.e).Bound(func(i int) (value, off float64) { return operands[i], c.off }, scalar, eps, least)
		if !(bound >= c.from && bound <= c.max) {
			t.Errorf("%s: the bound is %g, want %g to %g", c.name, bound, c.from, c.max)
		}
	}
}
