package nn_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// constant returns an initializer that is v everywhere.
func constant(v float64) nn.Initializer {
	return func(d tensor.Device, _ *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		return tensor.Full(d, v, shape...)
	}
}

// TestInitializersOfLayers: First is for the first layer's weights only, Weight and Bias for all
// others.
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
		params := nn.Params(nn.NewMLP(d, tensor.NewRNG(1), c.cfg))
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

// TestFans: an initializer gets the inputs and outputs of an element: those of a group, for each
// element of a kernel.
func TestFans(t *testing.T) {
	d := devtest.CPU(t)
	var fans [][2]int
	by := func(d tensor.Device, _ *tensor.RNG, in, out int, shape ...int) *tensor.Tensor {
		fans = append(fans, [2]int{in, out})
		return tensor.Zeros(d, shape...)
	}
	rng := tensor.NewRNG(1)
	for name, c := range map[string]struct {
		make func()
		want [][2]int
	}{
		"Linear": {func() { nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 5, Weight: by, Bias: by}) }, [][2]int{{3, 5}, {3, 5}}},
		"Conv": {func() {
			nn.NewConv(d, rng, nn.ConvConfig{In: 4, Out: 10, Kernel: []int{3, 7}, ConvOptions: tensor.ConvOptions{Groups: 2}, Weight: by, Bias: by})
		}, [][2]int{{42, 105}, {42, 105}}},
		"ConvTranspose": {func() {
			nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 4, Out: 10, Kernel: []int{3, 7}, ConvTransposeOptions: tensor.ConvTransposeOptions{Groups: 2}, Weight: by, Bias: by})
		}, [][2]int{{105, 42}, {105, 42}}},
		"MultiHeadAttention": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Weight: by, OutWeight: by})
		}, [][2]int{{4, 12}, {4, 4}}},
		"Embedding": {func() { nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 3, Size: 2, Weight: by}) }, [][2]int{{3, 2}}},
		"GRU":       {func() { nn.NewGRU(d, rng, nn.RecurrentConfig{In: 3, Hidden: 2, Weight: by, Bias: by}) }, [][2]int{{3, 6}, {2, 6}, {3, 6}, {2, 6}}},
	} {
		fans = nil
		if c.make(); !slices.Equal(fans, c.want) {
			t.Errorf("%s: inputs and outputs %v, want %v", name, fans, c.want)
		}
	}
}

// TestUsualInitializers: where a config names none, parameters are drawn as PyTorch draws them.
func TestUsualInitializers(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	embedding := nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 100, Size: 50})
	if mean, sd, _ := spread(t, embedding.Weight.Value()); math.Abs(mean) > 0.1 || math.Abs(sd-1) > 0.1 {
		t.Errorf("a table has mean %v and standard deviation %v, want 0 and 1", mean, sd)
	}
	attention := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 24, Heads: 2})
	for name, c := range map[string]struct {
		of   *autograd.Node
		want float64
	}{
		"in_proj_weight": {attention.InWeight, math.Sqrt(6.0 / (24 + 72))}, "in_proj_bias": {attention.InBias, 0},
		"out_proj.weight": {attention.Out.Weight, math.Sqrt(1.0 / 24)}, "out_proj.bias": {attention.Out.Bias, 0},
	} {
		if _, _, largest := spread(t, c.of.Value()); largest > c.want || largest < 0.95*c.want {
			t.Errorf("%s is up to %v, want %v", name, largest, c.want)
		}
	}
}

// TestActivations: each is part of the layer's launch, with the values and gradients of the
// function by itself.
func TestActivations(t *testing.T) {
	d := devtest.CPU(t)
	cube := &kernels.Function{Name: "cube", Value: expr.Input(0).Mul(expr.Input(0)).Mul(expr.Input(0))}
	for name, c := range map[string]struct {
		a nn.Activation
		f func(x *autograd.Node) *autograd.Node
	}{
		"slope 0.3":  {nn.LeakyReLU(0.3), func(x *autograd.Node) *autograd.Node { return x.LeakyReLU(0.3) }},
		"slope 0":    {nn.LeakyReLU(0), func(x *autograd.Node) *autograd.Node { return x.LeakyReLU(0) }},
		"slope -0.5": {nn.LeakyReLU(-0.5), func(x *autograd.Node) *autograd.Node { return x.LeakyReLU(-0.5) }},
		"sine":       {nn.Sine(30), func(x *autograd.Node) *autograd.Node { return x.Sine(30) }},
		"softplus":   {nn.FromFunction(fn.Softplus), (*autograd.Node).Softplus},
		"own":        {nn.FromFunction(cube), func(x *autograd.Node) *autograd.Node { return autograd.Map(cube, nil, x) }},
	} {
		net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 4}, Activations: []nn.Activation{c.a}})
		x := autograd.Param(tensor.NewRNG(2).Uniform(d, -1, 1, 7, 2), "x")
		y := net.Forward(x)
		if y.Op() != "Linear" {
			t.Errorf("%s: the last operation is %q", name, y.Op())
		}
		l := net.Layers[0]
		want := c.f(x.MatMul(l.Weight).Add(l.Bias))
		if _, _, diff := spread(t, y.Sub(want).Value()); diff != 0 {
			t.Errorf("%s: differs from the operations by %v", name, diff)
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
				t.Fatalf("%s: gradient %v, of the operations %v", name, got, ref)
			}
		}
	}
}
