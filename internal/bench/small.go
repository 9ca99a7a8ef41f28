package bench

import (
	"context"
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// smallNets is the batches and the widths of the hidden layers of small perceptrons. The product of
// a batch and its widest layer is the elements of the largest tensor of a step,
// [tensor.Options].LargestTensorHint: from 16 to 65,536.
var smallNets = []struct {
	batch  int
	hidden []int
}{{4, []int{4}}, {8, []int{16}}, {32, []int{16}}, {64, []int{16}}, {128, []int{16}}, {256, []int{16}}, {32, []int{64, 64}}, {500, []int{40, 10}}, {1024, []int{64, 64}}}

// small measures eager training steps, operation by operation, of perceptrons of 2 inputs and 1
// output: they are mostly launches, and show from which size on a device is faster than another.
func (s *Suite) small(ctx context.Context) error {
	for _, c := range smallNets {
		name := fmt.Sprintf("small %dx2", c.batch)
		for _, h := range c.hidden {
			name += fmt.Sprintf("-%d", h)
		}
		if err := s.perceptron(ctx, name+"-1", c.batch, c.hidden); err != nil {
			return err
		}
	}
	return nil
}

func (s *Suite) perceptron(ctx context.Context, name string, batch int, hidden []int) error {
	d := s.Device
	sizes := append(append([]int{2}, hidden...), 1)
	cfg := nn.MLPConfig{Sizes: sizes}
	for range hidden {
		cfg.Activations = append(cfg.Activations, nn.Tanh)
	}
	rng := tensor.NewRNG(1)
	net := nn.NewMLP(d, rng, cfg)
	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(1e-3)))
	x := autograd.Const(rng.Uniform(d, -1, 1, batch, 2).Retain())
	y := autograd.Const(rng.Uniform(d, -1, 1, batch, 1).Retain())
	_, err := s.timeErr(ctx, name, "us", 0, 0, func() error {
		loss := net.Forward(x).Sub(y).Square().Mean()
		if err := loss.Backward(); err != nil {
			return err
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			return err
		}
		opt.ZeroGrad()
		return nil
	})
	return err
}
