package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// uses are operations on one value h [4, 3], which leave its gradient in every form there is: made
// for it, shared with others, with gaps, repeated, or computed into place.
func uses(d tensor.Device) map[string]func(h *node) *node {
	w := autograd.Const(devtest.New(d, []float64{1, -2, 3, 0.5, 4, -1}, 3, 2))
	v := autograd.Const(devtest.New(d, []float64{2, 1, -1, 3, 0.5, 2, 1, -3}, 2, 4))
	c := autograd.Const(devtest.New(d, []float64{3, -1, 2}))
	return map[string]func(h *node) *node{
		"MatMul":       func(h *node) *node { return h.MatMul(w) },
		"MatMul right": func(h *node) *node { return v.MatMul(h) },
		"Linear":       func(h *node) *node { return h.Linear(w, nil, fn.Tanh) },
		"Linear bias":  func(h *node) *node { return w.T().Linear(h.T(), nil, nil) },
		"Slice rows":   func(h *node) *node { return h.Slice(0, 1, 3) },
		"Slice":        func(h *node) *node { return h.Slice(1, 0, 2) },
		"Copy":         func(h *node) *node { return h.Copy() },
		"SumTo":        func(h *node) *node { return h.SumTo(4, 1) },
		"Step":         func(h *node) *node { return h.Step(1, 2) },
		"Select":       func(h *node) *node { return h.Select(1, -1).Exp() },
		"Select row":   func(h *node) *node { return h.Select(0, 2) },
		"Slice none":   func(h *node) *node { return h.Slice(1, 3, 3) },
		"Transpose":    func(h *node) *node { return h.T().Square() },
		"Reshape":      func(h *node) *node { return h.Reshape(2, -1).Exp() },
		"Expand":       func(h *node) *node { return h.Expand(2, 4, 3) },
		"add":          func(h *node) *node { return h.Add(c) },
		"mul":          func(h *node) *node { return h.Mul(c) },
		"mul itself":   func(h *node) *node { return h.Mul(h) },
		"Sum":          func(h *node) *node { return h.Sum(0).Square() },
		"Max":          func(h *node) *node { return h.Max(1) },
		"Min":          func(h *node) *node { return h.Min(1, tensor.Keepdims) },
		"Max of view":  func(h *node) *node { return h.Reshape(2, 2, 3).Max(0, 2) },
		"GatherRows":   func(h *node) *node { return h.GatherRows(devtest.New(d, []int32{3, 3, 0})) },
	}
}

// TestOrderOfUses: the gradient of a value that two operations use is the sum of what each alone
// gives, whichever comes first, for a value on the way, a parameter, and a parameter with an
// optimizer's flat buffer.
func TestOrderOfUses(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		all := uses(d)
		start := []float64{0.5, -1, 0.25, 2, -0.5, 1, 0.75, -2, 1.5, 0.1, -0.3, 0.9}
		for form, value := range map[string]func(p *node) *node{
			"on the way": (*node).Tanh,
			"parameter":  func(p *node) *node { return p },
			"in a flat buffer": func(p *node) *node {
				flatparams.New([]*node{p})
				return p
			},
		} {
			gradient := func(names ...string) []float64 {
				p := autograd.Param(devtest.New(d, start, 4, 3), "p")
				h := value(p)
				loss := autograd.Const(tensor.Scalar(d, 0))
				for _, name := range names {
					loss = loss.Add(all[name](h).Sum())
				}
				if err := tensor.Try(func() {
					if err := loss.Backward(); err != nil {
						t.Fatalf("%s: %v: %v", form, names, err)
					}
				}); err != nil {
					t.Fatalf("%s: %v: %v", form, names, err)
				}
				return values(t, p.Grad())
			}
			alone := map[string][]float64{}
			for name := range all {
				alone[name] = gradient(name)
			}
			for first := range all {
				for second := range all {
					got := gradient(first, second)
					for i, g := range got {
						if sum := alone[first][i] + alone[second][i]; math.Abs(g-sum) > 1e-4*max(1, math.Abs(sum)) {
							t.Fatalf("%s: %s, then %s: gradient %d is %v, alone they give %v", form, first, second, i, g, sum)
						}
					}
				}
			}
		}
	})
}

// TestSharedGradient: a gradient that passes through to several inputs as one tensor stays what it
// is for each, when one of them is added to afterwards.
func TestSharedGradient(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, share := range map[string]func(a, b *node) *node{
			"add":               (*node).Add,
			"add of a reshaped": func(a, b *node) *node { return a.Add(b.Reshape(2, 1).Reshape(2)) },
			"sub":               func(a, b *node) *node { return a.Sub(b.Neg()) },
		} {
			p, q := param(d, 1, 2), param(d, 3, 4)
			a, b := p.MulScalar(2), q.MulScalar(3)
			// The last use is the first whose gradient arrives, without gaps: the others are added
			// to it.
			loss := a.Mul(a).Sum().Add(b.MulScalar(5).Sum()).Add(share(a, b).MulScalar(1).Sum())
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			want(t, fmt.Sprint(name, ": gradient of p"), p.Grad(), 2*(4+1), 2*(8+1))
			want(t, fmt.Sprint(name, ": gradient of q"), q.Grad(), 3*(5+1), 3*(5+1))
			// Parameters that share a gradient, which the next pass adds to.
			p, q = param(d, 1, 2), param(d, 3, 4)
			for i := range 3 {
				if err := share(p, q).MulScalar(1).Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				want(t, fmt.Sprint(name, ": gradient of a parameter p"), p.Grad(), float64(i+1), float64(i+1))
				want(t, fmt.Sprint(name, ": gradient of a parameter q"), q.Grad(), float64(i+1), float64(i+1))
			}
		}
	})
}

// TestScalarParameter: a parameter may be the root; its gradient is the seed.
func TestScalarParameter(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		p, v := autograd.Param(tensor.Scalar(d, 3), "p"), param(d, 1, 2)
		for i := range 2 {
			if err := p.Backward(); err != nil {
				t.Fatal(err)
			}
			want(t, "gradient of itself", p.Grad(), float64(i+1))
		}
		seed := vec(d, 5, 7)
		for i := range 2 {
			if err := v.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
				t.Fatal(err)
			}
			want(t, "gradient, seeded", v.Grad(), 5*float64(i+1), 7*float64(i+1))
		}
		want(t, "the seed", seed, 5, 7)
		buffer := flatparams.New([]*node{p})
		p.ZeroGrad()
		if err := p.Backward(); err != nil {
			t.Fatal(err)
		}
		want(t, "gradient in a flat buffer", p.Grad(), 1)
		buffer.Free()
		want(t, "one, which the device keeps", tensorapi.Impl.One(d), 1)
	})
}
