package autograd_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPadGradients: the gradient of a Pad of several axes, also of more than a kernel has, and of
// more elements than a work-item of a GPU adds up, is the sum over the places to which each element
// went. g is of small integers, whose sums are exact.
func TestPadGradients(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			shape  []int
			widths [][2]int
		}{
			{[]int{3, 4, 5}, [][2]int{{1, 2}, {-2, 1}, {2, -1}}},
			{[]int{2, 3, 2, 2, 3}, [][2]int{{1, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 1}}},
			{[]int{2, 67}, [][2]int{{1, 1}, {66, 30}}},
			{[]int{2, 3}, [][2]int{{-1, -1}, {2, 2}}}, // to nothing
			{[]int{2, 3}, [][2]int{{40, 30}, {20, 9}}},
		} {
			for mode := tensor.PadConstant; mode <= tensor.PadCircular; mode++ {
				widths := c.widths
				if widths[0][0] > c.shape[0] && (mode == tensor.PadReflect || mode == tensor.PadCircular) {
					continue // these have no such widths
				}
				n := 1
				for _, m := range c.shape {
					n *= m
				}
				places := make([]float64, n) // from 1 on: the value outside is 0
				for i := range places {
					places[i] = float64(i + 1)
				}
				x := autograd.Param(devtest.New(d, places, c.shape...), "x")
				y := x.Pad(widths, tensor.PadOptions{Mode: mode})
				seed, want := make([]float64, y.Value().Len()), make([]float64, n+1)
				for i, from := range values(t, y.Value()) {
					seed[i] = float64(i % 13)
					want[int(from)] += seed[i]
				}
				if err := y.Backward(autograd.BackwardOptions{Seed: devtest.New(d, seed, y.Shape()...)}); err != nil {
					t.Fatal(err)
				}
				if got := values(t, x.Grad()); !slices.Equal(got, want[1:]) {
					t.Errorf("mode %d of %v by %v: %v, want %v", mode, c.shape, widths, got, want[1:])
				}
			}
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
