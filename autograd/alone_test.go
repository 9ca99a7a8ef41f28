package autograd_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestGradientsAlone: gradients that views pass on are nobody else's: what is written to one is in
// no other, nor in the seed.
func TestGradientsAlone(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		value := func(shape ...int) *tensor.Tensor { return tensor.Full(d, 2, shape...) }
		x := autograd.Param(value(2, 3), "")
		y, seed := x.Reshape(6).Square(), value(6)
		before := d.Stats().Launches
		if err := y.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
			t.Fatal(err)
		}
		if n := d.Stats().Launches - before; n != 1 { // of Square
			t.Errorf("%d launches for the gradient through a Reshape, want 1", n)
		}
		for name, f := range map[string]func(x, y *autograd.Node) *autograd.Node{
			"of a sum":      func(x, y *autograd.Node) *autograd.Node { return x.Add(y) },
			"of shapes":     func(x, y *autograd.Node) *autograd.Node { return x.Reshape(6).Add(y.Reshape(6)).Reshape(2, 3) },
			"of transposes": func(x, y *autograd.Node) *autograd.Node { return x.T().Add(y.T()).T() },
			"of shapes alone": func(x, y *autograd.Node) *autograd.Node {
				return x.Reshape(3, 2).Square().Add(y.Reshape(3, 2)).Reshape(2, 3)
			},
			"of parts": func(x, y *autograd.Node) *autograd.Node {
				return autograd.Concat(0, x, y).Square().MulScalar(0.25).Slice(0, 1, 3)
			},
			"of one twice": func(x, y *autograd.Node) *autograd.Node { return x.Reshape(2, 3).Add(x).Add(y) },
		} {
			for _, retain := range []bool{false, true} {
				check := func(how string, run func(x, y *autograd.Node, seed *tensor.Tensor) (gx, gy *tensor.Tensor)) {
					x, y, seed := autograd.Param(value(2, 3), ""), autograd.Param(value(2, 3), ""), value(2, 3)
					gx, gy := run(x, y, seed)
					before := slices.Concat(values(t, gx), values(t, seed), values(t, x.Value()))
					gy.FillInPlace(77)
					if after := slices.Concat(values(t, gx), values(t, seed), values(t, x.Value())); !slices.Equal(after, before) {
						t.Errorf("%s, %s, retain %v: a write to one gradient changed others or the seed: %v, then %v", name, how, retain, before, after)
					}
					seed.FillInPlace(-5)
					if after := values(t, gx); !slices.Equal(after, before[:6]) {
						t.Errorf("%s, %s, retain %v: a write to the seed changed a gradient: %v, then %v", name, how, retain, before[:6], after)
					}
				}
				check("Grad", func(x, y *autograd.Node, seed *tensor.Tensor) (gx, gy *tensor.Tensor) {
					g, err := autograd.Grad(f(x, y), []*autograd.Node{x, y}, autograd.GradOptions{Seed: autograd.Const(seed), Retain: retain})
					if err != nil {
						t.Fatal(err)
					}
					return g[0].Value(), g[1].Value()
				})
				check("Backward", func(x, y *autograd.Node, seed *tensor.Tensor) (gx, gy *tensor.Tensor) {
					for range 2 { // the second adds to the first
						if err := f(x, y).Backward(autograd.BackwardOptions{Seed: seed, Retain: retain}); err != nil {
							t.Fatal(err)
						}
					}
					return x.Grad(), y.Grad()
				})
			}
		}
	})
}
