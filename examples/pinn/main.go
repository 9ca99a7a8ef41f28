// Pinn solves the heat equation u_t = k·u_xx on x and t of 0 to 1 without data: a network learns to
// obey it, by its second derivatives.
//
//	go run ./examples/pinn
package main

import (
	"fmt"
	"log"
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const k = 0.1 // of the heat equation

func newNet(d tensor.Device, rng *tensor.RNG) *nn.MLP {
	return nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 32, 32, 1}, Activations: []nn.Activation{nn.Tanh}})
}

// solution returns u at x and t [n, 1]. Whatever the network says, u is sin πx at t = 0, and 0 at x
// = 0 and x = 1.
func solution(net *nn.MLP, x, t *autograd.Node) *autograd.Node {
	inside := x.Mul(x.Neg().AddScalar(1)).Mul(t)
	return x.MulScalar(math.Pi).Sin().Add(inside.Mul(net.Forward(autograd.Concat(1, x, t))))
}

// residual returns u_t − k·u_xx at parameters x and t [n, 1].
func residual(net *nn.MLP, x, t *autograd.Node) (*autograd.Node, error) {
	graph := autograd.GradOptions{CreateGraph: true}
	first, err := autograd.Grad(solution(net, x, t).Sum(), []*autograd.Node{x, t}, graph)
	if err != nil {
		return nil, err
	}
	second, err := autograd.Grad(first[0].Sum(), []*autograd.Node{x}, graph)
	if err != nil {
		return nil, err
	}
	return first[1].Sub(second[0].MulScalar(k)), nil
}

// points returns n of x and of t, spread over the square. Their gradients are asked for: they are
// parameters, though of no optimizer.
func points(d tensor.Device, n int) (x, t *autograd.Node) {
	i := tensor.Arange(d, 1, float64(n+1), 1).Reshape(n, 1)
	return autograd.Param(i.MulScalar(0.754877).Frac(), "x"), autograd.Param(i.MulScalar(0.569840).Frac(), "t")
}

// train returns the loss of each step.
func train(d tensor.Device, net *nn.MLP, steps int) (losses []float64, err error) {
	x, t := points(d, 256)
	opt := optim.NewAdam(nn.Params(net), optim.AdamDefaults(optim.Cosine(1e-2, 0, steps)))
	for range steps {
		r, err := residual(net, x, t)
		if err != nil {
			return nil, err
		}
		loss := r.Square().Mean()
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

// test returns the largest error at other points: the solution is e^(−π²kt)·sin πx.
func test(d tensor.Device, net *nn.MLP) (worst float64, err error) {
	x, t := points(d, 1000)
	autograd.NoGrad(d, func() {
		exact := t.MulScalar(-math.Pi * math.Pi * k).Exp().Mul(x.MulScalar(math.Pi).Sin())
		worst, err = solution(net, x, t).Sub(exact).Abs().Max().Item()
	})
	return worst, err
}

func main() {
	d, err := tensor.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	net := newNet(d, tensor.NewRNG(1))
	losses, err := train(d, net, 400)
	if err != nil {
		log.Fatal(err)
	}
	worst, err := test(d, net)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("squared residual %.6f, then %.6f; largest error %.5f\n", losses[0], losses[len(losses)-1], worst)
}
