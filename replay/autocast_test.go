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
	t.Run("convolutions", func(t *testing.T) { // which read and store 16 bits as they lie
		devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
			// Of both types: the input, and each of 8 parameters and its gradient, which then is copied to its place.
			const most = 2 * (1 + 3*8)
			casts, launches := 0, trainPictures(t, d)
			for _, l := range launches {
				if !slices.ContainsFunc(l.Does, func(k string) bool { return k != "k_copy" }) {
					casts += len(l.Does)
				}
			}
			if casts > most {
				t.Errorf("%d casts are in launches that only cast, more than %d: %v", casts, most, launches)
			}
		})
	})
	t.Run("as matrix units", func(t *testing.T) { // which read 16 bits as they lie
		units := devtest.Open(t, "cpu", devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
		tensorapi.Impl.AsMatrixUnits(units, true)
		const most = 34 // of both recordings: products store float32, and casts are in the launches behind them
		if n := len(trainAutocast(t, units, 128, 128, 136)); n > most {
			t.Errorf("%d launches, more than %d", n, most)
		}
	})
}

// trainAutocast trains a network with a hidden layer by so many samples of so many inputs.
func trainAutocast(t *testing.T, d tensor.Device, samples, inputs, hidden int) []replay.Launch {
	return trainMixed(t, d, []int{samples, inputs}, func(rng *tensor.RNG) nn.Sequential {
		return nn.Sequential{nn.NewLinear(d, rng, nn.LinearConfig{In: inputs, Out: hidden}), nn.GELU,
			nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{hidden}}), nn.NewLinear(d, rng, nn.LinearConfig{In: hidden, Out: 5})}
	})
}

// trainPictures trains a network of convolutions, of groups too, and pools.
func trainPictures(t *testing.T, d tensor.Device) []replay.Launch {
	return trainMixed(t, d, []int{6, 3, 12, 14}, func(rng *tensor.RNG) nn.Sequential {
		return nn.Sequential{nn.NewConv(d, rng, nn.ConvConfig{In: 3, Out: 16, Kernel: []int{3, 3}, ConvOptions: tensor.ConvOptions{Padding: []int{1}}}), nn.ReLU,
			&nn.MaxPool{Window: []int{2, 2}}, nn.NewConv(d, rng, nn.ConvConfig{In: 16, Out: 16, Kernel: []int{3, 3}, ConvOptions: tensor.ConvOptions{Groups: 16}}), nn.SiLU,
			nn.NewConv(d, rng, nn.ConvConfig{In: 16, Out: 20, Kernel: []int{1, 1}}), &nn.AvgPool{Window: []int{2, 2}},
			nn.NewConv(d, rng, nn.ConvConfig{In: 20, Out: 5, Kernel: []int{2, 2}}), &nn.Flatten{}}
	})
}

// trainMixed trains a network that ends in 5 classes by samples of a shape, eagerly and recorded, which must leave the same
// bits. It returns the launches of the recorded steps.
func trainMixed(t *testing.T, d tensor.Device, shape []int, network func(rng *tensor.RNG) nn.Sequential) (launches []replay.Launch) {
	for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
		train := func(record bool) (weights [][]float64) {
			rng := tensor.NewRNG(3)
			model := network(rng)
			opt := optim.NewAdamW(nn.Params(model), optim.AdamWDefaults(optim.Constant(0.01)))
			x, labels := rng.Normal(d, 0, 1, shape...).Retain(), rng.Ints(d, 5, shape[0]).Retain()
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
