package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// BenchmarkSmall is what the host spends on Nodes of few elements, whose kernels take next to no
// time: operations, and a forward and a backward pass of two of them.
func BenchmarkSmall(b *testing.B) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(b, sel, tensor.Options{})
		rng := tensor.NewRNG(1)
		x, y := autograd.Param(rng.Uniform(d, 1, 2, 10), "x"), autograd.Param(rng.Uniform(d, 1, 2, 10), "y")
		for _, c := range []struct {
			name string
			f    func() *node
		}{
			{"Add", func() *node { return x.Add(y) }},
			{"Mul", func() *node { return x.Mul(y) }},
			{"Exp", func() *node { return x.Exp() }},
			{"AddScalar", func() *node { return x.AddScalar(1) }},
			{"Softmax", func() *node { return x.Softmax(0) }},
			{"Sum", func() *node { return x.Sum() }},
			{"Reshape", func() *node { return x.Reshape(2, 5) }},
			{"Backward", func() *node {
				z := x.Mul(y).Sum()
				if err := z.Backward(); err != nil {
					b.Fatal(err)
				}
				x.ZeroGrad()
				y.ZeroGrad()
				return z
			}},
		} {
			b.Run(sel+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.f().Free()
				}
			})
		}
	}
}
