package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestConvGradientsAtOnce: the gradients of a convolution's weights and bias, which one kernel
// computes if both are asked for, are those that each has alone, whether the images are summed up
// in parts or not.
func TestConvGradientsAtOnce(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(3)
		for _, c := range []struct{ n, groups, in, out, size, kernel int }{
			{1, 1, 2, 3, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 3, 2, 4, 1, 1}, {6, 1, 1, 1, 9, 3}, {40, 1, 3, 34, 12, 3}, {5, 4, 1, 1, 20, 3},
			{3, 2, 5, 70, 8, 2}, {0, 1, 2, 3, 4, 2}, {2, 1, 0, 3, 4, 2},
		} {
			param := func(shape ...int) *node { return autograd.Param(rng.Uniform(d, -1, 1, shape...), "p") }
			x, w, b := param(c.n, c.groups*c.in, c.size, c.size), param(c.groups*c.out, c.in, c.kernel, c.kernel), param(c.groups*c.out)
			o := tensor.ConvOptions{Padding: []int{c.kernel / 2}, Groups: c.groups}
			seed := autograd.Const(rng.Uniform(d, -1, 1, x.Conv(w, b, o).Shape()...))
			gradients := func(of ...*node) (all [][]float64) {
				got, err := autograd.Grad(x.Conv(w, b, o), of, autograd.GradOptions{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range got {
					all = append(all, values(t, g.Value()))
				}
				return all
			}
			both, alone := gradients(w, b), append(gradients(w), gradients(b)...)
			for i := range both {
				if len(both[i]) != len(alone[i]) {
					t.Fatalf("%+v: %d elements and %d", c, len(both[i]), len(alone[i]))
				}
				for k, g := range both[i] {
					if e := math.Abs(g - alone[i][k]); !(e <= 1e-4) {
						t.Fatalf("%+v, %s: element %d is %v together, %v alone", c, []string{"weights", "bias"}[i], k, g, alone[i][k])
					}
				}
			}
			if fmt.Sprint(both) != fmt.Sprint(gradients(w, b)) {
				t.Errorf("%+v: other bits", c)
			}
		}
	})
}
