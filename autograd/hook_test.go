package autograd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// back walks an expression of hooked nodes, recording or not.
func back(t *testing.T, y *node, record bool) {
	t.Helper()
	if err := y.Backward(autograd.BackwardOptions{CreateGraph: record}); err != nil {
		t.Fatal(err)
	}
}

// TestHookSeesTheSum: a hook is called once for each walk, with the sum over all uses, of
// parameters and of values on the way, with a flat buffer and without, whatever of the forms a
// gradient is delivered in.
func TestHookSeesTheSum(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		start := []float64{0.5, -1, 0.25, 2, -0.5, 1, 0.75, -2, 1.5, 0.1, -0.3, 0.9}
		for name, f := range uses(d) {
			for _, flat := range []bool{false, true} {
				for _, record := range []bool{false, true} {
					p := autograd.Param(devtest.New(d, start, 4, 3), "p")
					if flat {
						flatparams.New([]*node{p})
					}
					loss := func() *node { return f(p).Sum().Add(f(p).Sum()).Add(p.Mul(p).Sum()) }
					back(t, loss(), false)
					plain := values(t, p.Grad())
					p.ZeroGrad()
					var seen [][]float64
					remove := p.Hook(func(g *node) *node {
						seen = append(seen, values(t, g.Value()))
						return nil
					})
					for range 2 {
						back(t, loss(), record)
					}
					what := fmt.Sprintf("%s, flat %v, recorded %v", name, flat, record)
					if len(seen) != 2 {
						t.Fatalf("%s: the hook was called %d times in two walks", what, len(seen))
					}
					for i, g := range values(t, p.Grad()) {
						if !close64(seen[0][i], plain[i], 1e-4) || !close64(seen[1][i], plain[i], 1e-4) || !close64(g, 2*plain[i], 2e-4) {
							t.Fatalf("%s: gradient %d was seen as %v and %v, is %v after two, want %v each", what, i, seen[0][i], seen[1][i], g, plain[i])
						}
					}
					remove()
					remove()
					back(t, loss(), record)
					if len(seen) != 2 {
						t.Errorf("%s: a hook that was removed is called", what)
					}
				}
			}
		}
	})
}

// TestHookReplaces: hooks replace the gradient, in their order, also in what Grad returns; other
// uses of the same gradient do not see it.
func TestHookReplaces(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, record := range []bool{false, true} {
			p, q := param(d, 1, 2), param(d, 3, 4)
			h := p.MulScalar(3)
			var order []string
			h.Hook(func(g *node) *node { order = append(order, "first"); return g.MulScalar(10) })
			h.Hook(func(g *node) *node { order = append(order, "second"); return nil })
			h.Hook(func(g *node) *node { order = append(order, "third"); return g.AddScalar(1) })
			h.Hook(func(g *node) *node { return g })
			q.Hook(func(g *node) *node { return g.Reshape(2, 1).Reshape(2) })
			p.Hook(func(g *node) *node { order = append(order, "leaf"); return g.Neg() })
			y := h.Add(q).Sum()
			g := grad(t, y, []*node{h, p, q}, autograd.GradOptions{CreateGraph: record, Retain: true})
			want(t, "∂y/∂h", g[0].Value(), 11, 11)
			want(t, "∂y/∂p", g[1].Value(), -33, -33)
			want(t, "∂y/∂q", g[2].Value(), 1, 1)
			back(t, y, record)
			want(t, "gradient of p", p.Grad(), -33, -33)
			want(t, "gradient of q", q.Grad(), 1, 1)
			if got := strings.Join(order, " "); got != "first second third leaf first second third leaf" {
				t.Errorf("order of hooks: %s", got)
			}
			want(t, "one, which the device keeps", tensorapi.Impl.One(d), 1)
		}
	})
}

// TestHookIsDifferentiated: with CreateGraph, what a hook computes is part of the graph.
func TestHookIsDifferentiated(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 2, 3)
	h := p.Square()
	h.Hook(func(g *node) *node { return g.Mul(p) }) // the gradient of p becomes 2p·p
	g := grad(t, h.Sum(), []*node{p}, autograd.GradOptions{CreateGraph: true})[0]
	want(t, "gradient", g.Value(), 8, 18)
	want(t, "its gradient", grad(t, g.Sum(), []*node{p})[0].Value(), 8, 12)
}

// TestHooksAddAndRemove: a hook that is added or removed during a walk counts from the next one on.
func TestHooksAddAndRemove(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 1)
	var calls []string
	var remove func()
	remove = p.Hook(func(*node) *node {
		calls = append(calls, "once")
		remove()
		p.Hook(func(*node) *node { calls = append(calls, "later"); return nil })
		return nil
	})
	p.Hook(func(*node) *node { calls = append(calls, "always"); return nil })
	for range 2 {
		back(t, p.Square(), false)
	}
	if got := strings.Join(calls, " "); got != "once always always later" {
		t.Errorf("calls: %s", got)
	}
}

