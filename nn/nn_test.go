package nn_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

func spread(t *testing.T, x *tensor.Tensor) (mean, sd, largest float64) {
	t.Helper()
	v, err := x.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range v {
		mean += e / float64(len(v))
		sd += e * e / float64(len(v))
		largest = max(largest, math.Abs(e))
	}
	return mean, math.Sqrt(sd - mean*mean), largest
}

func TestInitializers(t *testing.T) {
	d := devtest.CPU(t)
	const in, out = 300, 200
	for _, c := range []struct {
		name  string
		init  nn.Initializer
		sd    float64
		bound float64
	}{
		{"NormalFanIn", nn.NormalFanIn, math.Sqrt(1.0 / in), math.Inf(1)},
		{"Kaiming ReLU", nn.Kaiming(0), math.Sqrt(2.0 / in), math.Inf(1)},
		{"Kaiming leaky", nn.Kaiming(0.5), math.Sqrt(2 / (1.25 * in)), math.Inf(1)},
		{"KaimingUniform", nn.KaimingUniform(0.5), math.Sqrt(2 / (1.25 * in)), math.Sqrt(6 / (1.25 * in))},
		{"XavierNormal", nn.XavierNormal, math.Sqrt(2.0 / (in + out)), math.Inf(1)},
		{"TruncatedNormal, wide", nn.TruncatedNormal(0.02, -2, 2), 0.02, 0.02 * 5.5},
		{"TruncatedNormal", nn.TruncatedNormal(2, -2, 2), 2 * 0.5396, 2}, // the deviation of a normal number in ±1 is 0.5396
		{"Orthogonal", nn.Orthogonal(2), 2 / math.Sqrt(in), math.Inf(1)},
		{"Xavier", nn.Xavier, math.Sqrt(2.0 / (in + out)), math.Sqrt(6.0 / (in + out))},
		{"UniformFanIn", nn.UniformFanIn, math.Sqrt(1.0 / in / 3), math.Sqrt(1.0 / in)},
		{"SIREN, first", first(nn.SIREN(30)), 1 / (in * math.Sqrt(3)), 1.0 / in},
		{"SIREN, later", second(nn.SIREN(30)), math.Sqrt(2.0/in) / 30, math.Sqrt(6.0/in) / 30},
		{"Zeros", nn.Zeros, 0, 0},
	} {
		mean, sd, largest := spread(t, c.init(d, tensor.NewRNG(5), in, out, in, out))
		if math.Abs(mean) > 0.02*c.sd || math.Abs(sd-c.sd) > 0.02*c.sd || largest > c.bound {
			t.Errorf("%s: mean %v, standard deviation %v (want %v), largest %v (at most %v)", c.name, mean, sd, c.sd, largest, c.bound)
		}
	}
}

func first(a, _ nn.Initializer) nn.Initializer  { return a }
func second(_, b nn.Initializer) nn.Initializer { return b }

func TestMLP(t *testing.T) {
	d := devtest.CPU(t)
	m := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 5, 4, 3}, Activations: []nn.Activation{nn.Tanh}, NoOutputBias: true})
	var names []string
	for _, p := range nn.Params(m) {
		names = append(names, fmt.Sprint(p.Name(), p.Shape()))
	}
	if got := strings.Join(names, " "); got != "layer0.weight[2 5] layer0.bias[5] layer1.weight[5 4] layer1.bias[4] layer2.weight[4 3]" {
		t.Error(got)
	}
	x := autograd.Const(tensor.NewRNG(2).Uniform(d, -1, 1, 7, 2))
	y := m.Forward(x)
	l := m.Layers
	want := x.MatMul(l[0].Weight).Add(l[0].Bias).Tanh().MatMul(l[1].Weight).Add(l[1].Bias).Tanh().MatMul(l[2].Weight)
	_, _, diff := spread(t, y.Sub(want).Value())
	if diff != 0 {
		t.Errorf("differs from the layers by %v", diff)
	}
	ends := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 3, 1}, Activations: []nn.Activation{nn.ReLU, nn.Sigmoid}})
	if _, _, largest := spread(t, ends.Forward(x).Value()); largest > 1 {
		t.Errorf("a sigmoid at the end gives %v", largest)
	}
	err := tensor.Try(func() { nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2}}) })
	if !errors.Is(err, tensor.ErrValue) {
		t.Errorf("one size: err = %v", err)
	}
	err = tensor.Try(func() { m.Forward(autograd.Const(tensor.Zeros(d, 7, 3))) })
	if !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), "[7 3] [2 5]") {
		t.Errorf("input of another width: err = %v", err)
	}
}

// named returns the names and shapes of parameters.
func named(params []*autograd.Node) (text string) {
	for _, p := range params {
		text += fmt.Sprintf(" %s %v", p.Name(), p.Shape())
	}
	return text
}

func TestLinear(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Const(tensor.NewRNG(2).Uniform(d, -1, 1, 7, 2))
	plain := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3})
	if got := named(nn.Params(plain)); got != " weight [2 3] bias [3]" {
		t.Error(got)
	}
	if _, _, diff := spread(t, plain.Forward(x).Sub(x.MatMul(plain.Weight).Add(plain.Bias)).Value()); diff != 0 {
		t.Errorf("differs from x·W + b by %v", diff)
	}
	bare := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3, NoBias: true, Bias: nn.Zeros})
	if got := named(nn.Params(bare)); bare.Bias != nil || got != " weight [2 3]" {
		t.Error(got)
	}
	drawn := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3, Weight: nn.Zeros, Bias: nn.Xavier})
	if _, _, w := spread(t, drawn.Weight.Value()); w != 0 {
		t.Errorf("the weights are not those of Weight, but up to %v", w)
	}
	if _, _, b := spread(t, drawn.Bias.Value()); b == 0 {
		t.Error("the bias is not that of Bias")
	}
	if err := tensor.Try(func() { nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: -2, Out: 3}) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a negative size: err = %v", err)
	}
}
