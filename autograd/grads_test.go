package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestBackwardLeavesNoGradValues: what NoGrad computed belongs to no graph: Backward uses it,
// through as many graphs as there are, and does not free it.
func TestBackwardLeavesNoGradValues(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 2, 3)
	var h *node
	autograd.NoGrad(d, func() { h = p.Square() })
	for range 2 {
		if err := h.Mul(p).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "the gradient of two passes", p.Grad(), 8, 18)
	want(t, "the value", h.Value(), 4, 9)
	h.Free()
	fails(t, tensor.Try(func() { h.Value().Float64s() }), tensor.ErrFreed)
}

// TestInputWithoutGradient: a backward function need not deliver anything to an input. What that
// was computed from has no gradient then, unless it has one another way.
func TestInputWithoutGradient(t *testing.T) {
	d := devtest.CPU(t)
	second := func(x, y *node) *node { // y, and nothing of x
		return autograd.NewOp("second", y.Value().Copy(), []*node{x, y}, func(g *autograd.Node, in *autograd.Grads) { in.AccumulateNode(1, g) })
	}
	p, q := param(d, 1, 2), param(d, 3, 4)
	if err := second(p.Neg(), q.Neg()).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if p.Grad() != nil {
		t.Errorf("a gradient of %v from nowhere", values(t, p.Grad()))
	}
	want(t, "the other input", q.Grad(), -1, -1)
	x := p.Neg()
	if err := second(x, q).Add(x).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	want(t, "the input's other use", p.Grad(), -1, -1)
}
