package compare_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/kernels"
)

// TestDiffers: the first element that the tolerance does not accept is found. A scale that is no
// number is the largest finite magnitude of what was wanted.
func TestDiffers(t *testing.T) {
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
		rel := &kernels.Kernel{Tol: kernels.Tolerance{Rel: 1, Scale: func([]kernels.Arg) float64 { return c.scale }}} // an epsilon of the scale
		if got := compare.MarginOf(rel, kernels.Float64, nil).Differs(1, kernels.HostBufferOf(c.got), kernels.HostBufferOf(c.want)); got != c.index {
			t.Errorf("case %d: element %d, want %d", i, got, c.index)
		}
	}
}

// TestOwnScale: a scale is that of the arguments before the host kernel runs.
func TestOwnScale(t *testing.T) {
	args := []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf([]float64{1, -3, 2}), 0, 3)}
	own := &kernels.Kernel{Tol: kernels.Tolerance{Rel: 0x1p52, Scale: func(a []kernels.Arg) float64 { return kernels.MaxAbs(a, 0) }}}
	margin := compare.MarginOf(own, kernels.Float64, args)
	for want, got := range map[int]float64{-1: 3, 0: 3.5} {
		if at := margin.Differs(1, kernels.HostBufferOf([]float64{got}), kernels.HostBufferOf([]float64{0})); at != want {
			t.Errorf("%v beside 0 within 3: element %d, want %d", got, at, want)
		}
	}
}

// TestBound: elements beyond ULP may lie as far apart as their own bound says; an infinite one
// allows anything.
func TestBound(t *testing.T) {
	k := &kernels.Kernel{Tol: kernels.Tolerance{ULP: 1, Bound: func(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
		return func(param, i int) float64 { return args[param-1].At(i) }
	}}}
	args := []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf([]float64{0, 0.5, math.Inf(1)}), 0, 3)}
	for i, c := range []struct {
		got   []float64
		index int
	}{
		{[]float64{1, 1, 1}, -1}, {[]float64{1, 1.5, 9}, -1}, {[]float64{1.25, 1, 1}, 0}, {[]float64{1, 1.75, 1}, 1},
		{[]float64{1, math.NaN(), 1}, 1}, {[]float64{1, 1, math.NaN()}, -1}, {[]float64{1 + 0x1p-52, 1, 1}, -1},
	} {
		if got := compare.MarginOf(k, kernels.Float64, args).Differs(1, kernels.HostBufferOf(c.got), kernels.HostBufferOf([]float64{1, 1, 1})); got != c.index {
			t.Errorf("case %d: element %d, want %d", i, got, c.index)
		}
	}
}
