package defs

import (
	"math"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Extreme is the maximum y of a line x, or of a part of one, or the minimum, and its first index: the
// least at which x is y or, where y is NaN, x is. Elements are floats or ints.
func Extreme(least, ints bool) *ir.Program {
	b := ir.NewRows(extremeName(least, ints))
	b.Parts()
	firstExtreme(b, least, ints, func() *expr.Expr { return expr.Index(ir.N) })
	return b.Program()
}

// ExtremeOfParts is Extreme of lines that were cut into parts of `chunk` elements: X has the extreme of
// each part, and J the index of that in the part.
func ExtremeOfParts(least, ints bool) *ir.Program {
	b := ir.NewRows(extremeName(least, ints) + "_of_parts")
	firstExtreme(b, least, ints, func() *expr.Expr {
		j := b.IntInput("J", ir.Outer, ir.N, ir.Inner)
		return expr.Index(ir.N).Mul(b.Int("chunk")).Add(j)
	})
	return b.Program()
}

func extremeName(least, ints bool) string {
	name := "first_max"
	if least {
		name = "first_min"
	}
	if ints {
		name += "_int"
	}
	return name
}

// firstExtreme adds the input X, its extreme Y along n, and I, the least index of what attains it.
func firstExtreme(b *ir.Builder, least, ints bool, index func() *expr.Expr) {
	fold, input := b.Max, b.Input
	if least {
		fold = b.Min
	}
	if ints {
		input = b.IntInput
	}
	x := input("X", ir.Outer, ir.N, ir.Inner)
	y := fold(x, ir.N)
	var attains *expr.Expr
	if ints {
		attains = x.Sub(y).Real().Eq(zero) // a difference is 0 of equal ones alone, also when it is rounded
	} else {
		attains = x.Eq(y).Or(x.IsNaN()) // where x is NaN, y is
	}
	b.Result("Y", y)
	b.Result("I", b.Min(expr.Where(attains, index(), expr.Const(math.MaxInt32)), ir.N))
}
