// Lstm learns to continue a wave: it reads values, says the next one, and feeds its answers back.
//
//	go run ./examples/lstm
package main

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const (
	length = 400 // values of the wave
	window = 40  // values that the model reads in training
	ahead  = 30  // values that it continues with
)

type forecaster struct {
	LSTM *nn.LSTM
	Head *nn.Linear
}

func newForecaster(d tensor.Device, rng *tensor.RNG) *forecaster {
	return &forecaster{
		LSTM: nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 1, Hidden: 32}),
		Head: nn.NewLinear(d, rng, nn.LinearConfig{In: 32, Out: 1}),
	}
}

// Forward returns, for x [n, time, 1], the value that follows each: [n, time, 1].
func (f *forecaster) Forward(x *autograd.Node) *autograd.Node {
	return f.Head.Forward(f.LSTM.Forward(x))
}

// extend returns the n values [1, n, 1] that follow x [1, time, 1].
func (f *forecaster) extend(x *autograd.Node, n int) *autograd.Node {
	var y, state, cell *autograd.Node
	var values []*autograd.Node
	for range n {
		y, state, cell = f.LSTM.Run(x, state, cell)
		x = f.Head.Forward(y.Slice(1, -1, tensor.End))
		values = append(values, x)
	}
	return autograd.Concat(1, values...)
}

// wave returns the sum of a slow and a fast wave, n values.
func wave(d tensor.Device, n int) *tensor.Tensor {
	t := tensor.Arange(d, 0, float64(n), 1)
	return t.MulScalar(0.3).Sin().Add(t.MulScalar(0.11).Cos()).MulScalar(0.4)
}

// train returns the loss of each step.
func train(net *forecaster, series *tensor.Tensor, steps int) (losses []float64, err error) {
	windows := series.Unfold(0, window+1, 4).Unsqueeze(2) // [n, window + 1, 1]
	x, y := autograd.Const(windows.Slice(1, 0, -1)), autograd.Const(windows.Slice(1, 1, tensor.End))
	opt := optim.NewAdam(nn.Params(net), optim.AdamDefaults(optim.Cosine(1e-2, 0, steps)))
	for range steps {
		loss := autograd.MSE(net.Forward(x), y)
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

// test returns the mean squared error of what the model continues a series with.
func test(d tensor.Device, net *forecaster, series *tensor.Tensor) (loss float64, err error) {
	start, end := autograd.Const(series.Slice(0, -ahead-window, -ahead)), autograd.Const(series.Slice(0, -ahead, tensor.End))
	autograd.NoGrad(d, func() {
		loss, err = autograd.MSE(net.extend(start.Reshape(1, -1, 1), ahead).Flatten(0, -1), end).Item()
	})
	return loss, err
}

func main() {
	d, err := tensor.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	net, series := newForecaster(d, tensor.NewRNG(1)), wave(d, length+ahead)
	losses, err := train(net, series.Slice(0, 0, length), 300)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := test(d, net, series)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.6f, then %.6f\n", losses[0], losses[len(losses)-1])
	fmt.Printf("error %.6f of %d values ahead\n", loss, ahead)
}
