package nn_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestReplay: training steps of models that were recorded leave the bits of eager ones, in
// parameters, in running statistics and in what dropout draws.
func TestReplay(t *testing.T) {
	for name, build := range map[string]func(d tensor.Device, rng *tensor.RNG) (model any, forward func() *autograd.Node){
		"convolutions": func(d tensor.Device, rng *tensor.RNG) (any, func() *autograd.Node) {
			net := nn.Sequential{
				nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 3, Kernel: []int{3, 3}}), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 3}), nn.ReLU,
				&nn.MaxPool{Window: []int{2, 2}}, &nn.Dropout{P: 0.25, RNG: rng}, &nn.Flatten{}, nn.NewLinear(d, rng, nn.LinearConfig{In: 12, Out: 5}), nn.Tanh,
				nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{5}}), &nn.Dropout{P: 0.5, RNG: rng}, nn.NewLinear(d, rng, nn.LinearConfig{In: 5, Out: 2}),
			}
			x := autograd.Const(rng.Uniform(d, -1, 1, 4, 1, 6, 6))
			return net, func() *autograd.Node { return net.Forward(x) }
		},
		"transformer": func(d tensor.Device, rng *tensor.RNG) (any, func() *autograd.Node) {
			net := nn.Sequential{
				nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 2, Dropout: 0.2, Causal: true, NormFirst: true}),
				nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 1, Activation: nn.GELU}),
			}
			x := autograd.Const(rng.Uniform(d, -1, 1, 2, 5, 4))
			return net, func() *autograd.Node { return net.Forward(x) }
		},
		"recurrent": func(d tensor.Device, rng *tensor.RNG) (any, func() *autograd.Node) {
			var net struct {
				GRU  *nn.GRU
				LSTM *nn.LSTM
			}
			net.GRU = nn.NewGRU(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Bidirectional: true, Dropout: 0.3})
			net.LSTM = nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 8, Hidden: 3, Layers: 2, Dropout: 0.3})
			x := autograd.Const(rng.Uniform(d, -1, 1, 2, 4, 3))
			return &net, func() *autograd.Node { return net.LSTM.Forward(net.GRU.Forward(x)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				run := func(recorded bool) (bits [][]float64) {
					rng := tensor.NewRNG(3)
					model, forward := build(d, rng)
					opt := optim.NewAdamW(nn.Params(model), optim.AdamWDefaults(optim.Constant(0.02)))
					step := func() ([]*tensor.Tensor, error) {
						loss := forward().Square().Mean()
						if err := loss.Backward(); err != nil {
							return nil, err
						}
						if err := opt.Step(); err != nil {
							return nil, err
						}
						opt.ZeroGrad()
						return []*tensor.Tensor{loss.Value()}, nil
					}
					again := func() error { _, err := step(); return err }
					if recorded {
						r, err := replay.Record(d, step) // which does it twice
						if err != nil {
							t.Fatal(err)
						}
						again = r.Run
					} else {
						for range 2 {
							if _, err := step(); err != nil {
								t.Fatal(err)
							}
						}
					}
					for range 3 {
						if err := again(); err != nil {
							t.Fatal(err)
						}
						for _, v := range sorted(nn.StateDict(model)) {
							f, err := v.To(d.DefaultType()).Float64s()
							if err != nil {
								t.Fatal(err)
							}
							bits = append(bits, f)
						}
					}
					return bits
				}
				eager, replayed := run(false), run(true)
				if slices.Equal(eager[0], eager[len(eager)/3*2]) {
					t.Error("the steps changed nothing")
				}
				for i, want := range eager {
					if !slices.Equal(want, replayed[i]) {
						t.Fatalf("tensor %d of %d is %v after three steps more, want %v", i, len(eager), replayed[i], want)
					}
				}
			})
		})
	}
}

// sorted returns the tensors of a dict in the order of their names.
func sorted(dict tensor.Dict) (list []*tensor.Tensor) {
	var names []string
	for name := range dict {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, dict[name])
	}
	return list
}
