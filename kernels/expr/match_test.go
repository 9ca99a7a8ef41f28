package expr_test

import (
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestMatch: a formula is found whatever its operands are, if they are the same wherever they occur.
func TestMatch(t *testing.T) {
	x, w, s := expr.Input(0), expr.Input(1), expr.Param(0)
	silu := x.Mul(x.Neg().Exp().Add(expr.Const(1)))
	for _, c := range []struct {
		name     string
		of, p    *expr.Expr
		ok       bool
		operand0 string
	}{
		{"itself", silu, silu, true, "%0"},
		{"of a product", w.Mul(x).Mul(w.Mul(x).Neg().Exp().Add(expr.Const(1))), silu, true, "(%1 * %0)"},
		{"of two operands", w.Mul(x.Neg().Exp().Add(expr.Const(1))), silu, false, ""},
		{"another constant", x.Mul(x.Neg().Exp().Add(expr.Const(2))), silu, false, ""},
		{"a number that is a constant", x.Mul(expr.Const(3)), x.Mul(s), true, "%0"},
		{"a number that is an operand", x.Mul(w), x.Mul(s), false, ""},
	} {
		operands, _, ok := c.of.Match(c.p)
		if ok != c.ok || ok && operands[0].String() != c.operand0 {
			t.Errorf("%s: %v, %v", c.name, operands[0], ok)
		}
	}
}

// TestFormat: parts are printed otherwise, and formulas that are too deep are cut.
func TestFormat(t *testing.T) {
	x := expr.Input(0)
	y := x.Neg().Exp().Add(expr.Const(1))
	got := y.Mul(x).Format(func(part *expr.Expr, print func(*expr.Expr) string) string {
		if part == y {
			return "f(" + print(x) + ")"
		}
		return ""
	})
	if got != "(f(%0) * %0)" {
		t.Error(got)
	}
	deep := x
	for range 20 {
		deep = deep.Exp()
	}
	none := func(*expr.Expr, func(*expr.Expr) string) string { return "" }
	if got := deep.Format(none); got != "exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(…))))))))))))" {
		t.Error(got)
	}
	if got := y.Format(none); got != y.String() {
		t.Error(got)
	}
}
