package nn_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestWeightNorm: the weight is what it was made of, then a length times a direction, and the gradient of the direction
// has no part along it. Numbers are those of torch.nn.utils.parametrizations.weight_norm(dim=0).
func TestWeightNorm(t *testing.T) {
	d := devtest.CPU(t)
	w := devtest.New(d, []float64{3, 4, 0, -1, 2, 2}, 2, 3)
	l := nn.NewWeightNorm(w, 0)
	if got := devtest.Float64s(t, l.Node().Value()); !near(got, []float64{3, 4, 0, -1, 2, 2}) {
		t.Errorf("at first %v", got)
	}
	if g := devtest.Float64s(t, l.G.Value()); !near(g, []float64{5, 3}) || !slices.Equal(l.G.Shape(), []int{2, 1}) {
		t.Errorf("lengths %v of shape %v", g, l.G.Shape())
	}
	loss := l.Node().Mul(autograd.Const(devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3))).Sum()
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	if g := devtest.Float64s(t, l.G.Grad()); !near(g, []float64{11.0 / 5, 18.0 / 3}) {
		t.Errorf("the gradient of the lengths is %v", g)
	}
	want := []float64{1 - 3*11.0/25, 2 - 4*11.0/25, 3, 4 + 18.0/9, 5 - 2*18.0/9, 6 - 2*18.0/9}
	if g := devtest.Float64s(t, l.V.Grad()); !near(g, want) {
		t.Errorf("the gradient of the direction is %v, want %v", g, want)
	}
	type model struct {
		Weight *nn.WeightNorm `nn:"parametrizations.weight"`
	}
	names := slices.Sorted(maps.Keys(nn.StateDict(&model{l})))
	if !slices.Equal(names, []string{"parametrizations.weight.original0", "parametrizations.weight.original1"}) {
		t.Errorf("names %v", names)
	}
	if err := tensor.Try(func() { nn.NewWeightNorm(w, 2) }); !errors.Is(err, tensor.ErrAxis) {
		t.Error(err)
	}
}

// TestSpectralNorm: the largest singular value becomes 1, whatever axis has the rows, evaluation leaves the vectors, and
// the gradient is that of w/(uᵀ·w·v).
func TestSpectralNorm(t *testing.T) {
	d := devtest.CPU(t)
	w := devtest.New(d, []float64{0, 3, 0, 1, 0, 0}, 2, 3) // with the singular values 3 and 1
	for axis := range 2 {
		l := nn.NewSpectralNorm(w.Copy(), tensor.NewRNG(1), nn.SpectralNormConfig{Axis: axis, Steps: 3})
		if got := devtest.Float64s(t, l.Node().Value()); !near(got, []float64{0, 1, 0, 1.0 / 3, 0, 0}) {
			t.Errorf("axis %d: %v", axis, got)
		}
	}
	l := nn.NewSpectralNorm(w, tensor.NewRNG(1), nn.SpectralNormConfig{})
	nn.Eval(l)
	l.U.SetInPlace(devtest.New(d, []float64{1, 0}))
	l.V.SetInPlace(devtest.New(d, []float64{0, 1, 0}))
	loss := l.Node().Sum() // 4/w[0, 1], by that element −4/9 + 1/3
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	if g := devtest.Float64s(t, l.Original.Grad()); !near(g, []float64{1.0 / 3, -1.0 / 9, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}) {
		t.Errorf("gradient %v", g)
	}
	l.U.SetInPlace(devtest.New(d, []float64{0.6, 0.8}))
	l.Node()
	if u := devtest.Float64s(t, l.U); !near(u, []float64{0.6, 0.8}) {
		t.Errorf("evaluation changed a vector to %v", u)
	}
	nn.Train(l)
	l.Node()
	if u := devtest.Float64s(t, l.U); near(u, []float64{0.6, 0.8}) {
		t.Error("training left a vector")
	}
	names := slices.Sorted(maps.Keys(nn.StateDict(l)))
	if !slices.Equal(names, []string{"0._u", "0._v", "original"}) {
		t.Errorf("names %v", names)
	}
}

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })
}
