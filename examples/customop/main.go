// Customop brings an operation that clgrad does not have, the activation Snake, and trains a
// network with it on samples of a wave that climbs.
package main

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

type net struct {
	Input, Bias, Output *autograd.Node
}

func newNet(d tensor.Device, rng *tensor.RNG, hidden int) *net {
	return &net{
		Input:  autograd.Param(rng.Normal(d, 0, 1, 1, hidden), "input"),
		Bias:   autograd.Param(rng.Normal(d, 0, 1, hidden), "bias"),
		Output: autograd.Param(rng.Normal(d, 0, 0.1, hidden, 1), "output"),
	}
}

func (n *net) Forward(x *autograd.Node) *autograd.Node {
	return Snake(x.MatMul(n.Input).Add(n.Bias), 1.5).MatMul(n.Output)
}

// train fits y = x/2 + sin 3x, and returns the loss of each step.
func train(d tensor.Device, n *net, steps int) (losses []float64, err error) {
	x := tensor.Linspace(d, -3, 3, 256).Unsqueeze(1)
	y := x.DivScalar(2).Add(x.MulScalar(3).Sin())
	opt := optim.NewAdamW(nn.Params(n), optim.AdamWDefaults(optim.Cosine(0.02, 0.001, steps)))
	for range steps {
		loss := n.Forward(autograd.Const(x)).Sub(autograd.Const(y)).Square().Mean()
		if err := optim.Minimize(opt, loss); err != nil {
			return nil, err
		}
		value, err := loss.Item()
		if err != nil {
			return nil, err
		}
		losses = append(losses, value)
	}
	return losses, nil
}

func main() {
	d, err := tensor.Open("")
	if err != nil {
		log.Fatal(err)
	}
	losses, err := train(d, newNet(d, tensor.NewRNG(1), 24), 1000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean squared error %.4f, after 1000 steps %.6f on %s\n", losses[0], losses[len(losses)-1], d.Name())
}
