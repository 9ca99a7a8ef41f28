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

// TestRecurrentOnDevices: the layers have PyTorch's numbers on every device.
func TestRecurrentOnDevices(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, name := range []string{"gru_deep", "lstm_deep"} {
			layers[name].compare(t, d, name, 1e-5)
		}
	})
}

// recurrences are both kinds of layer.
var recurrences = map[string]func(d tensor.Device, rng *tensor.RNG, cfg nn.RecurrentConfig) nn.Module{
	"GRU": func(d tensor.Device, rng *tensor.RNG, cfg nn.RecurrentConfig) nn.Module {
		return nn.NewGRU(d, rng, cfg)
	},
	"LSTM": func(d tensor.Device, rng *tensor.RNG, cfg nn.RecurrentConfig) nn.Module {
		return nn.NewLSTM(d, rng, cfg)
	},
}

// TestRecurrentLaunches: a step of time more is two launches more back, whatever the layer's size. On a CPU all steps are
// one launch, forward.
func TestRecurrentLaunches(t *testing.T) {
	d := devtest.CPU(t)
	for name, make := range recurrences {
		for _, cfg := range []nn.RecurrentConfig{{In: 3, Hidden: 4}, {In: 1, Hidden: 1, NoBias: true}} {
			l := make(d, tensor.NewRNG(1), cfg)
			launches := func(steps int) (forward, back int64) {
				x := autograd.Param(tensor.Full(d, 1, 2, steps, cfg.In), "x")
				before := d.Stats().Launches
				y := l.Forward(x)
				forward = d.Stats().Launches - before
				seed := tensor.Full(d, 1, y.Shape()...)
				before = d.Stats().Launches
				if err := y.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
					t.Fatal(err)
				}
				for _, p := range nn.Params(l) {
					p.ZeroGrad()
				}
				return forward, d.Stats().Launches - before
			}
			f4, b4 := launches(4)
			f9, b9 := launches(9)
			if f9 != f4 || b9-b4 != 2*5 {
				t.Errorf("%s: five steps more are %d launches more, and %d back", name, f9-f4, b9-b4)
			}
			if f4 > 5 || b4 > 2*4+18 {
				t.Errorf("%s: four steps are %d launches, and %d back", name, f4, b4)
			}
		}
	}
}

// TestRecurrentParts: what resumes from the last states of a part has the states, and the
// gradients, of the whole.
func TestRecurrentParts(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(3)
	cfg := nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2}
	gru, lstm := nn.NewGRU(d, rng, cfg), nn.NewLSTM(d, rng, cfg)
	data := rng.Uniform(d, -1, 1, 2, 6, 3)
	for name, run := range map[string]func(x, h, c *autograd.Node) (y, last, cell *autograd.Node){
		"GRU": func(x, h, _ *autograd.Node) (y, last, cell *autograd.Node) {
			y, last = gru.Run(x, h)
			return y, last, nil
		},
		"LSTM": lstm.Run,
	} {
		results := func(cuts ...int) tensor.Dict {
			x := autograd.Param(data, "x")
			var h, c *autograd.Node
			var outputs []*autograd.Node
			from := 0
			for _, to := range cuts {
				var y *autograd.Node
				y, h, c = run(x.Slice(1, from, to), h, c)
				outputs = append(outputs, y)
				from = to
			}
			y := autograd.Concat(1, outputs...)
			found := tensor.Dict{"y": y.Retain().Value(), "h": h.Retain().Value()}
			sum := y.Square().Sum().Add(h.Square().Sum())
			if c != nil {
				sum = sum.Add(c.Square().Sum())
			}
			if err := sum.Backward(); err != nil {
				t.Fatal(err)
			}
			found["x"] = x.Grad()
			return found
		}
		whole, parts := results(6), results(1, 4, 6)
		for what, v := range whole {
			same(t, fmt.Sprintf("%s in parts, %s", name, what), parts[what], v, 1e-12)
		}
	}
}

// TestRecurrentViews: the order of axes is a matter of the config alone, non-contiguous inputs are
// read, NoGrad computes the same, and a frozen layer gives its input a gradient.
func TestRecurrentViews(t *testing.T) {
	d := devtest.CPU(t)
	for name, make := range recurrences {
		cfg := nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Bidirectional: true}
		l := make(d, tensor.NewRNG(1), cfg)
		cfg.TimeFirst = true
		other := make(d, tensor.NewRNG(1), cfg)
		data := tensor.NewRNG(2).Uniform(d, -1, 1, 2, 5, 6)
		x := autograd.Param(data.Step(2, 2), "x")
		y := l.Forward(x)
		same(t, name+", time first", other.Forward(x.Transpose(1, 0, 2)).Transpose(1, 0, 2).Value(), y.Value(), 0)
		autograd.NoGrad(d, func() { same(t, name+", NoGrad", l.Forward(x).Value(), y.Value(), 0) })
		if err := y.Square().Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		want := x.Grad().Copy()
		x.ZeroGrad()
		nn.Freeze(l)
		if err := l.Forward(x).Square().Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		same(t, name+", frozen", x.Grad(), want, 0)
		if l.Forward(autograd.Const(data.Step(2, 2))).NeedsGrad() {
			t.Errorf("%s: frozen, of a constant, is a graph", name)
		}
		empty := autograd.Param(tensor.Zeros(d, 0, 5, 3), "x")
		nn.Unfreeze(l)
		if err := l.Forward(empty).Sum().Backward(); err != nil {
			t.Errorf("%s of no batch: %v", name, err)
		}
		if _, _, largest := spread(t, nn.Params(l)[0].Grad()); largest != 0 {
			t.Errorf("%s of no batch has gradients up to %v", name, largest)
		}
	}
}

