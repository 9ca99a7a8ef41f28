package defs

import (
	"math"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Extreme is the maximum y of a line x, or of a part of one, or the minimum, and its first index: the
// least at which x is y or, where y is NaN, x is.
func Extreme(least bool) *ir.Program {
	b := ir.NewRows(extremeName(least))
	b.Parts()
	firstExtreme(b, least, func() *expr.Expr { return expr.Index(ir.N) })
	return b.Program()
}

// ExtremeOfParts is Extreme of lines that were cut into parts of `chunk` elements: X has the extreme of
// each part, and J the index of that in the part.
func ExtremeOfParts(least bool) *ir.Program {
	b := ir.NewRows(extremeName(least) + "_of_parts")
	firstExtreme(b, least, func() *expr.Expr {
		j := b.IntInput("J", ir.Outer, ir.N, ir.Inner)
		return expr.Index(ir.N).Mul(b.Int("chunk")).Add(j)
	})
	return b.Program()
}

func extremeName(least bool) string {
	if least {
		return "first_min"
	}
	return "first_max"
}

// firstExtreme adds the input X, its extreme Y along n, and I, the least index of what attains it.
func firstExtreme(b *ir.Builder, least bool, index func() *expr.Expr) {
	fold := b.Max
	if least {
		fold = b.Min
	}
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	y := fold(x, ir.N)
	b.Result("Y", y)
	attains := x.Eq(y).Or(x.IsNaN()) // where x is NaN, y is
	b.Result("I", b.Min(expr.Where(attains, index(), expr.Const(math.MaxInt32)), ir.N))
}
