package nn_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// constant returns an initializer that is v everywhere.
func constant(v float64) nn.Initializer {
	return func(d tensor.Device, _ *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		return tensor.Full(d, v, shape...)
	}
}

// TestInitializersOfLayers: First is for the first layer's weights only, Weight and Bias for all others.
func TestInitializersOfLayers(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range []struct {
		cfg  nn.MLPConfig
		want []float64 // of layer0.weight, layer0.bias, layer1.weight, …
	}{
		{nn.MLPConfig{Sizes: []int{2, 3, 3, 1}, First: constant(1), Weight: constant(2), Bias: constant(3)}, []float64{1, 3, 2, 3, 2, 3}},
		{nn.MLPConfig{Sizes: []int{2, 3, 1}, Weight: constant(2), Bias: constant(3)}, []float64{2, 3, 2, 3}},
		{nn.MLPConfig{Sizes: []int{2, 1}, First: constant(1), Weight: constant(2), Bias: nn.Zeros}, []float64{1, 0}},
	} {
		params := nn.NewMLP(d, tensor.NewRNG(1), c.cfg).Params()
		if len(params) != len(c.want) {
			t.Errorf("sizes %v: %d parameters, want %d", c.cfg.Sizes, len(params), len(c.want))
			continue
		}
		for i, p := range params {
			v, err := p.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range v {
				if e != c.want[i] {
					t.Errorf("sizes %v: %s has %v, want %v", c.cfg.Sizes, p.Name(), v, c.want[i])
					break
				}
			}
		}
	}
}

// TestLeakyReLUSlopes: a slope that is not negative is part of the layer's launch; any other runs by itself,
// with the same values and gradients.
func TestLeakyReLUSlopes(t *testing.T) {
	d := devtest.CPU(t)
	for _, slope := range []float64{0.3, 0, -0.5} {
		net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 4}, Activations: []nn.Activation{nn.LeakyReLU(slope)}})
		x := autograd.Param(tensor.NewRNG(2).Uniform(d, -1, 1, 7, 2), "x")
		y := net.Forward(x)
		if fused := y.Op() == "Linear"; fused != (slope >= 0) {
			t.Errorf("slope %v: the last operation is %q", slope, y.Op())
		}
		l := net.Layers[0]
		want := x.MatMul(l.W).Add(l.B).LeakyReLU(slope)
		if _, _, diff := spread(t, y.Sub(want).Value()); diff != 0 {
			t.Errorf("slope %v: differs from the operations by %v", slope, diff)
		}
		gradient := func(y *autograd.Node) []float64 {
			x.ZeroGrad()
			if err := y.Square().Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			g, err := x.Grad().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		got, ref := gradient(y), gradient(want)
		for i := range ref {
			if math.Abs(got[i]-ref[i]) > 1e-12 {
				t.Fatalf("slope %v: gradient %v, of the operations %v", slope, got, ref)
			}
		}
	}
}
