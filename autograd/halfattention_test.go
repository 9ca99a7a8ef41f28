package autograd_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfAttention: an attention of 16 bits and its gradients have the bits of that of the same numbers in float32,
// rounded at the end, and convert no operand: with masks of both kinds, packed heads, and keys and values that queries
// share.
func TestHalfAttention(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		const b, heads, l, s, features, values = 2, 2, 137, 140, 20, 9
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			r := tensor.NewRNG(5)
			random := func(shape ...int) *tensor.Tensor { return r.Uniform(d, -2, 2, shape...).To(typ) }
			q, k, v := random(b, heads, l, features), random(b, heads, s, features), random(b, heads, s, values)
			packed := random(b, l, heads, features).Transpose(0, 2, 1, 3)
			mask, some := random(l, s), r.Uniform(d, 0, 1, b, heads, l, s).GtScalar(0.3)
			for _, c := range []struct {
				name             string
				q, k, v, mask    *tensor.Tensor
				causal           bool
				forward, retains int64 // launches without a graph, and of the gradients
			}{
				{"plain", q, k, v, nil, false, 1, 2},
				{"causal, packed heads", packed, k, v, nil, true, 1, 2},
				{"added", q, k, v, mask, false, 1, 2},
				{"mask", q, k, v, some, true, 2, 3},
				{"shared", q, k.Slice(1, 0, 1), v, nil, false, 1, 5},
			} {
				name := fmt.Sprint(c.name, " of ", typ)
				count := func(f func()) int64 {
					before := d.Stats().Launches
					f()
					return d.Stats().Launches - before
				}
				o := tensor.AttentionOptions{Causal: c.causal}
				var y *tensor.Tensor
				if n := count(func() { y = c.q.ScaledDotProductAttention(c.k, c.v, c.mask, o) }); n != c.forward {
					t.Errorf("%s: %d launches, want %d", name, n, c.forward)
				}
				seed := random(y.Shape()...)
				results := func(to tensor.Type) (all []*tensor.Tensor, launches int64) {
					var in [3]*autograd.Node
					for i, x := range []*tensor.Tensor{c.q, c.k, c.v} {
						in[i] = autograd.Param(x.To(to), fmt.Sprint(i))
					}
					var m *autograd.Node
					if c.mask != nil {
						m = autograd.Const(c.mask)
						if c.mask.Type() == typ {
							m = autograd.Const(c.mask.To(to))
						}
					}
					z := in[0].ScaledDotProductAttention(in[1], in[2], m, o)
					up := autograd.Const(seed.To(to))
					var grads []*autograd.Node
					launches = count(func() {
						var err error
						if grads, err = autograd.Grad(z, in[:], autograd.GradOptions{Seed: up}); err != nil {
							t.Fatal(err)
						}
					})
					all = append(all, z.Value().To(typ))
					for _, g := range grads {
						all = append(all, g.Value().To(typ))
					}
					return all, launches
				}
				got, launches := results(typ)
				want, _ := results(tensor.Float32)
				if launches != c.retains {
					t.Errorf("%s: gradients by %d launches, want %d", name, launches, c.retains)
				}
				for i, w := range append(want, want[0]) {
					if i == len(got) {
						got = append(got, y)
					}
					if g := devtest.Float64s(t, got[i]); got[i].Type() != typ || !slices.Equal(g, devtest.Float64s(t, w)) {
						t.Errorf("%s: result %d, of %v, has not the bits of float32", name, i, got[i].Type())
					}
				}
			}
		}
	}
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{})) })
		if sel != "cpu" {
			t.Run(sel+", kernels for GPUs", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
