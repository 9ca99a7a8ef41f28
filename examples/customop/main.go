// Customop brings an operation that clgrad does not have, the activation Snake, and trains a
// network with it on samples of a wave that climbs.
package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

func main() {
	if err := run(os.Stdout, "", tensor.Options{}, 1000); err != nil {
		fmt.Fprintln(os.Stderr, "customop:", err)
		os.Exit(1)
	}
}

// run trains a network on the device that a selection names and prints the error of the first and
// the last step.
func run(w io.Writer, device string, opt tensor.Options, steps int) error {
	d, err := tensor.Open(device, opt)
	if err != nil {
		return err
	}
	defer d.Close()
	first, last, err := train(d, steps)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "mean squared error %.4f, after %d steps %.6f on %s\n", first, steps, last, d.Name())
	return nil
}

// train fits a network of 24 Snakes to y = x/2 + sin 3x and returns its mean squared error at the
// first and the last step.
func train(d tensor.Device, steps int) (first, last float64, err error) {
	const samples, hidden = 256, 24
	xs, ys := make([]float32, samples), make([]float32, samples)
	for i := range xs {
		x := -3 + 6*float64(i)/(samples-1)
		xs[i], ys[i] = float32(x), float32(x/2+math.Sin(3*x))
	}
	x, y := autograd.Const(tensor.New(d, xs, samples, 1)), autograd.Const(tensor.New(d, ys, samples, 1))
	rng := tensor.NewRNG(1)
	in, bias := autograd.Param(rng.Normal(d, 0, 1, 1, hidden), "in"), autograd.Param(rng.Normal(d, 0, 1, hidden), "bias")
	out := autograd.Param(rng.Normal(d, 0, 0.1, hidden, 1), "out")
	opt := optim.NewAdamW([]*autograd.Node{in, bias, out}, optim.AdamWDefaults(optim.Cosine(0.02, 0.001, steps)))
	for step := range steps {
		loss := Snake(x.MatMul(in).Add(bias), 1.5).MatMul(out).Sub(y).Square().Mean()
		if step == 0 || step == steps-1 {
			if last, err = loss.Item(); err != nil {
				return 0, 0, err
			}
			if step == 0 {
				first = last
			}
		}
		if err := loss.Backward(); err != nil {
			return 0, 0, err
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			return 0, 0, err
		}
		opt.ZeroGrad()
	}
	return first, last, nil
}
