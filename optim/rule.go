package optim

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// A rule is an update as formulas, fused in one kernel: of the parameter, its gradient, its
// moments and scalars. Its results are the new parameter and the new moments, in the order of the
// operands.
var parameter, gradient = expr.Input(0), expr.Input(1)

// moment is moment k from before the step.
func moment(k int) *expr.Expr { return expr.Input(2 + k) }

// decays makes two forms of a rule: of x, for a weight decay of 0, and of x + decay·parameter, for others. 0·p of an
// infinite p is NaN, so a decay of 0 is left out.
func decays(name string, x, decay *expr.Expr,
	rule func(name string, x *expr.Expr) *kernels.FusedElementwise) [2]*kernels.FusedElementwise {
	return [2]*kernels.FusedElementwise{rule(name, x), rule(name+"_decay", x.Add(decay.Mul(parameter)))}
}

// faded is b·x + (1−b)·y, of scalars b and 1−b.
func faded(x, y, b, rest *expr.Expr) *expr.Expr { return b.Mul(x).Add(rest.Mul(y)) }

var signed, squares = [2]float64{-0.5, 0.5}, [2]float64{1, 2}

// newRule joins formulas. For tests there are values of the scalars, and where to draw the moments.
func newRule(name string, scalars []float64, moments [][2]float64, formulas ...*expr.Expr) *kernels.FusedElementwise {
	j := &kernels.FusedElementwise{Name: name}
	for k, f := range formulas {
		j.Functions = append(j.Functions, &kernels.Function{Name: fmt.Sprintf("%s_%d", name, k), Value: f, Scalars: scalars,
			Domains: append([][2]float64{{-1, 1}, {-1, 1}}, moments...)})
	}
	return j
}

// apply launches a rule on elements of the parameters and of the moments named.
func (b *base) apply(rule *kernels.FusedElementwise, from, to int, moments []string, scalars ...kernels.Arg) {
	whole := from == 0 && to == b.flat.Values.Len()
	run := func(flat *tensor.Tensor) *tensor.Tensor {
		if whole {
			return flat
		}
		return flat.Slice(0, from, to)
	}
	b.scalars = append(b.scalars[:0], scalars...)
	p, g := run(b.values), run(b.grads)
	b.results, b.operands = append(b.results[:0], p), append(b.operands[:0], p, g)
	for _, name := range moments {
		m := run(b.moments[name])
		b.results, b.operands = append(b.results, m), append(b.operands, m)
	}
	tensor.MapInto(rule, b.scalars, b.results, b.operands...)
	if !whole {
		for _, view := range append(b.results, g) {
			view.Free()
		}
	}
}
