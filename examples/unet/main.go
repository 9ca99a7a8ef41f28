// Unet trains a U-Net to find discs in noisy pictures of 32×32 pixels: which pixels belong to one.
//
//	go run ./examples/unet
package main

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const side = 32 // pixels

// uNet goes down from pictures to small ones of more channels, and up again with those of the way
// down beside. Source: Ronneberger, Fischer, Brox, "U-Net: Convolutional Networks for Biomedical
// Image Segmentation", MICCAI 2015.
type uNet struct {
	Down []nn.Sequential
	Up   []nn.Sequential
	Grow []*nn.ConvTranspose
	Head *nn.Conv
}

func newUNet(d tensor.Device, rng *tensor.RNG, channels ...int) *uNet {
	net, last := &uNet{Head: newConv(d, rng, channels[0], 1, 1)}, 1
	for i, n := range channels {
		net.Down = append(net.Down, newDouble(d, rng, last, n))
		if last = n; i > 0 {
			net.Up = append(net.Up, newDouble(d, rng, 2*channels[i-1], channels[i-1]))
			net.Grow = append(net.Grow, nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{
				In: n, Out: channels[i-1], Kernel: []int{2, 2},
				ConvTransposeOptions: tensor.ConvTransposeOptions{Stride: []int{2}},
			}))
		}
	}
	return net
}

func newDouble(d tensor.Device, rng *tensor.RNG, in, out int) nn.Sequential {
	return nn.Sequential{
		newConv(d, rng, in, out, 3), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: out}), nn.ReLU,
		newConv(d, rng, out, out, 3), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: out}), nn.ReLU,
	}
}

func newConv(d tensor.Device, rng *tensor.RNG, in, out, kernel int) *nn.Conv {
	return nn.NewConv(d, rng, nn.ConvConfig{
		In: in, Out: out, Kernel: []int{kernel, kernel},
		ConvOptions: tensor.ConvOptions{Padding: []int{kernel / 2}},
	})
}

// Forward returns scores [n, 1, h, w] for pictures x of that shape: above 0 means in a disc.
func (net *uNet) Forward(x *autograd.Node) *autograd.Node {
	var skips []*autograd.Node
	for i, down := range net.Down {
		if i > 0 {
			x = x.MaxPool([]int{2, 2})
		}
		x = down.Forward(x)
		skips = append(skips, x)
	}
	for i := len(net.Up) - 1; i >= 0; i-- {
		x = net.Up[i].Forward(autograd.Concat(1, skips[i], net.Grow[i].Forward(x)))
	}
	return net.Head.Forward(x)
}

// discs returns n pictures [n, 1, side, side] from number first on, and which pixels are in a disc.
func discs(d tensor.Device, first, n int) (pictures, masks *autograd.Node) {
	i := tensor.Arange(d, float64(first), float64(first+n), 1).Reshape(n, 1, 1, 1)
	x := tensor.Arange(d, 0, side, 1)
	y := x.Unsqueeze(1)
	centreX, centreY := i.MulScalar(0.618).Frac().MulScalar(20).AddScalar(6), i.MulScalar(0.414).Frac().MulScalar(20).AddScalar(6)
	radius := i.MulScalar(0.732).Frac().MulScalar(4).AddScalar(3)
	inside := x.Sub(centreX).Square().Add(y.Sub(centreY).Square()).Lt(radius.Square()).To(d.DefaultType())
	noise := x.MulScalar(7.1).Add(y.MulScalar(3.3)).Add(i.MulScalar(1.7)).Sin().Add(x.Mul(y).Add(i).Cos())
	return autograd.Const(inside.Add(noise.MulScalar(0.7))), autograd.Const(inside)
}

// train returns the loss of each step.
func train(d tensor.Device, net *uNet, steps int) (losses []float64, err error) {
	opt := optim.NewAdam(nn.Params(net), optim.AdamDefaults(optim.Constant(5e-3)))
	for step := range steps {
		pictures, masks := discs(d, 16*step, 16)
		loss := autograd.BCEWithLogits(net.Forward(pictures), masks)
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

// test returns the overlap of what the net finds with the discs: intersection over union.
func test(d tensor.Device, net *uNet) (iou float64, err error) {
	nn.Eval(net)
	autograd.NoGrad(d, func() {
		pictures, masks := discs(d, 10000, 32)
		found := net.Forward(pictures).GtScalar(0).To(d.DefaultType())
		iou, err = found.Mul(masks).Sum().Div(found.Maximum(masks).Sum()).Item()
	})
	return iou, err
}

func main() {
	d, err := tensor.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	net := newUNet(d, tensor.NewRNG(1), 8, 16, 32)
	losses, err := train(d, net, 60)
	if err != nil {
		log.Fatal(err)
	}
	iou, err := test(d, net)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, then %.4f; overlap with the discs of other pictures %.3f\n", losses[0], losses[len(losses)-1], iou)
}
