// Mixed trains in mixed precision with batches that come in parts: gradients add up and are clipped,
// and the averages of the weights are tested.
//
//	go run ./examples/mixed
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const (
	trained = 1344 // digits; those after them are for testing
	parts   = 4    // of a batch, whose gradients add up
)

func newNet(d tensor.Device, rng *tensor.RNG) *nn.MLP {
	return nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{64, 128, 128, 10}, Activations: []nn.Activation{nn.GELU}})
}

// pixels returns images [n, 8, 8] of 0 to 16 as [n, 64] of 0 to 1.
func pixels(images *tensor.Tensor) *autograd.Node {
	return autograd.Const(images).Flatten(1, -1).DivScalar(16)
}

// trainer is a net with what a step of training changes.
type trainer struct {
	net *nn.MLP
	opt optim.Optimizer
	ema *optim.EMA
}

func newTrainer(net *nn.MLP) *trainer {
	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(3e-3)))
	return &trainer{net: net, opt: opt, ema: optim.NewEMA(nn.Params(net), 0.95)}
}

// train computes products in typ, and returns the loss of each part of a batch.
func (t *trainer) train(d tensor.Device, typ tensor.Type, loader *data.Loader, epochs int) (losses []float64, err error) {
	for range epochs {
		for batch := range loader.Epoch() {
			var loss *autograd.Node
			autograd.Autocast(d, typ, func() {
				loss = autograd.CrossEntropy(t.net.Forward(pixels(batch[0])), batch[1])
			})
			value, err := loss.Item()
			if err != nil {
				return nil, err
			}
			if err := loss.DivScalar(parts).Backward(); err != nil {
				return nil, err
			}
			if losses = append(losses, value); len(losses)%parts == 0 {
				optim.ClipNorm(nn.Params(t.net), 0.5)
				if err := t.opt.Step(); err != nil {
					return nil, err
				}
				t.opt.ZeroGrad()
				if err := t.ema.Update(); err != nil {
					return nil, err
				}
			}
		}
	}
	return losses, nil
}

// test returns the loss of the averaged weights.
func (t *trainer) test(d tensor.Device, images, labels *tensor.Tensor) (loss float64, err error) {
	failed := t.ema.Use(func() {
		autograd.NoGrad(d, func() {
			loss, err = autograd.CrossEntropy(t.net.Forward(pixels(images)), labels).Item()
		})
	})
	return loss, errors.Join(err, failed)
}

func main() {
	d, err := tensor.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	digits, err := data.LoadNPZ("testdata/digits.npz")
	if err != nil {
		log.Fatal(err)
	}
	images, labels := digits["images"], digits["labels"].To(tensor.Int64)
	t := newTrainer(newNet(d, tensor.NewRNG(1)))
	loader := data.NewLoader(d, []data.Array{images.Slice(0, trained), labels.Slice(0, trained)},
		data.LoaderConfig{Batch: 32, Seed: 1})
	losses, err := t.train(d, tensor.BFloat16, loader, 10)
	if err != nil {
		log.Fatal(err)
	}
	end := images.Len()
	loss, err := t.test(d, images.Slice(trained, end).Tensor(d), labels.Slice(trained, end).Tensor(d))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, then %.4f; %.4f on other digits, by averaged weights\n", losses[0], losses[len(losses)-1], loss)
}
