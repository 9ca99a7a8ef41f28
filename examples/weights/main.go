// Weights loads a network that PyTorch trained to read digits, by the names of its weights, gives it
// another head, and trains that alone: is a digit even or odd?
//
//	go run ./examples/weights
package main

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const trained = 1344 // digits; those after them are for testing

// classifier has the names of the class in PyTorch: features.0.weight, head.weight, …
type classifier struct {
	Features nn.Sequential
	Head     *nn.Linear
}

func newClassifier(d tensor.Device, rng *tensor.RNG, classes int) *classifier {
	same, pool := tensor.ConvOptions{Padding: []int{1}}, &nn.MaxPool{Window: []int{2, 2}}
	return &classifier{
		Features: nn.Sequential{
			nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 16, Kernel: []int{3, 3}, ConvOptions: same}), nn.ReLU, pool,
			nn.NewConv(d, rng, nn.ConvConfig{In: 16, Out: 32, Kernel: []int{3, 3}, ConvOptions: same}), nn.ReLU, pool,
			&nn.Flatten{}, nn.NewLinear(d, rng, nn.LinearConfig{In: 128, Out: 64}), nn.ReLU,
		},
		Head: nn.NewLinear(d, rng, nn.LinearConfig{In: 64, Out: classes}),
	}
}

// scores returns those of images [n, 8, 8] of 0 to 16.
func (c *classifier) scores(images *tensor.Tensor) *autograd.Node {
	return c.Head.Forward(c.Features.Forward(autograd.Const(images).Unsqueeze(1).DivScalar(16)))
}

// odd returns 1 for odd labels, 0 for even ones.
func odd(labels *tensor.Tensor) *tensor.Tensor { return labels.Remainder(tensor.FullLike(labels, 2)) }

// train trains the head alone, and returns the loss of each step.
func train(net *classifier, loader *data.Loader, epochs int) (losses []float64, err error) {
	opt := optim.NewAdamW(nn.Params(net.Head), optim.AdamWDefaults(optim.Constant(1e-2)))
	for range epochs {
		for batch := range loader.Epoch() {
			loss := autograd.CrossEntropy(net.scores(batch[0]), odd(batch[1]))
			if err := optim.Minimize(opt, loss); err != nil {
				return nil, err
			}
			value, err := loss.Item()
			if err != nil {
				return nil, err
			}
			losses = append(losses, value)
		}
	}
	return losses, nil
}

// test returns the share of images that the net reads rightly.
func test(d tensor.Device, net *classifier, images, labels *tensor.Tensor) (accuracy float64, err error) {
	autograd.NoGrad(d, func() {
		right := net.scores(images).ArgMax(1).Eq(labels)
		accuracy, err = right.To(tensor.Float32).Mean().Item()
	})
	return accuracy, err
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
	// The file is a checkpoint of DataParallel: {"epoch": …, "model": {"module.features.0.weight": …}}.
	checkpoint, err := tensor.LoadPyTorch(d, "testdata/examples/weights.pt")
	if err != nil {
		log.Fatal(err)
	}
	images, labels := digits["images"], digits["labels"].To(tensor.Int64)
	unseen, truth := images.Slice(trained, images.Len()).Tensor(d), labels.Slice(trained, labels.Len()).Tensor(d)

	whole := newClassifier(d, tensor.NewRNG(1), 10)
	if err := nn.LoadStateDict(whole, checkpoint.Sub("model.module.")); err != nil {
		log.Fatal(err)
	}
	accuracy, err := test(d, whole, unseen, truth)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %% of digits are right\n", 100*accuracy)

	net := newClassifier(d, tensor.NewRNG(1), 2)
	if err := nn.LoadStateDict(net.Features, checkpoint.Sub("model.module.features.")); err != nil {
		log.Fatal(err)
	}
	nn.Freeze(net.Features)
	loader := data.NewLoader(d, []data.Array{images.Slice(0, trained), labels.Slice(0, trained)},
		data.LoaderConfig{Batch: 64, Seed: 1})
	losses, err := train(net, loader, 3)
	if err != nil {
		log.Fatal(err)
	}
	if accuracy, err = test(d, net, unseen, odd(truth)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, then %.4f; %.2f %% are rightly even or odd\n", losses[0], losses[len(losses)-1], 100*accuracy)
}