// TestRecurrentRange: gates that are far out are 0 or 1 and not NaN, and so are their gradients.
func TestRecurrentRange(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, make := range recurrences {
			l := make(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 1, Hidden: 2})
			x := autograd.Param(devtest.New(d, []float64{1e30, -1e30, 1e5, -1e5}, 1, 4, 1), "x")
			y := l.Forward(x).Retain()
			if err := y.Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			for what, v := range map[string]*tensor.Tensor{"y": y.Value(), "x": x.Grad()} {
				if _, _, largest := spread(t, v); !(largest <= 4) {
					t.Errorf("%s: %s is up to %v", name, what, largest)
				}
			}
		}
	})
}

// TestRecurrentDrops: what goes to the next layer is dropped in training, and neither the input nor
// the output is.
func TestRecurrentDrops(t *testing.T) {
	d := devtest.CPU(t)
	for name, make := range recurrences {
		rng := tensor.NewRNG(1)
		x := autograd.Const(rng.Uniform(d, -1, 1, 2, 5, 3))
		deep := make(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Dropout: 1})
		y := deep.Forward(x).Retain()
		if err := y.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		for _, p := range nn.Params(deep) {
			if _, _, largest := spread(t, p.Grad()); (largest == 0) != (strings.HasSuffix(p.Name(), "_l0") || p.Name() == "weight_ih_l1") {
				t.Errorf("%s: the gradients of %s are up to %v", name, p.Name(), largest)
			}
		}
		nn.Eval(deep)
		if _, _, off := spread(t, deep.Forward(x).Value().Sub(y.Value())); off == 0 {
			t.Errorf("%s: nothing is dropped", name)
		}
		one := make(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4, Dropout: 1})
		before := *rng
		y = one.Forward(x)
		if *rng != before {
			t.Errorf("%s: numbers are drawn for a single layer", name)
		}
		nn.Eval(one)
		same(t, name+" of one layer", one.Forward(x).Value(), y.Value(), 0)
	}
}

// TestRecurrentParameters: they are drawn as PyTorch draws them unless the config says otherwise.
func TestRecurrentParameters(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 100, Hidden: 25})
	for _, p := range nn.Params(l) {
		if _, _, largest := spread(t, p.Value()); largest > 0.2 || largest < 0.18 {
			t.Errorf("%s is up to %v, want 1/√25", p.Name(), largest)
		}
	}
	l = nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 3, Hidden: 2, Layers: 2, Bidirectional: true, Weight: constant(2), Bias: nn.Zeros})
	names := named(nn.Params(l))
	for _, p := range nn.Params(l) {
		want := 2.0
		if p.Rank() == 1 {
			want = 0
		}
		if mean, sd, _ := spread(t, p.Value()); math.Abs(mean-want) > 1e-9 || sd > 1e-6 {
			t.Errorf("%s has mean %v", p.Name(), mean)
		}
	}
	want := " weight_ih_l0 [3 8] weight_ih_l1 [4 8] weight_hh_l0 [2 8] weight_hh_l1 [2 8] bias_ih_l0 [8] bias_ih_l1 [8] bias_hh_l0 [8] bias_hh_l1 [8]" +
		" weight_ih_l0_reverse [3 8] weight_ih_l1_reverse [4 8] weight_hh_l0_reverse [2 8] weight_hh_l1_reverse [2 8]" +
		" bias_ih_l0_reverse [8] bias_ih_l1_reverse [8] bias_hh_l0_reverse [8] bias_hh_l1_reverse [8]"
	if names != want {
		t.Errorf("parameters%s\nwant%s", names, want)
	}
}

// TestRecurrentMisuse: inputs and states that are not the layer's are errors that say what is.
func TestRecurrentMisuse(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewGRU(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2})
	zeros := func(shape ...int) *autograd.Node { return autograd.Const(tensor.Zeros(d, shape...)) }
	for say, f := range map[string]func(){
		"GRU: shape mismatch [2 3]: the input is [batch, time, 3]":         func() { l.Forward(zeros(2, 3)) },
		"GRU: shape mismatch [2 5 4]: the input is [batch, time, 3]":       func() { l.Forward(zeros(2, 5, 4)) },
		"GRU: shape mismatch [2 0 3]: the input has no time":               func() { l.Forward(zeros(2, 0, 3)) },
		"GRU: shape mismatch [2 5 3] [2 4]: the first state is [2 2 4]":    func() { l.Run(zeros(2, 5, 3), zeros(2, 4)) },
		"LSTM: shape mismatch [2 5 3] [2 2 4]: the first state is [1 5 4]": func() { lstmOf(d).Run(zeros(2, 5, 3), nil, zeros(2, 2, 4)) },
		"LSTM: shape mismatch [2 0 5]: the input is [time, batch, 3]":      func() { lstmOf(d).Forward(zeros(2, 0, 5)) },
		"NewGRU: shape mismatch: In is 0: a size is 1 or more":             func() { nn.NewGRU(d, tensor.NewRNG(1), nn.RecurrentConfig{Hidden: 1}) },
		"NewLSTM: shape mismatch: Hidden is -1: a size is 1 or more":       func() { nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 1, Hidden: -1}) },
		"NewLSTM: shape mismatch: Layers is -1: a size is 1 or more":       func() { nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 1, Hidden: 1, Layers: -1}) },
		"NewLSTM: bad value: Dropout is 1.5: a probability is in [0, 1]":   func() { nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 1, Hidden: 1, Dropout: 1.5}) },
	} {
		err := tensor.Try(f)
		var e *tensor.Error
		if !errors.As(err, &e) || err.Error() != "nn: "+say {
			t.Errorf("err = %v\nwant  nn: %s", err, say)
		}
	}
}

func lstmOf(d tensor.Device) *nn.LSTM {
	return nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 3, Hidden: 4, TimeFirst: true})
}
