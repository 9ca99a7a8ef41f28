package replay_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestStorageTypes: a training step with weights that are rounded to a type for storage, and moved as it,
// leaves, recorded, the bits that it leaves eagerly.
func TestStorageTypes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range []tensor.Type{tensor.Float8E4M3FN, tensor.Float4E2M1} {
			train := func(record bool) []float64 {
				rng := tensor.NewRNG(3)
				w := autograd.Param(rng.Normal(d, 0, 1, 9, 6), "w")
				x, target := rng.Normal(d, 0, 1, 5, 6).Retain(), rng.Normal(d, 0, 1, 5, 9).Retain()
				opt := optim.NewAdamW([]*autograd.Node{w}, optim.AdamWDefaults(optim.Constant(0.1)))
				step := func() ([]*tensor.Tensor, error) {
					low := w.MulScalar(1.5).To(typ).Transpose(1, 0)
					y := autograd.Const(x).MatMul(low.To(tensor.Float32).Tanh())
					return nil, optim.Minimize(opt, autograd.MSE(y, autograd.Const(target)))
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
						tensor.Scope(d, func() { _, err = step() })
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				return devtest.Float64s(t, w.Value())
			}
			if eager, recorded := train(false), train(true); !slices.Equal(eager, recorded) {
				t.Errorf("%v: weights are %v, and recorded %v", typ, eager, recorded)
			}
		}
	})
}
