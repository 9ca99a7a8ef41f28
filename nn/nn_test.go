package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
	for _, p := range m.Params() {
		names = append(names, fmt.Sprint(p.Name(), p.Shape()))
	}
	if got := strings.Join(names, " "); got != "layer0.weight[2 5] layer0.bias[5] layer1.weight[5 4] layer1.bias[4] layer2.weight[4 3]" {
		t.Error(got)
	}
	x := autograd.Const(tensor.NewRNG(2).Uniform(d, -1, 1, 7, 2))
	y := m.Forward(x)
	l := m.Layers
	want := x.MatMul(l[0].W).Add(l[0].B).Tanh().MatMul(l[1].W).Add(l[1].B).Tanh().MatMul(l[2].W)
	_, _, diff := spread(t, y.Sub(want).Value())
	if diff != 0 {
		t.Errorf("differs from the layers by %v", diff)
	}
	ends := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 3, 1}, Activations: []nn.Activation{nn.ReLU, nn.Sigmoid}})
	if _, _, largest := spread(t, ends.Forward(x).Value()); largest > 1 {
		t.Errorf("a sigmoid at the end gives %v", largest)
	}
	err := tensor.Maybe(func() { nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2}}) })
	if !errors.Is(err, tensor.ErrValue) {
		t.Errorf("one size: err = %v", err)
	}
	err = tensor.Maybe(func() { m.Forward(autograd.Const(tensor.Zeros(d, 7, 3))) })
	if !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), "[7 3] [2 5]") {
		t.Errorf("input of another width: err = %v", err)
	}
}

func TestLinear(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Const(tensor.NewRNG(2).Uniform(d, -1, 1, 7, 2))
	plain := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{Name: "l", In: 2, Out: 3})
	if got := fmt.Sprint(plain.Params()); got != "[l.weight [2 3] l.bias [3]]" {
		t.Error(got)
	}
	if _, _, diff := spread(t, plain.Forward(x).Sub(x.MatMul(plain.W).Add(plain.B)).Value()); diff != 0 {
		t.Errorf("differs from x·W + b by %v", diff)
	}
	bare := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3, NoBias: true, Bias: nn.Zeros})
	if got := fmt.Sprint(bare.Params()); bare.B != nil || got != "[.weight [2 3]]" {
		t.Error(got)
	}
	drawn := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3, Weight: nn.Zeros, Bias: nn.Xavier})
	if _, _, w := spread(t, drawn.W.Value()); w != 0 {
		t.Errorf("the weights are not those of Weight, but up to %v", w)
	}
	if _, _, b := spread(t, drawn.B.Value()); b == 0 {
		t.Error("the bias is not that of Bias")
	}
	if err := tensor.Maybe(func() { nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: -2, Out: 3}) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a negative size: err = %v", err)
	}
}

func TestStateDict(t *testing.T) {
	d := devtest.CPU(t)
	cfg := nn.MLPConfig{Sizes: []int{2, 3, 1}}
	a, b := nn.NewMLP(d, tensor.NewRNG(1), cfg), nn.NewMLP(d, tensor.NewRNG(2), cfg)
	if err := nn.LoadStateDict(b.Params(), nn.StateDict(a.Params())); err != nil {
		t.Fatal(err)
	}
	x := autograd.Const(tensor.Full(d, 0.3, 4, 2))
	if _, _, diff := spread(t, a.Forward(x).Sub(b.Forward(x)).Value()); diff != 0 {
		t.Errorf("loaded network differs by %v", diff)
	}
	other := nn.NewMLP(d, tensor.NewRNG(3), nn.MLPConfig{Sizes: []int{2, 4, 1}})
	if err := nn.LoadStateDict(other.Params(), nn.StateDict(a.Params())); err == nil || !strings.Contains(err.Error(), "layer0.weight") {
		t.Errorf("another shape: err = %v", err)
	}
	short := nn.StateDict(a.Params())
	delete(short, "layer1.bias")
	if err := nn.LoadStateDict(b.Params(), short); err == nil || !strings.Contains(err.Error(), "layer1.bias") {
		t.Errorf("a tensor missing: err = %v", err)
	}
	more := nn.StateDict(a.Params())
	more["extra"] = tensor.Zeros(d, 1)
	if err := nn.LoadStateDict(b.Params(), more); err == nil {
		t.Error("a dict with another tensor was loaded")
	}
	halves := tensor.Dict{}
	for name, v := range nn.StateDict(a.Params()) {
		halves[name] = v.To(tensor.Float16)
	}
	if err := nn.LoadStateDict(b.Params(), halves); err != nil {
		t.Fatal(err)
	}
	for _, p := range b.Params() {
		got, _ := p.Value().Float64s()
		if want, _ := halves[p.Name()].Float64s(); p.Type() != tensor.Real || !slices.Equal(got, want) {
			t.Errorf("%v loaded from Float16: %v, want %v", p, got, want)
		}
	}
	halves["layer1.bias"] = tensor.ZerosOf(d, tensor.Int32, 1)
	if err := nn.LoadStateDict(b.Params(), halves); err == nil || !strings.Contains(err.Error(), `"layer1.bias" is of type Int32`) {
		t.Errorf("integers: err = %v", err)
	}
	if err := tensor.Maybe(func() { nn.StateDict(append(a.Params(), a.Params()[0])) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a name twice: err = %v", err)
	}
}

// TestLoadHostile: a dict with a tensor that is nil, freed or on another device, and parameters that share a name, are
// errors, and nothing is changed.
func TestLoadHostile(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	freed := tensor.Zeros(d, 2)
	freed.Free()
	for _, c := range []struct {
		say, second string
		bad         *tensor.Tensor
	}{
		{`tensor "b" is nil`, "b", nil},
		{`tensor "b" was freed`, "b", freed},
		{`tensor "b" is on `, "b", tensor.Zeros(other, 2)},
		{`two parameters are named "a"`, "a", tensor.Zeros(d, 2)},
	} {
		params := []*autograd.Node{autograd.Param(tensor.Full(d, 5, 2), "a"), autograd.Param(tensor.Full(d, 5, 2), c.second)}
		err := nn.LoadStateDict(params, tensor.Dict{"a": tensor.Zeros(d, 2), "b": c.bad})
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v", c.say, err)
		}
		for _, p := range params {
			if v, err := p.Float64s(); err != nil || !slices.Equal(v, []float64{5, 5}) {
				t.Errorf("%s: %v became %v, %v", c.say, p, v, err)
			}
		}
	}
}
