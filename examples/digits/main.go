// Digits trains a small convolutional net to read handwritten digits of 8×8 pixels, prints what it
// takes for what, and draws its mistakes.
//
//	go run ./examples/digits --epochs 10
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"slices"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
	"github.com/spf13/pflag"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

const all, trained = 1797, 1347 // digits; those after the trained ones are for testing

var (
	file     = pflag.String("data", "testdata/digits.npz", "the digits, an npz `file`")
	device   = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	seed     = pflag.Uint64("seed", 1, "`number` that weights, dropout and the order of the digits follow from")
	epochs   = pflag.Int("epochs", 30, "`passes` over the digits")
	mistakes = pflag.String("mistakes", "digits.png", "`picture` to draw")
	model    = pflag.String("model", "", "`file` to save the net to, for examples/serve")
	typ      = program.MixedPrecision()
	asJSON   = pflag.Bool("json", false, "print the results as JSON, too")
)

func newNet(d tensor.Device, rng *tensor.RNG) nn.Sequential {
	same := tensor.ConvOptions{Padding: []int{1}}
	return nn.Sequential{
		nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 16, Kernel: []int{3, 3}, ConvOptions: same}), nn.ReLU, &nn.MaxPool{Window: []int{2, 2}},
		nn.NewConv(d, rng, nn.ConvConfig{In: 16, Out: 32, Kernel: []int{3, 3}, ConvOptions: same}), nn.ReLU, &nn.MaxPool{Window: []int{2, 2}},
		&nn.Flatten{}, &nn.Dropout{P: 0.25, RNG: rng},
		nn.NewLinear(d, rng, nn.LinearConfig{In: 128, Out: 64}), nn.ReLU, nn.NewLinear(d, rng, nn.LinearConfig{In: 64, Out: 10}),
	}
}

// pixels returns images [n, 8, 8] of 0 to 16 as [n, 1, 8, 8] of 0 to 1.
func pixels(images *tensor.Tensor) *autograd.Node {
	return autograd.Const(images).Unsqueeze(1).DivScalar(16)
}

func newOptimizer(net nn.Module, steps int) optim.Optimizer {
	return optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Cosine(3e-3, 0, steps)))
}

// fit trains the net, and returns the mean time of a step in the last epoch.
func fit(d tensor.Device, net nn.Module, images, labels data.Array) (step time.Duration, err error) {
	loader := data.NewLoader(d, []data.Array{images, labels}, data.LoaderConfig{Batch: 32, Seed: *seed})
	opt := newOptimizer(net, *epochs*loader.Batches())
	for range *epochs {
		start := time.Now()
		for batch := range loader.Epoch() {
			var loss *autograd.Node
			autograd.Autocast(d, *typ, func() { loss = autograd.CrossEntropy(net.Forward(pixels(batch[0])), batch[1]) })
			if err := optim.Minimize(opt, loss); err != nil {
				return 0, err
			}
		}
		err = d.Sync()
		step = time.Since(start) / time.Duration(loader.Batches())
	}
	return step, err
}

// test returns what the net takes images for, the table of that, and its loss.
func test(d tensor.Device, net nn.Module, images, labels data.Array) (answers []int64, table train.ConfusionMatrix, loss float64, err error) {
	nn.Eval(net)
	confusion := train.NewConfusion(d, 10)
	autograd.NoGrad(d, func() {
		scores := net.Forward(pixels(images.Tensor(d)))
		confusion.Update(scores.Value(), labels.Tensor(d))
		if loss, err = autograd.CrossEntropy(scores, labels.Tensor(d)).Item(); err == nil {
			answers, err = scores.ArgMax(1).Int64s()
		}
	})
	table, tableErr := confusion.Matrix()
	return answers, table, loss, errors.Join(err, tableErr)
}

// drawMistakes writes a picture of the images whose labels and answers differ, ten in a row.
func drawMistakes(path string, images []uint8, labels, answers []int64) error {
	var wrong []int
	for i, label := range labels {
		if answers[i] != label {
			wrong = append(wrong, i)
		}
	}
	img := image.NewGray(image.Rect(0, 0, 10*72, max(1, (len(wrong)+9)/10)*88))
	for at, i := range wrong {
		x, y := at%10*72+4, at/10*88+4
		for p := range 64 * 64 {
			img.SetGray(x+p%64, y+p/64, color.Gray{Y: 15 * images[64*i+p/64/8*8+p%64/8]})
		}
		(&font.Drawer{Dst: img, Src: image.White, Face: basicfont.Face7x13, Dot: fixed.P(x, y+76)}).DrawString(fmt.Sprintf("%d as %d", labels[i], answers[i]))
	}
	return program.SavePNG(path, img)
}

func run() error {
	arrays, err := data.LoadNPZ(*file)
	if err != nil {
		return err
	}
	images, labels := arrays["images"], arrays["labels"]
	if !slices.Equal(images.Shape(), []int{all, 8, 8}) || !slices.Equal(labels.Shape(), []int{all}) || *epochs < 1 {
		return fmt.Errorf("give a file of %d images of 8×8 with labels, and 1 epoch or more", all)
	}
	images, labels = images.To(tensor.Uint8), labels.To(tensor.Int64)
	if digits := data.Elements[int64](labels); slices.Min(digits) < 0 || slices.Max(digits) > 9 {
		return fmt.Errorf("%s has labels that are no digit", *file)
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	net := newNet(d, tensor.NewRNG(*seed))
	step, err := fit(d, net, images.Slice(0, trained), labels.Slice(0, trained))
	if err != nil {
		return err
	}
	if *model != "" {
		if err := tensor.SaveSafetensors(*model, nn.StateDict(net)); err != nil {
			return err
		}
	}
	images, labels = images.Slice(trained, all), labels.Slice(trained, all)
	answers, table, loss, err := test(d, net, images, labels)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%v%.2f %% are right, loss %.4f, %d µs a step\n", table, 100*table.Accuracy(), loss, step.Microseconds())
	if err == nil && *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"accuracy": table.Accuracy(), "loss": loss, "step_us": step.Microseconds(), "device": d.Name()})
	}
	return errors.Join(err, drawMistakes(*mistakes, data.Elements[uint8](images), data.Elements[int64](labels), answers))
}

func main() { program.Main("digits", run) }
