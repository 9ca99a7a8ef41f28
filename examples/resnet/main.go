// Resnet trains a ResNet-18 of 16 to 128 channels to read handwritten digits of 8×8 pixels.
//
//	go run ./examples/resnet
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

const trained = 1347 // digits; those after them are for testing

// block is two convolutions whose result is added to the input.
type block struct {
	Conv1, Conv2 *nn.Conv
	BN1, BN2     *nn.BatchNorm
	Downsample   nn.Sequential // empty where the input is added as it is
}

func newBlock(d tensor.Device, rng *tensor.RNG, in, out, stride int) *block {
	b := &block{
		Conv1: newConv(d, rng, in, out, 3, stride),
		BN1:   nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: out}),
		Conv2: newConv(d, rng, out, out, 3, 1),
		BN2:   nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: out}),
	}
	if stride != 1 {
		b.Downsample = nn.Sequential{
			newConv(d, rng, in, out, 1, stride), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: out}),
		}
	}
	return b
}

func newConv(d tensor.Device, rng *tensor.RNG, in, out, kernel, stride int) *nn.Conv {
	return nn.NewConv(d, rng, nn.ConvConfig{
		In: in, Out: out, Kernel: []int{kernel, kernel}, NoBias: true,
		ConvOptions: tensor.ConvOptions{Stride: []int{stride}, Padding: []int{kernel / 2}},
	})
}

func (b *block) Forward(x *autograd.Node) *autograd.Node {
	y := b.BN1.Forward(b.Conv1.Forward(x)).ReLU()
	y = b.BN2.Forward(b.Conv2.Forward(y))
	return y.Add(b.Downsample.Forward(x)).ReLU()
}

// newResNet18 has a first convolution of 3×3 and no pooling after it, for small pictures. Source: He
// et al., "Deep Residual Learning for Image Recognition", CVPR 2016.
func newResNet18(d tensor.Device, rng *tensor.RNG, width, classes int) nn.Sequential {
	net := nn.Sequential{
		newConv(d, rng, 1, width, 3, 1), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: width}), nn.ReLU,
	}
	for stage := range 4 {
		out, stride := width<<stage, min(2, stage+1)
		net = append(net, newBlock(d, rng, out/stride, out, stride), newBlock(d, rng, out, out, 1))
	}
	head := nn.NewLinear(d, rng, nn.LinearConfig{In: 8 * width, Out: classes})
	return append(net, &nn.AdaptiveAvgPool{Size: []int{1, 1}}, &nn.Flatten{}, head)
}

// pixels returns images [n, 8, 8] of 0 to 16 as [n, 1, 8, 8] of 0 to 1.
func pixels(images *tensor.Tensor) *autograd.Node {
	return autograd.Const(images).Unsqueeze(1).DivScalar(16)
}

// train returns the loss of each step.
func train(net nn.Sequential, loader *data.Loader, epochs int) (losses []float64, err error) {
	opt := optim.NewSGD(nn.Params(net), optim.SGDConfig{
		LR: optim.Cosine(0.05, 0, epochs*loader.Batches()), Momentum: 0.9, WeightDecay: 5e-4,
	})
	for range epochs {
		for batch := range loader.Epoch() {
			loss := autograd.CrossEntropy(net.Forward(pixels(batch[0])), batch[1])
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
func test(d tensor.Device, net nn.Sequential, images, labels *tensor.Tensor) (accuracy float64, err error) {
	nn.Eval(net)
	autograd.NoGrad(d, func() {
		right := net.Forward(pixels(images)).ArgMax(1).Eq(labels)
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
	images, labels := digits["images"], digits["labels"].To(tensor.Int64)
	net := newResNet18(d, tensor.NewRNG(1), 16, 10)
	loader := data.NewLoader(d, []data.Array{images.Slice(0, trained), labels.Slice(0, trained)},
		data.LoaderConfig{Batch: 64, Seed: 1, DropLast: true})
	losses, err := train(net, loader, 3)
	if err != nil {
		log.Fatal(err)
	}
	end := images.Len()
	accuracy, err := test(d, net, images.Slice(trained, end).Tensor(d), labels.Slice(trained, end).Tensor(d))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, then %.4f; %.1f %% of other digits are right\n", losses[0], losses[len(losses)-1], 100*accuracy)
}
