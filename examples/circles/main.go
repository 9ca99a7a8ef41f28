// Circles trains a network of 2 inputs, 40 tanh, 10 ReLU and 1 sigmoid unit to separate the points
// inside two discs from those outside, and draws what it decides as text and as circles.png.
package main

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// inside reports whether a point of [−1, 1]² lies in one of the discs.
func inside(x, y float64) bool {
	return math.Hypot(x+0.4, y+0.35) < 0.45 || math.Hypot(x-0.5, y-0.4) < 0.35
}

func main() {
	program.Main("circles", func() error { return run(os.Stdout, "", "circles.png") })
}

func run(w io.Writer, device, path string) error {
	d, err := tensor.Open(device)
	if err != nil {
		return err
	}
	defer d.Close()
	net, err := train(d)
	if err != nil {
		return err
	}
	accuracy, err := test(d, net)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%.1f %% of the points are separated\n", 100*accuracy)
	if err := drawText(w, d, net); err != nil {
		return err
	}
	if err := drawPNG(path, d, net); err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s\n", path)
	return nil
}

const (
	batch = 500
	steps = 1500
)

// points draws n points of [−1, 1]² and labels them.
func points(d tensor.Device, rng *tensor.RNG, n int) (x *tensor.Tensor, labels []float32, err error) {
	x = rng.Uniform(d, -1, 1, n, 2)
	at, err := x.Float64s()
	labels = make([]float32, n)
	for i := range n {
		if err == nil && inside(at[2*i], at[2*i+1]) {
			labels[i] = 1
		}
	}
	return x, labels, err
}

func train(d tensor.Device) (*nn.MLP, error) {
	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{
		Sizes: []int{2, 40, 10, 1}, Activations: []nn.Activation{nn.Tanh, nn.ReLU, nn.Sigmoid}, Weight: nn.Kaiming(0),
	})
	opt := optim.NewSGD(nn.Params(net), optim.SGDConfig{LR: optim.Cosine(1, 0.01, steps), Momentum: 0.9, WeightDecay: 1e-5})
	at, labels, err := points(d, tensor.NewRNG(2), batch)
	if err != nil {
		return nil, err
	}
	x, t := autograd.Const(at), autograd.Const(tensor.New(d, labels, batch, 1))
	for range steps {
		loss := net.Forward(x).Sub(t).Square().Mean()
		if err := loss.Backward(); err != nil {
			return nil, err
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			return nil, err
		}
		opt.ZeroGrad()
	}
	return net, d.Sync()
}

// decide returns the network's output, in [0, 1], at points x [n, 2].
func decide(d tensor.Device, net *nn.MLP, x *tensor.Tensor) (y []float64, err error) {
	tensor.Scope(d, func() {
		autograd.NoGrad(d, func() { y, err = net.Forward(autograd.Const(x)).Value().Float64s() })
	})
	return y, err
}

// test returns the share of points, not seen in training, that the network puts on the right side.
func test(d tensor.Device, net *nn.MLP) (float64, error) {
	x, labels, err := points(d, tensor.NewRNG(3), 20*batch)
	if err != nil {
		return 0, err
	}
	y, err := decide(d, net, x)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, l := range labels {
		if (y[i] > 0.5) == (l == 1) {
			right++
		}
	}
	return float64(right) / float64(len(labels)), nil
}

// grid evaluates the network at the centres of width×height cells, from the top left.
func grid(d tensor.Device, net *nn.MLP, width, height int) ([]float64, error) {
	at := make([]float32, 0, 2*width*height)
	for r := range height {
		for c := range width {
			at = append(at, (2*float32(c)+1)/float32(width)-1, 1-(2*float32(r)+1)/float32(height))
		}
	}
	x := tensor.New(d, at, width*height, 2)
	defer x.Free()
	return decide(d, net, x)
}

func drawText(w io.Writer, d tensor.Device, net *nn.MLP) error {
	const width, height = 64, 28
	y, err := grid(d, net, width, height)
	if err != nil {
		return err
	}
	for r := range height {
		line := make([]byte, width)
		for c := range width {
			line[c] = " .:-=+*%#@"[int(min(y[r*width+c]*10, 9))]
		}
		fmt.Fprintf(w, "%s\n", line)
	}
	return nil
}

func drawPNG(path string, d tensor.Device, net *nn.MLP) error {
	const side = 256
	y, err := grid(d, net, side, side)
	if err != nil {
		return err
	}
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i, v := range y {
		x, up := (2*float64(i%side)+1)/side-1, 1-(2*float64(i/side)+1)/side
		c := color.NRGBA{uint8(40 + 200*v), 90, uint8(240 - 200*v), 255}
		if inside(x, up) != (v > 0.5) {
			c = color.NRGBA{255, 255, 255, 255} // decided wrongly
		}
		img.SetNRGBA(i%side, i/side, c)
	}
	return program.SavePNG(path, img)
}