// TestHookKeeps: what a hook computes is freed, with the collector off, unless it is kept.
func TestHookKeeps(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	var kept, dropped *node
	h := p.MulScalar(2)
	h.Hook(func(g *node) *node {
		kept, dropped = g.Copy().Retain(), g.Square()
		return dropped.Exp()
	})
	before := d.Stats().LiveBytes
	back(t, h.Sum(), false)
	want(t, "what was kept", kept.Value(), 1, 1)
	if !dropped.Value().Freed() {
		t.Error("what a hook computed on its way is not freed")
	}
	kept.Free()
	p.ZeroGrad()
	if live := d.Stats().LiveBytes; live >= before+64 {
		t.Errorf("%d bytes live before, %d after", before, live)
	}
}

// TestHookMisuse: what cannot be hooked, and what cannot replace a gradient.
func TestHookMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	same := func(g *node) *node { return g }
	p := param(d, 1, 2)
	fails(t, tensor.Try(func() { p.Hook(nil) }), tensor.ErrValue, "autograd: Hook: ", "function is nil")
	fails(t, tensor.Try(func() { autograd.Const(vec(d, 1)).Named("data").Hook(same) }), tensor.ErrValue, `"data"`, "needs no gradient")
	autograd.NoGrad(d, func() { p.Square().Hook(same)() })
	y := p.Square()
	back(t, y.Sum(), false)
	fails(t, tensor.Try(func() { y.Hook(same) }), autograd.ErrGraphFreed, `"Square"`)
	p.ZeroGrad()

	freed := vec(d, 1, 2)
	freed.Free()
	for _, c := range []struct {
		kind error
		say  string
		g    *tensor.Tensor
	}{
		{tensor.ErrShape, "[2] [3]", vec(d, 1, 2, 3)},
		{tensor.ErrShape, "[2] [1 2]", tensor.Zeros(d, 1, 2)},
		{tensor.ErrShape, "[2] []", tensor.Scalar(d, 1)},
		{tensor.ErrType, "int32", tensor.ZerosOf(d, tensor.Int32, 2)},
		{tensor.ErrType, "float16", tensor.ZerosOf(d, tensor.Float16, 2)},
		{tensor.ErrDevice, "on cpu", tensor.Zeros(other, 2)},
		{tensor.ErrFreed, "freed", freed},
	} {
		for _, record := range []bool{false, true} {
			for _, leaf := range []bool{false, true} {
				q := param(d, 1, 2).Named("q")
				h := q.MulScalar(3).Named("h")
				at := h
				if leaf {
					at = q
				}
				remove := at.Hook(func(*node) *node { return autograd.Const(c.g) })
				y := h.Sum()
				err := tensor.Try(func() { _ = y.Backward(autograd.BackwardOptions{CreateGraph: record, Retain: true}) })
				fails(t, err, c.kind, "autograd: hook of "+at.Name(), c.say)
				remove()
				q.ZeroGrad()
				back(t, y, false) // nothing of the walk that failed is left
				want(t, "gradient after a hook that failed", q.Grad(), 3, 3)
			}
		}
	}
}

// TestHookWalks: a hook may walk another graph, of shared parameters too, but not the one that it
// is called from.
func TestHookWalks(t *testing.T) {
	d := devtest.CPU(t)
	for _, record := range []bool{false, true} {
		p := param(d, 2)
		h, x := p.Square(), param(d, 5)
		other, shared, own := x.Pow(2), p.MulScalar(100), h.Exp()
		h.Hook(func(g *node) *node {
			inner := grad(t, other, []*node{x})[0]
			if err := shared.Backward(); err != nil {
				t.Error(err)
			}
			_, err := autograd.Grad(own, []*node{p})
			fails(t, err, tensor.ErrValue, "Grad of Exp", `"Square"`, "at this moment")
			return g.Mul(inner.Detach())
		})
		back(t, h.MulScalar(3).Sum(), record)
		if g := values(t, p.Grad())[0]; !close64(g, 100+3*10*4, 1e-9) {
			t.Errorf("recorded %v: the gradient is %v", record, g)
		}
	}
}

// TestHookOperationsRecordNothing: nor do operations in a hook, unless the walk records.
func TestHookOperationsRecordNothing(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(tensor.Full(d, 1, 2, 2), "p")
	for _, record := range []bool{false, true} {
		h := p.Linear(p, nil, fn.Tanh)
		h.Hook(func(g *node) *node {
			if made := g.Mul(p); made.NeedsGrad() != record {
				t.Errorf("recorded %v: an operation in a hook needs a gradient: %v", record, made.NeedsGrad())
			}
			return nil
		})
		back(t, h.Sum(), record)
	}
}
