package autograd_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestWalkInHook: a hook may walk another graph of the same parameters. Neither walk sees what the
// other has gathered so far, or was asked for, whether it ends well or not, and wherever on the way
// the hook is.
func TestWalkInHook(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		keep := autograd.GradOptions{Retain: true}
		for _, record := range []bool{false, true} {
			p, q := param(d, 2), param(d, 3)
			var sums []float64
			p.Hook(func(g *node) *node { sums = append(sums, values(t, g.Value())...); return nil })
			inner := p.MulScalar(100).Sum().Add(p.MulScalar(200).Sum())
			h := p.MulScalar(5)
			h.Hook(func(*node) *node {
				want(t, "in the hook", grad(t, inner, []*node{p}, keep)[0].Value(), 300)
				if _, err := autograd.Grad(inner, []*node{q}, keep); !errors.Is(err, autograd.ErrUnused) {
					t.Errorf("a gradient that is not there: %v", err)
				}
				return nil
			})
			parts := []*node{h.Sum(), p.MulScalar(3).Sum(), p.MulScalar(7).Sum()}
			for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}} {
				what := fmt.Sprintf("recorded %v, the hook at %v", record, order)
				y := parts[order[0]].Add(parts[order[1]]).Add(parts[order[2]])
				sums = nil
				g := grad(t, y, []*node{p}, autograd.GradOptions{Retain: true, CreateGraph: record})
				want(t, what+": gradient", g[0].Value(), 15)
				if err := y.Backward(autograd.BackwardOptions{Retain: true, CreateGraph: record}); err != nil {
					t.Fatal(err)
				}
				want(t, what+": gradient of the parameter", p.Grad(), 15)
				p.ZeroGrad()
				if !slices.Equal(sums, []float64{300, 15, 300, 15}) {
					t.Errorf("%s: the hook of the parameter saw %v", what, sums)
				}
			}
		}
	})
}

// TestWalkInHookAgain: however often a hook tries to walk what is walked, at any depth, that is an
// error; what was computed under NoGrad has no graph, and may be part of both.
func TestWalkInHookAgain(t *testing.T) {
	d := devtest.CPU(t)
	keep := autograd.BackwardOptions{Retain: true}
	p := param(d, 2)
	var c *node
	autograd.NoGrad(d, func() { c = p.Square() })
	var y *node
	again := func() {
		for range 3 {
			if err := y.Backward(keep); !errors.Is(err, tensor.ErrValue) {
				t.Errorf("a graph that is walked: %v", err)
			}
		}
	}
	hooked := p.MulScalar(10).Mul(c)
	hooked.Hook(func(*node) *node { again(); return nil })
	other := hooked.Sum()
	h := p.Mul(c)
	h.Hook(func(*node) *node {
		again()
		back(t, other, false)
		again()
		return nil
	})
	y = h.Sum()
	if err := y.Backward(keep); err != nil {
		t.Fatal(err)
	}
	want(t, "gradient", p.Grad(), 44)
}

// TestWalkInHookAfterPanic: what a walk that panicked has left behind is no part of the next, also
// in a hook.
func TestWalkInHookAfterPanic(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 2)
	a, b := p.MulScalar(3), p.MulScalar(5)
	remove := a.Hook(func(*node) *node { panic("no") })
	p.Hook(func(*node) *node { return nil })
	y := b.Add(a).Sum()
	func() {
		defer func() {
			if recover() != "no" {
				t.Error("the hook did not panic")
			}
		}()
		_ = y.Backward(autograd.BackwardOptions{Retain: true})
	}()
	remove()
	z := param(d, 1).Neg()
	z.Hook(func(*node) *node { back(t, y, false); return nil })
	back(t, z.Sum(), false)
	want(t, "gradient", p.Grad(), 8)
}
