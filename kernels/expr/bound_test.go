package expr_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestBoundOfDenormals: a device may take a denormal operand for 0, and what follows multiplies the difference; it may
// take either branch of a comparison with 0, too. A normal operand is exact.
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
