// Mnist trains LeNet-5 on the four files of MNIST, or of a set like it, such as Fashion-MNIST.
//
//	go run ./examples/mnist --data folder
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
)

var (
	folder = pflag.String("data", "", "`folder` of train-images-idx3-ubyte, train-labels-idx1-ubyte and the same of t10k, or with .gz; required")
	device = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	seed   = pflag.Uint64("seed", 1, "`number` that weights and the order of the images follow from")
	epochs = pflag.Int("epochs", 5, "`passes` over the images")
	asJSON = pflag.Bool("json", false, "print the results as JSON, too")
)

// newNet returns LeNet-5, with ReLU and maxima. Source: LeCun, Bottou, Bengio, Haffner,
// "Gradient-Based Learning Applied to Document Recognition", 1998.
func newNet(d tensor.Device, rng *tensor.RNG) nn.Sequential {
	linear := func(in, out int) *nn.Linear { return nn.NewLinear(d, rng, nn.LinearConfig{In: in, Out: out}) }
	return nn.Sequential{
		nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 6, Kernel: []int{5, 5}, ConvOptions: tensor.ConvOptions{Padding: []int{2}}}),
		nn.ReLU, &nn.MaxPool{Window: []int{2, 2}}, nn.NewConv(d, rng, nn.ConvConfig{In: 6, Out: 16, Kernel: []int{5, 5}}),
		nn.ReLU, &nn.MaxPool{Window: []int{2, 2}}, &nn.Flatten{}, linear(400, 120), nn.ReLU, linear(120, 84), nn.ReLU, linear(84, 10),
	}
}

func newOptimizer(net nn.Module, steps int) optim.Optimizer {
	return optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.OneCycle(2e-3, steps)))
}

// pixels returns images [n, 28, 28] of bytes as [n, 1, 28, 28] of 0 to 1.
func pixels(images *tensor.Tensor) *autograd.Node {
	return autograd.Const(images).Unsqueeze(1).DivScalar(255)
}

// load reads an IDX file, compressed or not.
func load(name string) (data.Array, error) {
	path := filepath.Join(*folder, name)
	if _, err := os.Stat(path + ".gz"); err == nil {
		path += ".gz"
	}
	return data.LoadIDX(path)
}

// loadPair returns the images and labels of a part, train or t10k.
func loadPair(part string) ([]data.Array, error) {
	images, imagesErr := load(part + "-images-idx3-ubyte")
	labels, labelsErr := load(part + "-labels-idx1-ubyte")
	if err := errors.Join(imagesErr, labelsErr); err != nil {
		return nil, err
	}
	labels = labels.To(tensor.Int64)
	n, digits := images.Len(), data.Elements[int64](labels)
	if n == 0 || !slices.Equal(images.Shape(), []int{n, 28, 28}) || len(digits) != n || slices.Min(digits) < 0 || slices.Max(digits) > 9 {
		return nil, fmt.Errorf("the files %s* do not hold images of 28×28 and a label from 0 to 9 for each", filepath.Join(*folder, part))
	}
	return []data.Array{images, labels}, nil
}

// fit trains the net, and returns the mean time of a step in the last epoch.
func fit(d tensor.Device, net nn.Module, images []data.Array) (step time.Duration, err error) {
	loader := data.NewLoader(d, images, data.LoaderConfig{Batch: 128, Seed: *seed})
	opt := newOptimizer(net, *epochs*loader.Batches())
	for epoch := range *epochs {
		start := time.Now()
		progress := train.NewProgress(os.Stdout, loader.Batches(), train.ProgressOptions{Name: fmt.Sprint("epoch ", epoch+1)})
		for batch := range loader.Epoch() {
			loss := autograd.CrossEntropy(net.Forward(pixels(batch[0])), batch[1])
			if err := optim.Minimize(opt, loss); err != nil {
				return 0, err
			}
			progress.Step("loss", loss)
		}
		if err := progress.Done(); err != nil {
			return 0, err
		}
		step = time.Since(start) / time.Duration(loader.Batches())
	}
	return step, nil
}

// test returns the share of images that the net reads rightly, and its loss.
func test(d tensor.Device, net nn.Module, images []data.Array) (accuracy, loss float64, err error) {
	right, mean := train.NewAccuracy(d), train.NewMean(d)
	for batch := range data.NewLoader(d, images, data.LoaderConfig{Batch: 1000, InOrder: true}).Epoch() {
		autograd.NoGrad(d, func() {
			scores := net.Forward(pixels(batch[0]))
			right.Update(scores.Value(), batch[1])
			mean.Update(autograd.CrossEntropy(scores, batch[1]).Value(), float64(batch[1].Len()))
		})
	}
	accuracy, err = right.Item()
	loss, lossErr := mean.Item()
	return accuracy, loss, errors.Join(err, lossErr)
}

func run() error {
	if *epochs < 1 {
		return errors.New("--epochs is 1 or more")
	}
	images, err := loadPair("train")
	tests, testsErr := loadPair("t10k")
	if err := errors.Join(err, testsErr); err != nil {
		return err
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	net := newNet(d, tensor.NewRNG(*seed))
	step, err := fit(d, net, images)
	if err != nil {
		return err
	}
	accuracy, loss, err := test(d, net, tests)
	if err != nil {
		return err
	}
	if _, err := fmt.Printf("%.2f %% are right, loss %.4f, %d µs a step\n", 100*accuracy, loss, step.Microseconds()); err != nil || !*asJSON {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"accuracy": accuracy, "loss": loss, "step_us": step.Microseconds(), "device": d.Name()})
}

func main() { program.Main("mnist", run) }
