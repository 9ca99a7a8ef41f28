package autograd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// secondCases are gradCases, and every function of the tables in more forms than those have:
// without axes, without elements, of a non-contiguous view, and beside another use of its operand.
func secondCases(d tensor.Device) []gradCase {
	cases := gradCases(d)
	for _, c := range slices.Clone(cases) {
		if !slices.ContainsFunc(fn.Functions, func(f *kernels.Function) bool { return f.Name == c.op && f.Operands() == 1 }) {
			continue
		}
		f := func(x *node) *node { return c.f([]*node{x}) }
		cases = append(cases,
			gradCase{c.op, [][]int{{}}, c.low, c.high, c.f},
			gradCase{c.op, [][]int{{0, 4}}, c.low, c.high, c.f},
			gradCase{c.op, [][]int{{3, 4}}, c.low, c.high, func(in []*node) *node { return f(in[0].T().Step(0, 3)) }},
			gradCase{c.op, [][]int{{3}}, c.low, c.high, func(in []*node) *node { return f(in[0]).Mul(in[0].Add(f(in[0]))) }},
		)
	}
	for _, c := range slices.Clone(cases) {
		if slices.ContainsFunc(fn.Functions, func(f *kernels.Function) bool { return f.Name == c.op && f.Operands() == 2 }) && len(c.shapes) == 2 {
			for _, shapes := range [][][]int{{{}, {}}, {{0, 3}, {3}}, {{0, 3}, {}}, {{1}, {2, 0}}} {
				cases = append(cases, gradCase{c.op, shapes, c.low, c.high, c.f})
			}
			cases = append(cases, gradCase{c.op, [][]int{{4, 3}, {4, 1}}, c.low, c.high, func(in []*node) *node {
				return c.f([]*node{in[0].T(), in[1].Reshape(4)})
			}})
		}
	}
	for _, c := range layerCases {
		for _, shapes := range [][][]int{{{5, 3}, {3, 4}, {4}}, {{5, 3}, {3, 4}}, {{1, 1}, {1, 1}, {1}}, {{0, 3}, {3, 2}, {2}}, {{2, 0}, {0, 3}, {3}}} {
			cases = append(cases, gradCase{"Linear", shapes, -2, 2, func(in []*node) *node {
				var b *node
				if len(in) > 2 {
					b = in[2]
				}
				return in[0].Linear(in[1], b, c.f, c.scalars...)
			}})
		}
	}
	of := func(op string, shape []int, f func(x *node) *node) {
		cases = append(cases, gradCase{op, [][]int{shape}, -2, 2, func(in []*node) *node { return f(in[0]) }})
	}
	of("Sum", []int{0, 3}, func(x *node) *node { return x.Square().Sum(0) })
	of("Mean", []int{}, func(x *node) *node { return x.Square().Mean() })
	of("Max", []int{2, 3, 4}, func(x *node) *node { return x.Square().Transpose(1, 2, 0).Max(0, 2) })
	of("Min", []int{}, func(x *node) *node { return x.Square().Min() })
	of("SumTo", []int{3, 0}, func(x *node) *node { return x.Exp().SumTo(1, 0) })
	of("Slice", []int{4, 3}, func(x *node) *node { return x.T().Slice(1, -3, tensor.End).Square() })
	of("Slice", []int{4, 3}, func(x *node) *node { return x.Square().Slice(0, 2, 2) })
	of("Step", []int{5, 3}, func(x *node) *node { return x.Exp().Step(0, 2).Mul(x.Step(0, 2)) })
	of("Select", []int{4}, func(x *node) *node { return x.Square().Select(0, -1) })
	of("Reshape", []int{2, 3}, func(x *node) *node { return x.Square().T().Reshape(6) })
	of("Expand", []int{3, 1}, func(x *node) *node { return x.Square().Expand(2, 3, 4) })
	of("GatherRows", []int{3, 2}, func(x *node) *node { return x.Exp().GatherRows(devtest.New(d, []int32{1, 1, 0})) })
	of("GatherRows", []int{3, 2}, func(x *node) *node { return x.Exp().GatherRows(devtest.New(d, []int32{})) })
	of("Copy", []int{2, 3}, func(x *node) *node { return x.Square().T().Copy() })
	of("MatMul", []int{3, 3}, func(x *node) *node { return x.MatMul(x.T()).MatMul(x) })
	of("MatMul", []int{0, 3}, func(x *node) *node { return x.T().MatMul(x) })
	cases = append(cases,
		gradCase{"SquaredError", [][]int{{4, 3}, {3, 4}}, -2, 2, func(in []*node) *node { return in[0].SquaredError(in[1].T()) }},
		gradCase{"SquaredError", [][]int{{0, 3}, {0, 3}}, -2, 2, func(in []*node) *node { return in[0].SquaredError(in[1]) }},
		gradCase{"SquaredError", [][]int{{}}, -2, 2, func(in []*node) *node { return in[0].SquaredError(in[0].MulScalar(3)) }},
	)
	return cases
}

