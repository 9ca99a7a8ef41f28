package kernels

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestFunctionMistakes: what is wrong with a declaration is said by name.
func TestFunctionMistakes(t *testing.T) {
	x, w, g1, g2 := expr.Input(0), expr.Input(1), expr.Input(2), expr.Input(3)
	a, zero := expr.Param(0), expr.Const(0)
	for want, f := range map[string]*Function{
		`function "own" has no formula: set Value`:               {Name: "own"},
		`function "a\nb": its name has a control character`:      {Name: "a\nb", Value: x},
		"its formula has 1 scalars":                              {Name: "own", Value: x.Mul(a)},
		`function "own": its formula has no value in integers`:   {Name: "own", Value: x.Exp(), Integers: true},
		`function "own" has 10 operands`:                         {Name: "own", Value: expr.Input(9)},
		`function "own": GradFromOutput is of y = expr.Input(1)`: {Name: "own", Value: x.Exp(), GradFromOutput: x.Mul(g1)},
		`function "bits": its formula is of integers`:            {Name: "bits", Value: x.BitAnd(w)},
		`function "mask" has 1 operands and 2 masks`:             {Name: "mask", Value: x.Exp(), Masks: 2},
		`function "many" has 1 operands and 2 gradients`:         {Name: "many", Value: x.Exp(), Gradients: []*expr.Expr{g1, g1}},
		`function "far": a gradient is a number`:                 {Name: "far", Value: x.Exp(), Gradients: []*expr.Expr{g2}},
		`function "true": a gradient is a number`:                {Name: "true", Value: x.Exp(), Gradients: []*expr.Expr{x.Lt(g1)}},
		`function "scaled": a gradient is a number`:              {Name: "scaled", Value: x.Exp(), Gradients: []*expr.Expr{a.Mul(g1)}},
		`function "value": a gradient is a number`:               {Name: "value", Value: x.Exp(), GradFromOutput: g2},
	} {
		if err := f.Err(); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, "s")) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
	if err := (&Function{Name: "flat", Value: x.Round(), GradFromOutput: zero}).Err(); err != nil {
		t.Error(err)
	}
}
