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
	x := expr.X(0)
	for _, c := range []struct {
		name         string
		e            *expr.Expr
		x, from, max float64
	}{
		{"multiplied", x.Ldexp(expr.C(40)), 0x1p-130, 0x1p-90, 0x1p-89},
		{"a choice", expr.Where(expr.C(0).Lt(x), expr.C(2), expr.C(1)), 0x1p-130, 1, 1},
		{"of a normal one", expr.Where(expr.C(0).Lt(x), expr.C(2), expr.C(1)), 0x1p-126, 0, 0},
		{"zero", expr.Where(expr.C(0).Lt(x), expr.C(2), expr.C(1)), 0, 0, 0},
	} {
		_, bound := expr.Compile(c.e).Bound(func(int) (value, off float64) { return c.x, 0 }, nil, eps, least)
		if !(bound >= c.from && bound <= c.max) || math.IsNaN(bound) {
			t.Errorf("%s: the bound is %g, want %g to %g", c.name, bound, c.from, c.max)
		}
	}
}
