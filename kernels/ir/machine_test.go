package ir_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

func draw(p *ir.Program, rng *rand.Rand, outer, n, inner int) *naive {
	v := &naive{p: p, outer: outer, n: n, inner: inner, sets: 1, span: 1, reals: map[string][]float64{}, ints: map[string][]int32{}, numbers: map[string]float64{}}
	for _, in := range p.Values {
		size := 1
		for a, d := range []int{outer, n, inner} {
			if in.Channel {
				size = v.sets * n / v.span
			} else if in.Along.Has(a) {
				size *= d
			}
		}
		switch {
		case in.Kind == ir.Number:
			v.numbers[in.Name] = float64(float32(rng.Float64() + 0.5))
			if in.Int {
				v.numbers[in.Name] = float64(rng.IntN(5) - 1)
			}
		case in.Kind == ir.Input && in.Int:
			for range size {
				v.ints[in.Name] = append(v.ints[in.Name], int32(rng.IntN(n+2)-1))
			}
		case in.Kind == ir.Input:
			for range size {
				v.reals[in.Name] = append(v.reals[in.Name], float64(float32(rng.Float64()*4-2)))
			}
		}
	}
	return v
}

// compute runs a program on a machine.
func compute[T, E vec.Float](t *testing.T, v *naive, l *vec.Loops[T]) [][]E {
	rows, err := v.p.Rows()
	if err != nil {
		t.Fatal(err)
	}
	m := ir.NewMachine[T, E](rows, l)
	m.Sets, m.Span = v.sets, v.span
	for i, of := range v.p.Values {
		switch {
		case of.Kind == ir.Number:
			m.Numbers[i] = v.numbers[of.Name]
		case of.Kind == ir.Input && of.Int:
			m.Ints[i] = v.ints[of.Name]
		case of.Kind == ir.Input:
			for _, x := range v.reals[of.Name] {
				m.Inputs[i] = append(m.Inputs[i], E(x))
			}
		}
	}
	for k, r := range v.p.Results {
		size := 1
		for a, d := range []int{v.outer, v.n, v.inner} {
			if r.Along.Has(a) {
				size *= d
			}
		}
		m.Results[k] = make([]E, size)
	}
	units, _ := m.Units(v.outer, v.n, v.inner)
	for at := 0; at < units; at += 3 { // pieces of different sizes
		m.Run(v.n, v.inner, at, min(at+3, units))
	}
	return m.Results
}

// near reports an error unless got is want, within a part of the largest of want.
func near[E vec.Float](t *testing.T, what string, got []E, want []float64, off float64) {
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
		if w := want[i]; float64(g) != w && !(math.Abs(float64(g)-w) <= off*most) && !(math.IsNaN(w) && g != g) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
		}
	}
}

var sizes = [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 300, 1}, {3, 1, 2}, {2, 7, 3}, {2, 19, 17}, {1, 4, 40}, {2, 100, 16}, {0, 3, 1}, {2, 3, 0}}

// check compares the machines with what a program means.
func check(t *testing.T, p *ir.Program, rng *rand.Rand, size [3]int) {
	v := draw(p, rng, size[0], size[1], size[2])
	want := v.run()
	for k, r := range p.Results {
		name := fmt.Sprintf("%s%v %s", p.Name, size, r.Name)
		near(t, name+" in double precision", compute[float64, float64](t, v, nil)[k], want[k], 1e-12)
		near(t, name+" of single in double precision", compute[float64, float32](t, v, nil)[k], want[k], 1e-6)
		for _, set := range vec.Sets() {
			near(t, name+" "+set.String(), compute[float32, float32](t, v, vec.On[float32](set))[k], want[k], 3e-5)
			near(t, name+" "+set.String(), compute[float64, float64](t, v, vec.On[float64](set))[k], want[k], 1e-12)
		}
	}
}

func TestDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for form := range 8 {
		p := defs.Norm(defs.NormForm{Centred: form&1 != 0, Weights: form&2 != 0, Biases: form&4 != 0})
		for _, size := range [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 300, 1}} {
			check(t, p, rng, size)
		}
	}
	for form := range 16 {
		f := defs.EntropyForm{Weights: form&1 != 0, Logits: form&2 != 0, Smoothing: form&4 != 0, Each: form&8 != 0}
		for _, size := range [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 7, 3}, {2, 9, 17}} {
			if !f.Each {
				check(t, defs.CrossEntropy(f), rng, size)
			}
			check(t, defs.CrossEntropyGrad(f), rng, size)
		}
	}
	for _, p := range []*ir.Program{defs.Softmax, defs.LogSoftmax, defs.SoftmaxGrad, defs.LogSoftmaxGrad, defs.Softmax.Gradient("X"), defs.LogSoftmax.Gradient("X")} {
		for _, size := range sizes {
			check(t, p, rng, size)
		}
	}
}

// TestRandomPrograms: random row programs are computed as they are written.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := random(rng)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for range 3 {
				check(t, p, rng, sizes[rng.IntN(len(sizes))])
			}
			if t.Failed() {
				t.Log(p)
			}
		})
	}
}

// random returns a program of a few inputs, reductions and results.
func random(rng *rand.Rand) *ir.Program {
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
	var label *expr.Expr
	if rng.IntN(2) == 0 {
		label = b.IntInput("T", ir.Outer, ir.Inner)
		list = append(list, label.Real(), expr.Where(expr.Index(ir.N).Real().Eq(label.Real()), list[0], expr.Const(0.25)))
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
				x = expr.Where(x.Lt(y), y, expr.Const(1))
			}
		}
		return x
	}
	for range 1 + rng.IntN(4) {
		f := list[0].Mul(expr.Const(0.5)).Add(formula())
		if rng.IntN(3) == 0 {
			f = list[0].Mul(formula())
		}
		var r *expr.Expr
		switch rng.IntN(4) {
		case 0:
			r = b.Max(f, ir.N)
		case 1:
			if label != nil {
				r = b.Pick(f, label, ir.N)
				list = append(list, b.OneHot(r, label, ir.N), f.Sub(b.OneHot(r.Add(expr.Const(1)), label, ir.N)), expr.Where(label.Real().Gt(expr.Const(1)).And(r.Lt(r)), f, expr.Const(0.5)),
					expr.Where(label.Real().Lt(expr.Const(2)).Not(), f, r))
				break
			}
			fallthrough
		default:
			r = b.Sum(f, ir.N).Mul(expr.Const(0.1))
		}
		list = append(list, r, f)
	}
	for k := range 1 + rng.IntN(3) {
		f := formula().Add(one())
		if k == 0 {
			f = f.Add(list[0])
		}
		b.Result(fmt.Sprintf("Y%d", k), f)
	}
	return b.Program()
}

// TestGradients: the gradient programs of the definitions are those that are derived.
func TestGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ forward, gradient *ir.Program }{{defs.Softmax, defs.SoftmaxGrad}, {defs.LogSoftmax, defs.LogSoftmaxGrad}} {
		derived := c.forward.Gradient("X")
		v := draw(derived, rng, 3, 7, 2)
		want := v.run()[0]
		y := *v
		y.p = c.forward
		given := *v
		given.p = c.gradient
		given.reals = map[string][]float64{"Y": y.run()[0], "G": v.reals["GY"]}
		near(t, c.gradient.Name, given.run()[0], want, 1e-13)
	}
}

// TestPrinted: a program prints as the package's documentation has it.
func TestPrinted(t *testing.T) {
	const want = `softmax [outer n inner]
%0 = input X [outer n inner]
%1 = max over n of %0 [outer inner]
%2 = sum over n of exp((%0 - %1)) [outer inner]
Y [outer n inner] = (exp((%0 - %1)) * (1 / %2))
`
	if got := defs.Softmax.String(); got != want {
		t.Errorf("it prints\n%swant\n%s", got, want)
	}
}
