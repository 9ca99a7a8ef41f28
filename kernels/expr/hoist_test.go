package expr_test

import (
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestHoist: what is the same along axis 1 is taken out of formulas, once, as the largest numbers
// that read something; ints and conditions stay, and so do constants. The formulas have the same
// values.
func TestHoist(t *testing.T) {
	row, column := expr.Index(0), expr.Index(1)
	position := row.Float().Add(expr.Const(0.5)).Div(expr.IntParam(0).Float()).Mul(expr.Param(1)) // the same in a row
	mean := expr.Input(0).Mul(expr.Const(3))                                                      // of an operand that is
	element := expr.Load(2, row.Add(expr.Const(1)))
	angle := expr.Where(column.Float().Eq(expr.Const(0)), position, mean).Ldexp(column)
	formulas := []*expr.Expr{
		angle.SinPi().Add(expr.Input(1)), // X(1) is another in each column
		angle.CosPi().Mul(element).Add(expr.Const(2).Sqrt()),
		position,
		expr.Input(1),
		expr.Load(2, row.Mul(expr.Const(3)).Add(column)),
	}
	rest, parts := expr.Hoist(3, func(axis int) bool { return axis == 0 }, func(i int) bool { return i == 0 }, formulas...)
	if len(parts) != 3 {
		t.Fatalf("%d parts, want those of position, mean and element", len(parts))
	}
	values := expr.Leaves{
		Scalar:  func(i int) float64 { return []float64{7, 1.25}[i] },
		Index:   func(axis int) int { return []int{4, 2}[axis] },
		Element: func(_, at int) float64 { return float64(at) / 8 },
		Operand: func(i int) (float64, float64) { return []float64{0.3, -0.7}[i], 0 },
	}
	for i, p := range parts {
		if p.Operands() != nil && len(p.Operands()) > 1 && p.Operands()[1] {
			t.Errorf("part %d reads what is another in each column", i)
		}
		if axes := p.Axes(); len(axes) > 1 {
			t.Errorf("part %d follows the columns", i)
		}
	}
	apart := values
	apart.Operand = func(i int) (float64, float64) {
		if i < 3 {
			return values.Operand(i)
		}
		return expr.Compile(parts[i-3]).BoundOf(0, values, 0, 0)
	}
	for i, f := range formulas {
		want, _ := expr.Compile(f).BoundOf(0, values, 0, 0)
		if got, _ := expr.Compile(rest[i]).BoundOf(0, apart, 0, 0); got != want {
			t.Errorf("formula %d is %v, and %v of its parts", i, want, got)
		}
	}
	if p := expr.Compile(rest[0]); p.Reads(0) || !p.Reads(1) || !p.Reads(3) || !p.Follows(1) || p.Follows(0) || p.Takes(0) || p.Takes(1) {
		t.Error("formula 0 still reads what its parts do, or no longer what they do not")
	}
	if u := expr.Compile(formulas[2]).Units(); u < 1 {
		t.Errorf("a quotient is off by %d units", u)
	}
}
