package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/tensor"
)

// TestPartGradients: the gradient of a part is 0 outside it, whatever the memory held before that
// it is written to: a parameter's own, a flat buffer's, or memory that is used again.
func TestPartGradients(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for what, c := range map[string]struct {
			part func(x *node) *node
			want []float64
		}{
			"x[1:, :2]": {func(x *node) *node { return x.Slice(0, 1, tensor.End).Slice(1, 0, 2) }, []float64{0, 0, 0, 1, 1, 0}},
			"x[:, ::2]": {func(x *node) *node { return x.Step(1, 2) }, []float64{1, 0, 1, 1, 0, 1}},
			"x[:, -1]":  {func(x *node) *node { return x.Select(1, -1) }, []float64{0, 0, 1, 0, 0, 1}},
			"x.T[1]":    {func(x *node) *node { return x.T().Select(0, 1) }, []float64{0, 1, 0, 0, 1, 0}},
			"x[2:]":     {func(x *node) *node { return x.Slice(0, 2, 2) }, []float64{0, 0, 0, 0, 0, 0}},
			"x[0, 1]":   {func(x *node) *node { return x.Select(0, 0).Select(0, 1) }, []float64{0, 1, 0, 0, 0, 0}},
			"x[::2] + x[:1]": {func(x *node) *node { return x.Step(0, 2).Add(x.Slice(0, 0, 1)) },
				[]float64{2, 2, 2, 0, 0, 0}},
		} {
			for where, place := range map[string]func(p *node){
				"alone": func(*node) {}, "in a flat buffer": func(p *node) { flatparams.New([]*node{p}) },
			} {
				p := autograd.Param(tensor.Full(d, 3, 2, 3), "p")
				place(p)
				for range 2 {
					if err := p.Exp().Sum().Backward(); err != nil { // fills the memory
						t.Fatal(err)
					}
					p.ZeroGrad()
					if err := c.part(p).Sum().Backward(); err != nil {
						t.Fatal(err)
					}
					want(t, what+" "+where, p.Grad(), c.want...)
					p.ZeroGrad()
				}
			}
		}
	})
}

// TestPartIsView: a part shares the storage of what it is of, so that a write through it is a
// change of the whole, which the gradients that need the whole find.
func TestPartIsView(t *testing.T) {
	d := devtest.CPU(t)
	for what, part := range map[string]func(x *node) *node{
		"Slice":  func(x *node) *node { return x.Slice(0, -1, tensor.End) },
		"Step":   func(x *node) *node { return x.Step(0, 2) },
		"Select": func(x *node) *node { return x.Select(0, 0) },
	} {
		p := param(d, 1, 2, 3)
		y := p.Square().Sum()
		some := part(p).Value()
		some.SetInPlace(tensor.Full(d, 9, some.Shape()...))
		fails(t, y.Backward(), autograd.ErrChanged, "Square")
		nines := 0
		for _, v := range values(t, p.Value()) {
			if v == 9 {
				nines++
			}
		}
		if nines != some.Len() {
			t.Errorf("%s: the parameter is %v after a write through the view", what, values(t, p.Value()))
		}
	}
}

// TestRecordedParts: the gradients of all parts of a node are one operation where gradients have gradients, beside
// what comes in another way, and in a walk by a definition.
func TestRecordedParts(t *testing.T) {
	d := devtest.CPU(t)
	sum := func(in []*node) *node { // Σ i·x[i]², the neighbours' products, and x
		x := in[0]
		y := x.Sum().Add(x.Slice(0, 0, 3).Mul(x.Slice(0, 1, 4)).Sum())
		for i, part := range x.Unbind(0) {
			y = y.Add(part.Square().MulScalar(float64(i)))
		}
		return y
	}
	x := param(d, 1, 2, 3, 5)
	for what, y := range map[string]*node{"a graph": sum([]*node{x}), "a definition": defined(x, x, sum)} {
		g := grad(t, y, []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
		want(t, what, g.Value(), 3, 9, 20, 34)
		graph, err := autograd.Graph(g)
		if err != nil {
			t.Fatal(err)
		}
		places := 0
		for _, n := range graph {
			if n.Node.Op() == "Place" {
				places++
			}
		}
		if places != 1 {
			t.Errorf("%s: %d operations place parts of the gradient", what, places)
		}
		want(t, what+", again", grad(t, g.Slice(0, 1, 3).Sum(), []*node{x})[0].Value(), 1, 3, 5, 1)
	}
}
