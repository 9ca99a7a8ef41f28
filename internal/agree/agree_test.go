package agree_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/agree"
	"github.com/clgrad/clgrad/kernels"
)

// TestDiffers: the first element that the tolerance does not accept is found. A scale that is no number is the largest
// finite magnitude of what was wanted.
func TestDiffers(t *testing.T) {
	rel := &kernels.Kernel{Tol: kernels.Tolerance{Rel: 1}} // an epsilon of the scale
	eps := 0x1p-52
	inf := math.Inf(1)
	for i, c := range []struct {
		got, want []float64
		scale     float64
		index     int
	}{
		{nil, nil, 1, -1},
		{[]float64{1, 2}, []float64{1, 2}, 1, -1},
		{[]float64{1, 2}, []float64{1, 3}, 1, 1},
		{[]float64{0, 2, 0}, []float64{1, 3, 1}, 1, 0},
		{[]float64{1 + 8*eps, 2}, []float64{1, 2}, 8, -1},
		{[]float64{1 + 8*eps, 2}, []float64{1, 2}, 4, 0},
		{[]float64{1 + 8*eps, -8}, []float64{1, -8}, math.NaN(), -1},
		{[]float64{1 + 8*eps, -4}, []float64{1, -4}, math.NaN(), 0},
		{[]float64{1 + 8*eps, 8, 2}, []float64{1, 8, 2}, math.NaN(), -1},
		{[]float64{1 + 8*eps, inf, -inf}, []float64{1, inf, -inf}, math.NaN(), 0}, // an infinity is no scale
		{[]float64{1 + 8*eps, math.NaN(), 8}, []float64{1, math.NaN(), 8}, math.NaN(), -1},
	} {
		if got := agree.Differs(rel, kernels.MemOf(c.got), kernels.MemOf(c.want), c.scale); got != c.index {
			t.Errorf("case %d: element %d, want %d", i, got, c.index)
		}
	}
}

// TestScale: the scale is that of the kernel; without one it is no number, which depends on the results.
func TestScale(t *testing.T) {
	args := []kernels.Arg{kernels.Vec(kernels.MemOf([]float64{1, -3, 2}), 0, 3)}
	if got := agree.Scale(&kernels.Kernel{}, args); !math.IsNaN(got) {
		t.Errorf("without a scale it is %v", got)
	}
	own := &kernels.Kernel{Tol: kernels.Tolerance{Scale: func(a []kernels.Arg) float64 { return 2 * kernels.MaxAbs(a, 0) }}}
	if got := agree.Scale(own, args); got != 6 {
		t.Errorf("the scale is %v, want 6", got)
	}
}
