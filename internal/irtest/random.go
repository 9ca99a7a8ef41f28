package irtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Random returns a program of a few inputs, reductions and results.
func Random(rng *rand.Rand) *ir.Program {
	b := ir.NewRows("random")
	list := []*expr.Expr{b.Input("X", ir.Outer, ir.N, ir.Inner)}
	if rng.IntN(2) == 0 {
		list = append(list, b.Input("Z", ir.Outer, ir.N, ir.Inner))
	}
	if rng.IntN(2) == 0 {
		list = append(list, b.Input("L", ir.Outer, ir.Inner))
	}
	if rng.IntN(2) == 0 {
		list = append(list, b.Input("C", ir.N))
	}
	if rng.IntN(2) == 0 {
		list = append(list, b.Number("a"), b.Length(ir.N).Mul(expr.Const(0.01)))
	}
	switch rng.IntN(6) {
	case 0, 1:
		list = append(list, b.Channels("W"))
	case 2:
		list = append(list, b.Sets("M"))
	}
	if rng.IntN(3) == 0 {
		list = append(list, b.Input("S"), expr.Index(ir.N).Float().Mul(expr.Const(0.01)))
	}
	inputs := slices.Clone(list)
	var label, number *expr.Expr // an index, and it as a number
	if rng.IntN(2) == 0 {
		switch rng.IntN(6) {
		case 0:
			label = b.Int("t")
		case 1:
			label = b.IntInput("T")
		default:
			label = b.IntInput("T", ir.Outer, ir.Inner)
		}
		number = label.Float()
		list = append(list, number, expr.Where(expr.Index(ir.N).Sub(label).Float().Eq(expr.Const(0)), list[0], expr.Const(0.25)))
	}
	one := func() *expr.Expr { return list[rng.IntN(len(list))] }
	formula := func() *expr.Expr {
		x := one()
		for range 1 + rng.IntN(3) {
			y := one()
			switch rng.IntN(9) {
			case 0:
				x = x.Add(y)
			case 1:
				x = x.Sub(y)
			case 2:
				x = y.Sub(x)
			case 3, 4:
				x = x.Mul(y)
			case 5:
				x = x.Div(y.Square().Add(expr.Const(1)))
			case 6:
				x = x.Tanh()
			case 7:
				x = x.Tanh().Mul(y)
			case 8:
				x = expr.Where(x.Lt(expr.Const(rng.Float64())), y, expr.Const(1)) // rounding makes no number one of these
			}
		}
		return x
	}
	lines := []*expr.Expr{expr.Const(3)}
	for range 1 + rng.IntN(4) {
		f := list[0].Mul(expr.Const(0.5)).Add(formula())
		if rng.IntN(3) == 0 {
			if f = list[0].Mul(formula()); rng.IntN(2) == 0 {
				f = list[0].Mul(inputs[rng.IntN(len(inputs))])
			}
		}
		var r *expr.Expr
		switch rng.IntN(6) {
		case 0:
			r = b.MaxNumber(f, ir.N)
		case 5: // the first index at which a condition holds
			first := expr.Where(f.Lt(expr.Const(rng.Float64())), expr.Index(ir.N), expr.Const(100))
			r = b.Min(first, ir.N).Float().Mul(expr.Const(0.01))
		case 4:
			if x := inputs[rng.IntN(len(inputs))]; b.Along(x) == ir.Element && rng.IntN(2) == 0 {
				f = x
			}
			r = b.First(f, ir.N)
			list = append(list, f.Sub(r))
		case 1:
			if label != nil {
				if x := inputs[rng.IntN(len(inputs))]; b.Along(x).Has(ir.N) && (b.Along(x) != ir.Set(ir.Outer, ir.N) || b.Along(label) == ir.Line) && rng.IntN(2) == 0 {
					f = x
				}
				r = b.Pick(f, label, ir.N)
				list = append(list, b.OneHot(r, label, ir.N), f.Sub(b.OneHot(r.Add(expr.Const(1)), label, ir.N)), expr.Where(number.Gt(expr.Const(1)).And(r.Lt(r)), f, expr.Const(0.5)),
					expr.Where(number.Lt(expr.Const(2)).Not(), f, r))
				break
			}
			fallthrough
		default:
			r = b.Sum(f, ir.N).Mul(expr.Const(0.1))
		}
		list, lines = append(list, r, f), append(lines, r)
	}
	for k := range 1 + rng.IntN(3) {
		f := formula().Add(one())
		if k == 0 {
			f = f.Add(list[0])
		}
		axes := []int{ir.Outer, ir.N, ir.Inner}
		switch line := lines[rng.IntN(len(lines))]; rng.IntN(6) {
		case 0:
			f = line
		case 1:
			f = line.Mul(expr.Const(0.5))
		}
		if b.Along(f).Has(ir.N) && rng.IntN(4) == 0 {
			b.SumOfLines(fmt.Sprintf("Y%d", k), f)
			continue
		}
		if b.Along(f)&^ir.Line == 0 && rng.IntN(2) == 0 {
			axes = []int{ir.Outer, ir.Inner}
		}
		b.Result(fmt.Sprintf("Y%d", k), f, axes...)
	}
	return b.Program()
}

// Near reports an error unless got is want, within a part of the largest of want or, where it is given, within
// the bound of element i.
func Near[E vec.Float](t *testing.T, what string, got []E, want []float64, off float64, bound ...func(i int) float64) {
	t.Helper()
	most := 1.0
	for _, w := range want {
		if !math.IsInf(w, 0) && !math.IsNaN(w) {
			most = max(most, math.Abs(w))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i, g := range got {
		if w := want[i]; math.Float64bits(w) != math.Float64bits(anything) && float64(g) != w && !(math.Abs(float64(g)-w) <= off*most) && !(math.IsNaN(w) && g != g) {
			if len(bound) > 0 && math.Abs(float64(g)-w) <= bound[0](i) {
				continue
			}
			t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
		}
	}
}
