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

// TestLayers: a step with norms, running statistics, softmax and two dropouts of one stream, whose
// gradients make the numbers of calls before the last again, leaves the same bits replayed as done
// eagerly.
func TestLayers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		run := func(recorded bool) (bits [][]float64) {
			rng := tensor.NewRNG(7)
			x, y := autograd.Const(rng.Uniform(d, -1, 1, 20, 6)), autograd.Const(rng.Uniform(d, 0, 1, 20, 6))
			w, scale, shift := autograd.Param(rng.Uniform(d, -1, 1, 6, 6), "w"), autograd.Param(tensor.Full(d, 1, 6), "scale"), autograd.Param(tensor.Zeros(d, 6), "shift")
			params := []*autograd.Node{w, scale, shift}
			opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.02)))
			o := tensor.BatchNormOptions{Mean: tensor.Zeros(d, 6), Var: tensor.Full(d, 1, 6)}
			step := func() ([]*tensor.Tensor, error) {
				h := x.Dropout(0.25, rng, true).MatMul(w).BatchNorm(scale, shift, 1e-5, o).Dropout(0.5, rng, true)
				h = h.LayerNorm(-1, scale, nil, 1e-5).RMSNorm(-1, nil, 1e-5).Reshape(5, 4, 6).GroupNorm(2, nil, nil, 1e-5).Reshape(20, 6)
				loss := h.LogSoftmax(-1).Mul(y).Sub(h.Softmax(0)).Mean()
				if err := loss.Backward(); err != nil {
					return nil, err
				}
				if err := opt.Step(); err != nil {
					return nil, err
				}
				opt.ZeroGrad()
				return []*tensor.Tensor{loss.Value()}, nil
			}
			note := func() {
				for _, v := range []*tensor.Tensor{w.Value(), scale.Value(), shift.Value(), o.Mean, o.Var} {
					f, err := v.Float64s()
					if err != nil {
						t.Fatal(err)
					}
					bits = append(bits, f)
				}
			}
			if !recorded {
				for range 6 {
					if _, err := step(); err != nil {
						t.Fatal(err)
					}
					note()
				}
				return bits
			}
			r, err := replay.Record(d, step) // which does it twice
			if err != nil {
				t.Fatal(err)
			}
			note()
			for range 4 {
				if err := r.Run(); err != nil {
					t.Fatal(err)
				}
				note()
			}
			return bits
		}
		eager, replayed := run(false)[5:], run(true)
		for i, want := range eager {
			if !slices.Equal(want, replayed[i]) {
				t.Fatalf("tensor %d after %d steps is %v, want %v", i%5, 2+i/5, replayed[i], want)
			}
		}
	})
}
