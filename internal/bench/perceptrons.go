package bench

import (
	"context"
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// perceptronBatches are those of the perceptrons, small and large.
var perceptronBatches = []int{512, 65536}

// perceptronRows are perceptrons of other shapes than that of mlpimage, as
// scripts/peers/torch_nets.py has them: layers of several widths with tanh and the mean squared
// error, GELU with cross-entropy, and layers whose input is added to their output.
func perceptronRows() []func(tensor.Device) net {
	var rows []func(tensor.Device) net
	for _, batch := range perceptronBatches {
		rows = append(rows,
			func(d tensor.Device) net { return tanhPerceptron(d, batch) },
			func(d tensor.Device) net { return geluPerceptron(d, batch) },
			func(d tensor.Device) net { return residualPerceptron(d, batch) })
	}
	return rows
}

// linears makes layers of the given sizes, the first of which is the inputs.
func linears(d tensor.Device, rng *tensor.RNG, sizes ...int) []*nn.Linear {
	var layers []*nn.Linear
	for i, out := range sizes[1:] {
		layers = append(layers, nn.NewLinear(d, rng, nn.LinearConfig{In: sizes[i], Out: out}))
	}
	return layers
}

func tanhPerceptron(d tensor.Device, batch int) net {
	rng := tensor.NewRNG(1)
	l := linears(d, rng, 64, 48, 96, 32, 3)
	m := nn.Sequential{l[0], nn.Tanh, l[1], nn.Tanh, l[2], nn.Tanh, l[3]}
	x, y := autograd.Const(rng.Uniform(d, -1, 1, batch, 64)), autograd.Const(rng.Uniform(d, -1, 1, batch, 3))
	return net{fmt.Sprint("tanh", batch), m, func() *node { return autograd.MSE(m.Forward(x), y) }}
}

func geluPerceptron(d tensor.Device, batch int) net {
	rng := tensor.NewRNG(1)
	l := linears(d, rng, 32, 128, 128, 10)
	m := nn.Sequential{l[0], nn.GELU, l[1], nn.GELU, l[2]}
	x := autograd.Const(rng.Uniform(d, -1, 1, batch, 32))
	return classifier(fmt.Sprint("gelu", batch), m, func() *node { return m.Forward(x) }, rng.Ints(d, 10, batch))
}

func residualPerceptron(d tensor.Device, batch int) net {
	rng := tensor.NewRNG(1)
	l := linears(d, rng, 32, 64, 64, 64, 64, 4)
	x, y := autograd.Const(rng.Uniform(d, -1, 1, batch, 32)), autograd.Const(rng.Uniform(d, -1, 1, batch, 4))
	return net{fmt.Sprint("residual", batch), l, func() *node {
		h := l[0].Forward(x).ReLU()
		for _, hidden := range l[1:4] {
			h = h.Add(hidden.Forward(h).ReLU())
		}
		return autograd.MSE(l[4].Forward(h), y)
	}}
}

// perceptrons measures training steps of small perceptrons, eager and recorded.
func (s *Suite) perceptrons(ctx context.Context) error { return s.each(ctx, perceptronRows()) }
