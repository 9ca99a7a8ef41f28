// Vae trains a variational autoencoder on handwritten digits of 8×8 pixels, and draws a hundred
// that nobody wrote.
//
//	go run ./examples/vae --epochs 30
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

const (
	all, trained = 1797, 1347 // digits; those after the trained ones are for testing
	code         = 8          // numbers that an image is described by
)

var (
	file    = pflag.String("data", "testdata/digits.npz", "the digits, an npz `file`")
	device  = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	seed    = pflag.Uint64("seed", 1, "`number` that weights, noise and the order of the digits follow from")
	epochs  = pflag.Int("epochs", 100, "`passes` over the digits")
	samples = pflag.String("samples", "samples.png", "`picture` to draw")
	asJSON  = pflag.Bool("json", false, "print the results as JSON, too")
)

type vae struct {
	encoder, decoder nn.Sequential
}

func newVAE(d tensor.Device, rng *tensor.RNG) *vae {
	linear := func(in, out int) *nn.Linear { return nn.NewLinear(d, rng, nn.LinearConfig{In: in, Out: out}) }
	return &vae{
		encoder: nn.Sequential{linear(64, 256), nn.ReLU, linear(256, 2*code)},
		decoder: nn.Sequential{linear(code, 256), nn.ReLU, linear(256, 64)},
	}
}

// loss returns the negative evidence lower bound of images [n, 64], a mean over them, for noise [n,
// code] of variance 1. Source: Kingma and Welling, "Auto-Encoding Variational Bayes", ICLR 2014,
// eq. 10.
func (v *vae) loss(images, noise *autograd.Node) *autograd.Node {
	parts := v.encoder.Forward(images).Chunk(1, 2)
	mean, logVar := parts[0], parts[1]
	z := mean.Add(logVar.MulScalar(0.5).Exp().Mul(noise))
	reconstruction := autograd.BCEWithLogits(v.decoder.Forward(z), images, autograd.BinaryOptions{Reduction: autograd.SumLoss})
	divergence := logVar.AddScalar(1).Sub(mean.Square()).Sub(logVar.Exp()).Sum().MulScalar(-0.5)
	return reconstruction.Add(divergence).DivScalar(float64(images.Shape()[0]))
}

// pixels returns images [n, 8, 8] of 0 to 16 as [n, 64] of 0 to 1.
func pixels(images *tensor.Tensor) *autograd.Node {
	return autograd.Const(images).Flatten(1, -1).DivScalar(16)
}

func normal(d tensor.Device, rng *tensor.RNG, n int) *autograd.Node {
	return autograd.Const(rng.Normal(d, 0, 1, n, code))
}

func newOptimizer(net *vae, steps int) optim.Optimizer {
	return optim.NewAdam(nn.Params(net), optim.AdamDefaults(optim.Cosine(3e-3, 0, steps)))
}

// train returns the mean time of a step in the last epoch.
func train(d tensor.Device, net *vae, images data.Array, rng *tensor.RNG) (step time.Duration, err error) {
	loader := data.NewLoader(d, []data.Array{images}, data.LoaderConfig{Batch: 64, Seed: *seed})
	opt := newOptimizer(net, *epochs*loader.Batches())
	for range *epochs {
		start := time.Now()
		for batch := range loader.Epoch() {
			loss := net.loss(pixels(batch[0]), normal(d, rng, batch[0].Shape()[0]))
			if err := optim.Minimize(opt, loss); err != nil {
				return 0, err
			}
		}
		err = d.Sync()
		step = time.Since(start) / time.Duration(loader.Batches())
	}
	return step, err
}

// drawSamples writes a picture of what a hundred random codes stand for, ten in a row.
func drawSamples(path string, d tensor.Device, net *vae, rng *tensor.RNG) error {
	images := net.decoder.Forward(normal(d, rng, 100)).Sigmoid().Reshape(10, 10, 8, 8).Pad([][2]int{{1, 1}, {1, 1}})
	grid := images.Transpose(0, 2, 1, 3).Reshape(100, 100).MulScalar(255).RepeatInterleave(4, 0).RepeatInterleave(4, 1)
	pixels, err := grid.To(tensor.Uint8).Uint8s()
	if err != nil {
		return err
	}
	return program.SavePNG(path, &image.Gray{Pix: pixels, Stride: 400, Rect: image.Rect(0, 0, 400, 400)})
}

func run() error {
	arrays, err := data.LoadNPZ(*file)
	if err != nil {
		return err
	}
	images := arrays["images"]
	if !slices.Equal(images.Shape(), []int{all, 8, 8}) || *epochs < 1 {
		return fmt.Errorf("give a file of %d images of 8×8, and 1 epoch or more", all)
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	rng := tensor.NewRNG(*seed)
	net := newVAE(d, rng)
	step, err := train(d, net, images.Slice(0, trained), rng)
	if err != nil {
		return err
	}
	loss, err := net.loss(pixels(images.Slice(trained, all).Tensor(d)), normal(d, rng, all-trained)).Item()
	if err != nil {
		return err
	}
	_, err = fmt.Printf("loss %.3f of images that it was not trained on, %d µs a step\n", loss, step.Microseconds())
	if err == nil && *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"loss": loss, "step_us": step.Microseconds(), "device": d.Name()})
	}
	return errors.Join(err, drawSamples(*samples, d, net, rng))
}

func main() { program.Main("vae", run) }