// TestSecondGradients holds the gradients of every operation's gradients against central
// differences in float64 of the gradients that its kernels compute, with respect to the operands
// and to the gradient from above. So it compares kernels with what follows from definitions, too.
// A driver builds kernels for every second derivative: on OpenCL devices make test-more runs one
// case of each operation.
func TestSecondGradients(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel != "cpu" && !devtest.More() {
			continue
		}
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, tensor.Options{DefaultType: tensor.Float64})
			seen := map[string]bool{}
			for _, c := range secondCases(d) {
				if seen[c.op] && sel != "cpu" {
					continue
				}
				seen[c.op] = true
				t.Run(fmt.Sprint(c.op, c.shapes), func(t *testing.T) { checkSecond(t, d, c) })
			}
		})
	}
}

// point is where a gradient check looks: the elements of parameters, the last of which is the
// gradient from above.
type point struct {
	d      tensor.Device
	shapes [][]int
	values [][]float64
}

func (p point) params() []*node {
	in := make([]*node, len(p.shapes))
	for i, s := range p.shapes {
		in[i] = autograd.Param(devtest.New(p.d, p.values[i], s...), fmt.Sprint("p", i))
	}
	return in
}

func draw(r *rand.Rand, n int, low, high float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = low + (high-low)*r.Float64()
	}
	return v
}

func checkSecond(t *testing.T, d tensor.Device, c gradCase) {
	r := rand.New(rand.NewPCG(2, c.seed()))
	at := point{d: d, shapes: slices.Clone(c.shapes)}
	for _, s := range c.shapes {
		at.values = append(at.values, draw(r, product(s), c.low, c.high))
	}
	y := c.f(at.params())
	at.shapes = append(at.shapes, slices.Clone(y.Shape()))
	at.values = append(at.values, draw(r, y.Len(), -1, 1))
	along := make([]*node, len(c.shapes)) // the direction in which gradients are looked at
	for i, s := range c.shapes {
		along[i] = autograd.Const(devtest.New(d, draw(r, product(s), -1, 1), s...))
	}
	gradients := func(in []*node, record bool) ([]*node, error) {
		last := len(in) - 1
		return autograd.Grad(c.f(in[:last]), in[:last], autograd.GradOptions{Seed: in[last], CreateGraph: record})
	}
	plain, err := gradients(at.params(), false)
	if err != nil {
		t.Fatal(err)
	}
	in := at.params()
	recorded, err := gradients(in, true)
	if err != nil {
		t.Fatal(err)
	}
	h := autograd.Const(tensor.Scalar(d, 0))
	for i, g := range recorded {
		compareGradients(t, fmt.Sprintf("gradient %d, recorded", i), g.Value(), plain[i].Value(), 1e-12)
		h = h.Add(g.Mul(along[i]).Sum())
	}
	second := make([]*node, len(in))
	if h.NeedsGrad() { // else the gradients are constants
		second = grad(t, h, in, autograd.GradOptions{AllowUnused: true})
	}
	dot := func() (s float64) {
		tensor.Scope(d, func() {
			grads, err := gradients(at.params(), false)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range grads {
				v := values(t, g.Value().Mul(along[i].Value()).Sum())
				s += v[0]
			}
		})
		return s
	}
	for i, p := range in {
		got := make([]float64, p.Len())
		if second[i] != nil {
			if fmt.Sprint(second[i].Shape()) != fmt.Sprint(p.Shape()) {
				t.Fatalf("gradient %d has shape %v, not %v", i, second[i].Shape(), p.Shape())
			}
			got = values(t, second[i].Value())
		}
		for j, x := range at.values[i] {
			at.values[i][j] = x + step
			up := dot()
			at.values[i][j] = x - step
			down := dot()
			at.values[i][j] = x
			want := (up - down) / (2 * step)
			if math.Abs(got[j]-want) > 5e-7*max(1, math.Abs(want)) {
				t.Fatalf("input %d element %d: second gradient %v, central difference %v", i, j, got[j], want)
			}
		}
	}
}

