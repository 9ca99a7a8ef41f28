package fusion_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// TestUnlinked: a program that links no fusion of perceptrons, as this one, records their steps layer
// by layer, with the bits of the eager step.
func TestUnlinked(t *testing.T) {
	if list := fusion.Registered(); len(list) != 0 {
		t.Fatalf("this test links %v", list)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		eager, _ := train(t, d, false)
		recorded, report := train(t, d, true)
		if report.FusedSteps != 0 || report.NotFused != nil {
			t.Errorf("%d fused steps, %v", report.FusedSteps, report.NotFused)
		}
		if !slices.Equal(recorded, eager) {
			t.Error("the parameters are not those of eager steps")
		}
	})
}

// train returns the loss and the parameters of a perceptron after six steps, or four replays and
// the two steps of a recording.
func train(t *testing.T, d tensor.Device, recorded bool) (values []float64, report replay.Report) {
	rng := tensor.NewRNG(9)
	param := func(name string, shape ...int) *autograd.Node {
		return autograd.Param(rng.Normal(d, 0, 0.5, shape...), name)
	}
	params := []*autograd.Node{param("w0", 8, 16), param("b0", 16), param("w1", 16, 3)}
	x, y := autograd.Const(rng.Uniform(d, -1, 1, 40, 8)), autograd.Const(rng.Uniform(d, 0, 1, 40, 3))
	opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.01)))
	step := func() ([]*tensor.Tensor, error) {
		loss := x.MatMul(params[0]).Add(params[1]).LeakyReLU(0.1).MatMul(params[2]).SquaredError(y)
		if err := loss.Backward(); err != nil {
			return nil, err
		}
		defer opt.ZeroGrad()
		return []*tensor.Tensor{loss.Value()}, opt.Step()
	}
	var outputs []*tensor.Tensor
	if recorded {
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		report, outputs = rec.Report(), rec.Outputs()
		for range 4 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
	} else {
		for range 6 {
			var err error
			if outputs, err = step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, v := range append(outputs, params[0].Value(), params[1].Value(), params[2].Value()) {
		of, err := v.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, of...)
	}
	if slices.ContainsFunc(values, math.IsNaN) {
		t.Fatal("NaN")
	}
	return values, report
}
