package nn_test

import (
	"errors"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestTo: a model of another type of floats has all of its parameters and buffers in it, gives that
// type of an input of it, near what it gave before, and in float64 again.
func TestTo(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		image := autograd.Const(rng.Uniform(d, -1, 1, 2, 3, 6, 6))
		row := autograd.Const(rng.Uniform(d, -1, 1, 2, 5, 8))
		for name, c := range map[string]struct {
			model nn.Module
			x     *autograd.Node
		}{
			"convolutions": {nn.Sequential{nn.NewConv(d, rng, nn.ConvConfig{In: 3, Out: 4, Kernel: []int{3, 3}}),
				nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 4}),
				nn.ReLU, &nn.MaxPool{Window: []int{2, 2}}, &nn.Flatten{}, nn.NewLinear(d, rng, nn.LinearConfig{In: 16, Out: 3})}, image},
			"a perceptron": {nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{8, 16, 4}}), row},
			"a norm":       {nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{8}}), row},
		} {
			nn.Eval(c.model)
			before := c.model.Forward(c.x)
			dict := nn.StateDict(c.model)
			for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16, tensor.Float64, d.DefaultType()} {
				if !d.Supports(typ) {
					continue
				}
				nn.To(c.model, typ)
				for path, v := range nn.StateDict(c.model) {
					if v.Type().Float() && v.Type() != typ || v != dict[path] && v.Rank() != 2 {
						t.Errorf("%s in %v: %q is of %v, or another tensor", name, typ, path, v.Type())
					}
				}
				y := c.model.Forward(c.x.To(typ))
				if y.Type() != typ {
					t.Errorf("%s in %v gives %v", name, typ, y.Type())
				}
				got, want := devtest.Float64s(t, y.Value()), devtest.Float64s(t, before.Value())
				for i := range want {
					if math.Abs(got[i]-want[i]) > 0.06 { // the weights were rounded to 8 bits once
						t.Fatalf("%s in %v: element %d is %v, was %v", name, typ, i, got[i], want[i])
					}
				}
			}
		}
		model := nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 2})
		if err := tensor.Try(func() { nn.To(model, tensor.Int32) }); !errors.Is(err, tensor.ErrType) {
			t.Errorf("to integers: err = %v", err)
		}
		opt := optim.NewSGD(nn.Params(model), optim.SGDConfig{LR: optim.Constant(0.1)})
		if err := tensor.Try(func() { nn.To(model, tensor.BFloat16) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("with an optimizer: err = %v", err)
		}
		opt.Free()
		nn.To(model, tensor.BFloat16)
		opt = optim.NewSGD(nn.Params(model), optim.SGDConfig{LR: optim.Constant(0.5)})
		was := devtest.Float64s(t, model.Bias.Value())
		if err := optim.Minimize(opt, model.Forward(row.To(tensor.BFloat16)).Sum()); err != nil {
			t.Fatal(err)
		}
		for i, v := range devtest.Float64s(t, model.Bias.Value()) {
			if math.Abs(v-(was[i]-5)) > 0.02 { // ten rows, each with a gradient of 1
				t.Errorf("bias %d goes from %v to %v", i, was[i], v)
			}
		}
	})
}

// TestHalfLayers: layers that are made of kernels of their own, and norms with weights of float32,
// take floats of 16 bits and give them, with gradients near those of float32; under Autocast too.
func TestHalfLayers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, layer := range map[string]func(rng *tensor.RNG) nn.Module{
			"LSTM": func(rng *tensor.RNG) nn.Module {
				return nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 8, Hidden: 4, Layers: 2, Bidirectional: true})
			},
			"GRU": func(rng *tensor.RNG) nn.Module { return nn.NewGRU(d, rng, nn.RecurrentConfig{In: 8, Hidden: 4}) },
			"TransformerBlock": func(rng *tensor.RNG) nn.Module {
				return nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Dropout: 0.1, Causal: true})
			},
			"BatchNorm": func(rng *tensor.RNG) nn.Module { return nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 5}) },
		} {
			for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
				run := func(way string) (y, grad []float64) {
					rng := tensor.NewRNG(2)
					model := layer(rng)
					x := autograd.Param(rng.Uniform(d, -1, 1, 3, 5, 8), "x")
					in := x
					var out *autograd.Node
					switch way {
					case "autocast":
						autograd.Autocast(d, typ, func() { out = model.Forward(x.To(typ)) })
					case "converted":
						nn.To(model, typ)
						fallthrough
					case "inputs":
						in = x.To(typ)
						fallthrough
					default:
						out = model.Forward(in)
					}
					if way != "" && name != "TransformerBlock" && out.Type() != typ {
						t.Errorf("%s, %s of %v gives %v", name, way, typ, out.Type())
					}
					y = devtest.Float64s(t, out.Value())
					if err := out.Mul(out).Sum().Backward(); err != nil {
						t.Fatal(err)
					}
					return y, devtest.Float64s(t, x.Grad())
				}
				y, grad := run("")
				for _, way := range []string{"inputs", "converted", "autocast"} {
					if (name == "LSTM" || name == "GRU") && way == "inputs" {
						continue // the weights of float32 make all of that
					}
					gotY, gotGrad := run(way)
					for i := range y {
						if math.Abs(y[i]-gotY[i]) > 0.06 || math.IsNaN(gotY[i]) {
							t.Fatalf("%s, %s of %v: element %d is %v, in float32 %v", name, way, typ, i, gotY[i], y[i])
						}
					}
					for i := range grad {
						if math.Abs(grad[i]-gotGrad[i]) > 0.25 || math.IsNaN(gotGrad[i]) {
							t.Fatalf("%s, %s of %v: gradient %d is %v, in float32 %v", name, way, typ, i, gotGrad[i], grad[i])
						}
					}
				}
			}
		}
	})
}