// TestThirdGradients differentiates three times, against central differences of the second
// gradients.
func TestThirdGradients(t *testing.T) {
	d := devtest.CPU(t)
	for name, f := range map[string]func(x *node) *node{
		"exp":      (*node).Exp,
		"sine":     func(x *node) *node { return x.Sine(2) },
		"tanh":     (*node).Tanh,
		"softplus": (*node).Softplus,
		"pow":      func(x *node) *node { return x.Pow(3.5) },
		"div":      func(x *node) *node { return x.Div(x.Square().AddScalar(1)) },
		"sqrt":     func(x *node) *node { return x.Sqrt().Mul(x.Log()) },
		"rdiv":     func(x *node) *node { return x.RDivScalar(2) },
		"product":  func(x *node) *node { m := x.Reshape(2, 2); return m.MatMul(m.T()).MatMul(m).Tanh() },
		"layer": func(x *node) *node {
			m := x.Reshape(2, 2)
			return m.Linear(m.T(), m.Select(0, 1), fn.Sigmoid)
		},
		"error": func(x *node) *node { return x.Square().SquaredError(x.Exp()) },
		"views": func(x *node) *node { m := x.Reshape(2, 2); return m.T().Step(0, 2).Exp().Mul(m.Slice(1, 1, 2).Mean()) },
		"max":   func(x *node) *node { return x.Pow(4).Max() },
	} {
		// nth is the gradient, n times, of the sum of what came before, which is f at first.
		nth := func(v []float64, n int) *node {
			x := param(d, v...)
			y := f(x)
			for range n {
				slope, err := autograd.Grad(y.Sum(), []*node{x}, autograd.GradOptions{CreateGraph: true})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				y = slope[0]
			}
			return y
		}
		at := []float64{0.7, 1.3, 0.4, 1.9}
		got := values(t, nth(at, 3).Value())
		for i, x := range at {
			at[i] = x + step
			up := values(t, nth(at, 2).Sum().Value())[0]
			at[i] = x - step
			down := values(t, nth(at, 2).Sum().Value())[0]
			at[i] = x
			if want := (up - down) / (2 * step); math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s: third derivative %d is %v, central difference %v", name, i, got[i], want)
			}
		}
	}
}

// TestThirdGradientsOfNorms: at 0, where a norm of magnitudes has a kink, gradients of each order are 0.
func TestThirdGradientsOfNorms(t *testing.T) {
	d := devtest.CPU(t)
	for _, p := range []float64{1, math.Inf(1)} {
		x, seed := param(d, 0, 0), param(d, 3)
		y := x.Norm(p, 0, tensor.Keepdims)
		g := grad(t, y, []*node{x}, autograd.GradOptions{Seed: seed, CreateGraph: true})[0]
		near(t, "first", g.Value(), 0, 0)
		g = grad(t, g.Sum(), []*node{seed}, autograd.GradOptions{CreateGraph: true})[0]
		near(t, "second", g.Value(), 0)
		near(t, "third", grad(t, g.Sum(), []*node{x})[0].Value(), 0, 0)
	}
}

// TestFirstGradientsStay: where gradients are to have gradients, those of softmax and attention are computed by the
// kernels that compute them otherwise: the bits are the same.
func TestFirstGradientsStay(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(5)
		p := func(shape ...int) *node { return autograd.Param(rng.Uniform(d, -1, 1, shape...), "p") }
		causal := tensor.AttentionOptions{Causal: true}
		mask := autograd.Const(rng.Uniform(d, -1, 1, 1, 9, 7))
		for name, c := range map[string]struct {
			in []*node
			f  func(in []*node) *node
		}{
			"Softmax":    {[]*node{p(5, 70)}, func(in []*node) *node { return in[0].Softmax(-1) }},
			"LogSoftmax": {[]*node{p(5, 70)}, func(in []*node) *node { return in[0].LogSoftmax(0) }},
			"attention": {[]*node{p(3, 9, 5), p(3, 7, 5), p(3, 7, 4)}, func(in []*node) *node {
				return in[0].ScaledDotProductAttention(in[1], in[2], mask)
			}},
			"causal": {[]*node{p(9, 4), p(9, 4), p(9, 4)}, func(in []*node) *node {
				return in[0].ScaledDotProductAttention(in[1], in[2], nil, causal)
			}},
		} {
			seed := autograd.Const(rng.Uniform(d, -1, 1, c.f(c.in).Shape()...))
			plain := grad(t, c.f(c.in), c.in, autograd.GradOptions{Seed: seed})
			recorded := grad(t, c.f(c.in), c.in, autograd.GradOptions{Seed: seed, CreateGraph: true})
			for i := range plain {
				if got, want := values(t, recorded[i].Value()), values(t, plain[i].Value()); !slices.Equal(got, want) {
					t.Errorf("%s: gradient %d has other bits than without CreateGraph", name, i)
				}
			}
		}
	})
}

// TestDeepSecondGradient: neither walk recurses. The function is x³ behind as many views as make
// the graph deep, and xⁿ at 1, multiplied out.
func TestDeepSecondGradient(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(tensor.Scalar(d, 2), "x")
	y := x
	for range 50000 {
		y = y.Reshape(1).Reshape()
	}
	g := grad(t, y.Mul(y).Mul(y), []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
	want(t, "gradient past views", g.Value(), 12)
	want(t, "second gradient past views", grad(t, g, []*node{x})[0].Value(), 12)

	const n = 1000
	x = autograd.Param(tensor.Scalar(d, 1), "x")
	y = x
	for range n - 1 {
		y = y.Mul(x)
	}
	if err := y.Backward(autograd.BackwardOptions{CreateGraph: true}); err != nil {
		t.Fatal(err)
	}
	want(t, "gradient", x.Grad(), n)
	slope := x.GradNode()
	x.ZeroGrad()
	if err := slope.Backward(); err != nil {
		t.Fatal(err)
	}
	want(t, "second gradient", x.Grad(), n*(n-1.0))
}
