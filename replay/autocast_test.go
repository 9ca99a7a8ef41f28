package replay_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestAutocast: a training step in mixed precision leaves, recorded, the bits that it leaves eagerly,
// and what it casts is cast in the launches beside it, or with other casts.
func TestAutocast(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, l := range trainAutocast(t, d, 16, 12, 20) {
			if l.Kernel == "k_copy" {
				t.Errorf("a cast is a launch of its own: %v", l)
			}
		}
	})
	t.Run("as matrix units", func(t *testing.T) { // which read 16 bits as they lie
		open := func() tensor.Device {
			return devtest.Open(t, "cpu", devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
		}
		plain, units := open(), open()
		tensorapi.Impl.AsMatrixUnits(units, true)
		least, n := len(trainAutocast(t, plain, 128, 128, 136)), len(trainAutocast(t, units, 128, 128, 136))
		if n > least+2 { // of each recording, weights that become 16 bits are cast apart from biases that stay floats
			t.Errorf("%d launches where other devices have %d", n, least)
		}
	})
}

// trainAutocast trains a network with a hidden layer by so many samples of so many inputs, eagerly and
// recorded, which must leave the same bits. It returns the launches of the recorded steps.
func trainAutocast(t *testing.T, d tensor.Device, samples, inputs, hidden int) (launches []replay.Launch) {
	for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
		train := func(record bool) (weights [][]float64) {
			rng := tensor.NewRNG(3)
			model := nn.Sequential{nn.NewLinear(d, rng, nn.LinearConfig{In: inputs, Out: hidden}), nn.GELU,
				nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{hidden}}), nn.NewLinear(d, rng, nn.LinearConfig{In: hidden, Out: 5})}
			opt := optim.NewAdamW(nn.Params(model), optim.AdamWDefaults(optim.Constant(0.01)))
			x, labels := rng.Normal(d, 0, 1, samples, inputs).Retain(), rng.Ints(d, 5, samples).Retain()
			step := func() ([]*tensor.Tensor, error) {
				var loss *autograd.Node
				autograd.Autocast(d, typ, func() {
					h := model.Forward(autograd.Const(x))
					loss = autograd.CrossEntropy(h.Tanh().MulScalar(2).Add(h), labels)
				})
				out := loss.Value().Retain()
				return []*tensor.Tensor{out}, optim.Minimize(opt, loss)
			}
			var rec *replay.Recording
			if record {
				var err error
				if rec, err = replay.Record(d, step); err != nil {
					t.Fatal(err)
				}
				defer rec.Free()
			}
			for opt.Steps() < 6 {
				var err error
				if record {
					err = rec.Run()
				} else {
					_, err = step()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if record {
				launches = append(launches, rec.Launches()...)
			}
			for _, p := range nn.Params(model) {
				weights = append(weights, devtest.Float64s(t, p.Value()))
			}
			return weights
		}
		eager, recorded := train(false), train(true)
		for i, w := range eager {
			if !slices.Equal(w, recorded[i]) {
				t.Errorf("%v: parameter %d is %v, recorded %v", typ, i, w[:3], recorded[i][:3])
			}
		}
	}
	return launches
}

// TestRecordInAutocast: a step that is recorded within an Autocast that has cast a parameter before casts
// it each time it runs.
func TestRecordInAutocast(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	w := autograd.Param(devtest.New(d, []float32{1, 2, 3, 4}, 2, 2), "w")
	one := autograd.Const(tensor.Eye(d, 2, 2))
	autograd.Autocast(d, tensor.BFloat16, func() {
		one.MatMul(w)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{one.MatMul(w).Value()}, nil })
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		w.Value().FillInPlace(7)
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if got := devtest.Float64s(t, rec.Outputs()[0]); !slices.Equal(got, []float64{7, 7, 7, 7}) {
			t.Errorf("after the parameter changed the step gives %v", got)
		}
	})
}
