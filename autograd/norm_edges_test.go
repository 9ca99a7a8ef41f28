package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestNormEdges: norms of ties, zeros, powers that underflow and integers, and their gradients,
// which are PyTorch's.
func TestNormEdges(t *testing.T) {
	inf := math.Inf(1)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			p    float64
			x    []float64
			norm float64
			grad []float64
		}{
			{20, []float64{1e-20, -2e-20, 0}, 0, []float64{0, 0, 0}},
			{1e6, []float64{0.5, -0.25, 0}, 0, []float64{0, 0, 0}},
			{0.5, []float64{4, -1, 0}, 9, []float64{1.5, -3, 0}},
			{0.5, []float64{0, 0}, 0, []float64{0, 0}},
			{-1, []float64{2, -2, 1}, 0.5, []float64{0.0625, -0.0625, 0.25}},
			{-1, []float64{3, -4, 0}, 0, []float64{0, 0, 0}},
			{0, []float64{3, -4, 0}, 2, []float64{0, 0, 0}},
			{inf, []float64{2, -2, 1}, 2, []float64{0.5, -0.5, 0}},
			{inf, []float64{0, 0}, 0, []float64{0, 0}},
			{inf, []float64{-inf, 1, 2}, inf, []float64{-1, 0, 0}},
			{-inf, []float64{-3, 3, 4, -3}, 3, []float64{-1. / 3, 1. / 3, 0, -1. / 3}},
			{-inf, []float64{3, 0, 0}, 0, []float64{0, 0, 0}},
		} {
			x := autograd.Param(devtest.New(d, c.x), "x")
			y := x.Norm(c.p).Retain()
			if err := y.Backward(); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprint("Norm(", c.p, ") of ", c.x)
			nearAll(t, what, y.Value(), []float64{c.norm})
			nearAll(t, "gradient of "+what, x.Grad(), c.grad)
		}
		for p, want := range map[float64]float64{inf: 2147483648, -inf: 2147483647, 0: 2} {
			x := devtest.New(d, []int32{math.MinInt32, math.MaxInt32})
			if p != 0 {
				x = devtest.New(d, []int32{math.MinInt32, math.MinInt32 + 1})
			}
			for _, y := range []*tensor.Tensor{x.Norm(p), autograd.Const(x).Norm(p).Value()} {
				if y.Type() != d.DefaultType() {
					t.Errorf("Norm(%v) of integers is of type %v", p, y.Type())
				}
				nearAll(t, fmt.Sprint("Norm(", p, ") of integers"), y, []float64{want})
			}
		}
	})
}

// nearAll holds the elements of a tensor against those that it is to have, to six digits.
func nearAll(t *testing.T, what string, got *tensor.Tensor, want []float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: there is none", what)
		return
	}
	v, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if i >= len(v) || !(v[i] == w || w != w && v[i] != v[i] || math.Abs(v[i]-w) <= 1e-6*math.Abs(w)) {
			t.Errorf("%s is %v, want %v", what, v, want)
			return
		}
	}
}

// TestOverflowingSquares: where squares of the elements overflow, norms of rows, groups and batches
// are NaN, not 0, on every device; what underflows counts as 0.
func TestOverflowingSquares(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		big, tiny := 1e20, 1e-30
		if d.DefaultType() == tensor.Float64 {
			big, tiny = 1e170, 1e-200
		}
		for op, c := range map[string]struct {
			f           func(x *node) *node
			large, none float64 // an element of the result where squares overflow, and for 0
		}{
			"LayerNorm":    {func(x *node) *node { return x.LayerNorm(0, nil, nil, 1e-5) }, nan, 0},
			"RMSNorm":      {func(x *node) *node { return x.RMSNorm(0, nil, 1e-5) }, nan, 0},
			"GroupNorm":    {func(x *node) *node { return x.Reshape(1, 2, 2).GroupNorm(1, nil, nil, 1e-5).Reshape(4) }, nan, 0},
			"InstanceNorm": {func(x *node) *node { return x.Reshape(1, 1, 4).InstanceNorm(nil, nil, 1e-5).Reshape(4) }, nan, 0},
			"BatchNorm":    {func(x *node) *node { return x.Reshape(4, 1).BatchNorm(nil, nil, 1e-5).Reshape(4) }, nan, 0},
			"Var":          {func(x *node) *node { return x.Var(0) }, inf, 0},
			"Std":          {func(x *node) *node { return x.Std(0) }, inf, 0},
			"Norm":         {func(x *node) *node { return x.Norm(2) }, inf, 0},
		} {
			for _, k := range []struct{ scale, want float64 }{{big, c.large}, {tiny, c.none}} {
				x := autograd.Param(devtest.New(d, []float64{k.scale, -2 * k.scale, 3 * k.scale, 0}), "x")
				y := c.f(x).Retain()
				if err := y.Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				v, err := y.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				if got := v[0]; !(got == k.want || got != got && k.want != k.want || k.want == 0 && math.Abs(got) < 1e-20) {
					t.Errorf("%s of squares of %g: %v, want %v", op, k.scale, v, k.want)
				}
				if g, err := x.Grad().Float64s(); err != nil || k.want == k.want && g[0]-g[0] != 0 {
					t.Errorf("gradient of %s of squares of %g: %v (err %v)", op, k.scale, g, err)
				}
			}
		}
	})
}
