package onnx_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestTraining: the weights of a loaded model are parameters by the file's names, and a recorded step trains them.
func TestTraining(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m, err := onnx.Open("../testdata/onnx/perceptron.onnx")
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Load(d, onnx.Options{Training: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		params := nn.Params(s)
		var names []string
		for _, p := range params {
			names = append(names, p.Name())
		}
		if !slices.Equal(names, []string{"b", "w"}) {
			t.Fatalf("parameters %v", names)
		}
		if dict := nn.StateDict(s); len(dict) != 2 || dict["w"] == nil {
			t.Errorf("state dict %v", dict)
		}
		x := tensor.New(d, []float32{1, 2, 3, 1, 1, 1}, 2, 3)
		y := tensor.New(d, []float32{5, 7, 3, 2}, 2, 2)
		opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.01)))
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			loss := s.Forward(autograd.Const(x))[0].SquaredError(autograd.Const(y)).Mean()
			return []*tensor.Tensor{loss.Value()}, optim.Minimize(opt, loss)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		for range 1000 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if loss, err := rec.Outputs()[0].Item(); err != nil || !(loss < 1e-2) {
			t.Errorf("the loss is %v, %v", loss, err)
		}
		s.Weights["w"].Freeze()
		out := s.Forward(autograd.Const(x))[0].Sum()
		if err := out.Backward(); err != nil {
			t.Fatal(err)
		}
		if s.Weights["w"].Grad() != nil || s.Weights["b"].Grad() == nil {
			t.Error("a frozen weight has a gradient, or one that is not has none")
		}
		nn.Eval(s)
	})
}

// TestGradient: gradients of a loaded model are those of central differences.
func TestGradient(t *testing.T) {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := onnx.Open("../testdata/onnx/perceptron.onnx")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Load(d, onnx.Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := tensor.New(d, []float64{1, 2, 3, 0, 1, 0.25}, 2, 3)
	loss := func() *autograd.Node { return s.Forward(autograd.Const(x))[0].Square().Sum() }
	if err := loss().Backward(); err != nil {
		t.Fatal(err)
	}
	for name, p := range s.Weights {
		grad, err := p.Grad().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		w, err := p.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range w {
			at := func(by float64) float64 {
				moved := slices.Clone(w)
				moved[i] += by
				tensor.Upload(p.Value(), moved)
				y, err := loss().Item()
				if err != nil {
					t.Fatal(err)
				}
				return y
			}
			const h = 1e-6
			if want := (at(h) - at(-h)) / (2 * h); math.Abs(grad[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s[%d]: the gradient is %v, and differences say %v", name, i, grad[i], want)
			}
			tensor.Upload(p.Value(), w)
		}
	}
}
