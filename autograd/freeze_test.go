package autograd_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/tensor"
)

// TestFreeze: a frozen parameter is a constant in graphs, and has no gradient; in a flat buffer,
// too.
func TestFreeze(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, flat := range []bool{false, true} {
			x := autograd.Const(devtest.New(d, []float64{1, 2}, 1, 2))
			w, b := autograd.Param(devtest.New(d, []float64{3, 4}, 2, 1), "w"), param(d, 5)
			if err := x.MatMul(w).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			w.Freeze()
			w.Freeze() // is frozen already
			if w.Grad() != nil || w.NeedsGrad() || !w.IsParam() {
				t.Errorf("frozen: gradient %v, needs one %v, is a parameter %v", w.Grad(), w.NeedsGrad(), w.IsParam())
			}
			if flat {
				flatparams.New([]*node{w, b})
			}
			for _, forward := range []func() *node{
				func() *node { return x.MatMul(w).Add(b).Mul(w).Sum() },
				func() *node { return x.Linear(w, b, nil).Sum() },
			} {
				b.ZeroGrad()
				if err := forward().Backward(); err != nil {
					t.Fatal(err)
				}
				if w.Grad() != nil || b.Grad() == nil {
					t.Errorf("flat %v: gradients %v of the frozen, %v of the other", flat, w.Grad(), b.Grad())
				}
			}
			if y := w.Square().Sum(); y.NeedsGrad() {
				t.Error("what is computed from a frozen parameter needs a gradient")
			}
			fails(t, w.Sum().Backward(), autograd.ErrNotOnGraph, "frozen")
			_, err := autograd.Grad(w.Mul(b).Sum(), []*node{w})
			fails(t, err, autograd.ErrNotOnGraph, "is frozen")
			fails(t, tensor.Try(func() { w.Hook(func(g *node) *node { return g }) }), tensor.ErrValue, "is frozen")
			w.Unfreeze()
			w.Unfreeze()
			b.ZeroGrad()
			if err := x.MatMul(w).Add(b).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			want(t, "of the unfrozen", w.Grad(), 1, 2)
			want(t, "of the other", b.Grad(), 1)
		}
	})
}

// TestFreezeBetween: a graph gives a gradient to none that is frozen now or was when it was
// recorded.
func TestFreezeBetween(t *testing.T) {
	d := devtest.CPU(t)
	for _, flat := range []bool{false, true} {
		for _, create := range []bool{false, true} {
			p, q := autograd.Param(vec(d, 1, 2), "p"), autograd.Param(vec(d, 3, 4), "q")
			if flat {
				flatparams.New([]*node{p, q})
			}
			options := autograd.BackwardOptions{CreateGraph: create}
			p.Freeze()
			y := p.Mul(q).Add(p).Sum()
			p.Unfreeze()
			if err := y.Backward(options); err != nil {
				t.Fatal(err)
			}
			if p.Grad() != nil {
				t.Errorf("frozen when the graph was recorded, the gradient is %v", values(t, p.Grad()))
			}
			want(t, "of q", q.Grad(), 1, 2)
			q.ZeroGrad()
			y = p.Mul(q).Add(p).Sum()
			p.Freeze()
			if err := y.Backward(options); err != nil {
				t.Fatal(err)
			}
			if p.Grad() != nil {
				t.Errorf("frozen before Backward, the gradient is %v", values(t, p.Grad()))
			}
			want(t, "of q", q.Grad(), 1, 2)
			q.ZeroGrad()
			p.Unfreeze()
			p.Hook(func(g *node) *node { p.Freeze(); return nil })
			if err := p.Mul(q).Add(p).Sum().Backward(options); err != nil {
				t.Fatal(err)
			}
			if p.Grad() != nil || p.GradNode() != nil {
				t.Error("frozen by its hook, it has a gradient")
			}
			want(t, "of q", q.Grad(), 1, 2)
		}
	}
}

// TestFrozenName: a frozen parameter has its name in pictures, also one that it got later.
func TestFrozenName(t *testing.T) {
	d := devtest.CPU(t)
	p, q := autograd.Param(vec(d, 1), ""), param(d, 2)
	p.Freeze()
	p.Named("block.w")
	var b bytes.Buffer
	if err := autograd.WriteDOT(&b, p.Mul(q)); err != nil || p.Name() != "block.w" || !strings.Contains(b.String(), "block.w") {
		t.Errorf("the picture is %s (err %v)", b.String(), err)
	}
}

// TestFreezeMisuse: only parameters are frozen.
func TestFreezeMisuse(t *testing.T) {
	d := devtest.CPU(t)
	for _, n := range []*node{autograd.Const(vec(d, 1)).Named("c"), param(d, 1).Square().Named("c")} {
		fails(t, tensor.Try(n.Freeze), tensor.ErrValue, `node "c" is no parameter`)
		fails(t, tensor.Try(n.Unfreeze), tensor.ErrValue, `node "c" is no parameter`)
		if n.IsParam() {
			t.Error("it is no parameter")
		}
	}
}
