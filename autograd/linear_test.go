package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestLinearSlope: a slope that is negative or no number is refused of a leaky ReLU, and not looked at of others.
func TestLinearSlope(t *testing.T) {
	d := devtest.CPU(t)
	x, w := autograd.Const(tensor.Full(d, -1, 2, 3)), autograd.Param(tensor.Full(d, 1, 3, 2), "w")
	for _, slope := range []float64{-1, math.NaN(), math.Inf(-1)} {
		fails(t, tensor.Maybe(func() { x.Linear(w, nil, kernels.ActLeakyReLU, slope) }), tensor.ErrValue, "MatMul, Add and LeakyReLU")
		for _, f := range []kernels.Activation{kernels.ActNone, kernels.ActReLU, kernels.ActTanh, kernels.ActSigmoid} {
			if err := tensor.Maybe(func() { x.Linear(w, nil, f, slope) }); err != nil {
				t.Errorf("activation %v, slope %v: %v", f, slope, err)
			}
		}
	}
	want(t, "slope 0", x.Linear(w, nil, kernels.ActLeakyReLU, 0).Value().Sum(), 0)
	want(t, "slope 0.5", x.Linear(w, nil, kernels.ActLeakyReLU, 0.5).Value(), -1.5, -1.5, -1.5, -1.5)
}

// TestLinearIsItsParts: a layer has the values and the gradients of the product, the sum and the activation that it
// does in one, of sizes that are 0 too, in an arena and without, and when they are added to.
func TestLinearIsItsParts(t *testing.T) {
	d := devtest.CPU(t)
	parts := map[kernels.Activation]func(z *node) *node{
		kernels.ActNone: func(z *node) *node { return z }, kernels.ActReLU: func(z *node) *node { return z.LeakyReLU(0) },
		kernels.ActTanh: (*node).Tanh, kernels.ActSigmoid: (*node).Sigmoid,
		kernels.ActLeakyReLU: func(z *node) *node { return z.LeakyReLU(0.25) },
	}
	for _, s := range [][3]int{{4, 3, 2}, {1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}, {300, 3, 2}} {
		for f, after := range parts {
			for mode := range 4 {
				bias, arena := mode&1 != 0, mode&2 != 0
				parameters := func() (all []*node) {
					rng := tensor.NewRNG(3)
					all = []*node{autograd.Param(rng.Normal(d, 0, 1, s[0], s[1]), "x"), autograd.Param(rng.Normal(d, 0, 1, s[1], s[2]), "w")}
					if bias {
						all = append(all, autograd.Param(rng.Normal(d, 0, 1, s[2]), "b"))
					}
					if arena {
						autograd.NewArena(all)
					}
					return all
				}
				p, q := parameters(), parameters()
				for range 2 {
					var b *node
					z := q[0].MatMul(q[1])
					if bias {
						b = p[2]
						z = z.Add(q[2])
					}
					y, ref := p[0].Linear(p[1], b, f, 0.25), after(z)
					what := fmt.Sprintf("%v, activation %v, bias %v, arena %v", s, f, bias, arena)
					compareGradients(t, "the value of "+what, y.Value(), ref.Value(), 1e-12)
					g := tensor.NewRNG(4).Normal(d, 0, 1, s[0], s[2])
					for _, y := range []*node{y, ref} {
						if err := y.Backward(autograd.BackwardOptions{Seed: g}); err != nil {
							t.Fatal(err)
						}
					}
					for i := range p {
						compareGradients(t, p[i].Name()+" of "+what, p[i].Grad(), q[i].Grad(), 1e-12)
					}
				}
			}
		}
	}
}
