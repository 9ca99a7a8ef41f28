package autograd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestThirdGradientsAlongAxes: operations on lines have a gradient of the third order that central
// differences of the second agree with.
func TestThirdGradientsAlongAxes(t *testing.T) {
	for name, f := range map[string]func(x *node) *node{
		"Softmax":          func(x *node) *node { return x.Softmax(1) },
		"LogSoftmax":       func(x *node) *node { return x.LogSoftmax(0) },
		"Softmin":          func(x *node) *node { return x.Softmin(-1) },
		"CosineSimilarity": func(x *node) *node { return autograd.CosineSimilarity(x, x.T(), 1, 1e-8) },
	} {
		t.Run(name, func(t *testing.T) {
			d := devtest.CPU(t)
			data := []float64{0.3, -1.1, 0.7, 2, 0.4, -0.2, -0.9, 1.3, 0.8}
			c := autograd.Const(devtest.New(d, []float64{1, -2, 0.5, 0.3, 1.5, -1, 2, 0.1, -0.7}, 3, 3))
			second := func(third bool) []float64 {
				x := autograd.Param(devtest.New(d, data, 3, 3), "x")
				y := f(x)
				if y.Value().Rank() == 1 {
					y = y.Unsqueeze(1)
				}
				y = y.Square().Mul(c).Sum()
				for range 2 {
					y = grad(t, y, []*node{x}, autograd.GradOptions{CreateGraph: true})[0].Mul(c).Sum()
				}
				if third {
					return values(t, grad(t, y, []*node{x})[0].Value())
				}
				return values(t, y.Value())
			}
			got := second(true)
			for i, v := range data {
				const step = 1e-5
				data[i] = v + step
				up := second(false)[0]
				data[i] = v - step
				down := second(false)[0]
				data[i] = v
				if want := (up - down) / (2 * step); math.Abs(got[i]-want) > 1e-5*max(1, math.Abs(want)) {
					t.Errorf("element %d: %v, want %v", i, got[i], want)
				}
			}
		})
	}
}

// TestChangedAlongAxes: gradients of a softmax, of any order, read its result and not the operand, which may change.
func TestChangedAlongAxes(t *testing.T) {
	d := devtest.CPU(t)
	e := []float64{math.Exp(1), math.Exp(2), math.Exp(3)}
	sum := e[0] + e[1] + e[2]
	p, q, r := e[0]/sum, e[1]/sum, e[2]/sum
	for _, create := range []bool{false, true} {
		x := autograd.Param(devtest.New(d, []float64{1, 2, 3}), "x")
		z := x.AddScalar(1)
		y := z.Softmax(0).Mul(autograd.Const(devtest.New(d, []float64{1, 0, 0}))).Sum()
		z.Value().FillInPlace(7)
		g := grad(t, y, []*node{x}, autograd.GradOptions{CreateGraph: create})[0]
		near(t, "after a change", g.Value(), p*(1-p), -p*q, -p*r)
		if create {
			second := grad(t, g.Select(0, 0), []*node{x})[0]
			near(t, "the second, after a change", second.Value(), p*(1-p)*(1-2*p), -p*q*(1-2*p), -p*r*(1-2*p))
		}
	}
}

// TestManyGradientsAlongAxes: a gradient of high order has more operands than others, and one by some
// of the inputs is that part of the whole.
func TestManyGradientsAlongAxes(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(devtest.New(d, []float64{0.3, -1.1, 0.7, 2}, 2, 2), "x")
	w := autograd.Param(devtest.New(d, []float64{1, 0.5, -0.2, 0.4}, 2, 2), "w")
	y := autograd.CosineSimilarity(x, w, 1, 1e-8).Sum()
	both := grad(t, y, []*node{x, w}, autograd.GradOptions{Retain: true})
	for i, in := range []*node{x, w} {
		near(t, "by one input", grad(t, y, []*node{in}, autograd.GradOptions{Retain: true})[0].Value(), values(t, both[i].Value())...)
	}
	z := autograd.Param(devtest.New(d, []float64{0.3, -0.4, 0.1}), "z")
	y = z.Softmax(0).Square().Sum()
	for range 5 {
		y = grad(t, y, []*node{z}, autograd.GradOptions{CreateGraph: true})[0].Square().Sum()
	}
	if v := values(t, y.Value())[0]; math.IsNaN(v) || v == 0 {
		t.Errorf("a gradient of the fifth order has the square %v", v)
	}
}

// TestLinesOfNothing: what is computed of lines without elements does not depend on what lay in memory.
func TestLinesOfNothing(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, shape := range [][]int{{4, 0}, {2, 0, 40}} {
			var rest []*tensor.Tensor
			for n := range 90 {
				rest = append(rest, tensor.Full(d, 777, n+1))
			}
			for _, r := range rest {
				r.Free()
			}
			x := autograd.Param(tensor.Zeros(d, shape...), "x")
			y := autograd.CosineSimilarity(x, x, 1, 1e-8)
			got, err := y.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != 0 {
					t.Fatalf("%v: element %d is %v, want 0", shape, i, v)
				}
			}
			g, err := autograd.Grad(y.Sum(), []*autograd.Node{x}, autograd.GradOptions{CreateGraph: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := g[0].Value().Shape(); !slices.Equal(got, shape) {
				t.Errorf("the gradient is %v, want %v", got, shape)
			}
		}
	})
}
