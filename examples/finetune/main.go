// Finetune makes a classifier of pictures of a model that was trained for something else: it puts a head of its own on
// the model, trains that and, if asked to, layers below, and writes both as one ONNX file.
//
//	go run ./examples/finetune --model resnet.onnx --pictures flowers --out flowers.onnx
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/examples/internal/picture"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	modelFile = pflag.String("model", "", "what to begin with, an ONNX `file`")
	pictures  = pflag.String("pictures", "", "`folder` with a folder of pictures for each class, or an npz file")
	output    = pflag.String("out", "finetuned.onnx", "`file` to write")
	features  = pflag.String("features", "", "`value` that the head takes (default what the last product takes)")
	trained   = pflag.String("train", "", "`pattern` of names of weights to train after the head (default none)")
	epochs    = pflag.Int("epochs", 30, "`passes` over the pictures for the head")
	more      = pflag.Int("more", 3, "`passes` for the other weights")
	side      = pflag.Int("side", 64, "`pixels` of a side, where the model leaves it open")
	mean      = pflag.Float32Slice("mean", []float32{0.485, 0.456, 0.406}, "`numbers` that are subtracted from channels")
	std       = pflag.Float32Slice("std", []float32{0.229, 0.224, 0.225}, "`numbers` that channels are divided by then")
	seed      = pflag.Uint64("seed", 1, "`number` that the head and the order of the pictures follow from")
	device    = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
)

// batch is how many pictures are computed at once.
const batch = 32

// classifier is a model without its last layer, and a head in its place.
type classifier struct {
	net  *onnx.Session
	head *nn.Linear

	device        tensor.Device `nn:"-"`
	input         string        // of the model
	features      string        // the value that the head takes
	width, height int           // of pictures
}

// newClassifier loads a model for training, as it computes when it only runs, and freezes all of its weights.
func newClassifier(d tensor.Device, m *onnx.Model, features string) (*classifier, error) {
	inputs := m.Inputs()
	if len(inputs) != 1 || len(inputs[0].Dims) != 4 || inputs[0].Type != "float" {
		return nil, fmt.Errorf("it takes %v, and a model of pictures takes one float[batch,3,height,width]", inputs)
	}
	shape := inputs[0].Shape()
	if shape[0] >= 0 || shape[1] != 3 {
		return nil, fmt.Errorf("it takes %v, and must take float[batch,3,height,width] of any batch", inputs)
	}
	c := &classifier{device: d, input: inputs[0].Name, features: features, width: shape[3], height: shape[2]}
	if c.width < 0 {
		c.width = *side
	}
	if c.height < 0 {
		c.height = *side
	}
	if c.features == "" {
		for _, n := range m.Nodes() {
			if n.Operator == "Gemm" || n.Operator == "MatMul" {
				c.features = n.Inputs[0]
			}
		}
		if c.features == "" {
			return nil, errors.New("it has no product of matrices: --features must name what the head is to take")
		}
	}
	var err error
	if c.net, err = m.Load(d, onnx.Options{Training: true}); err != nil {
		return nil, err
	}
	nn.Eval(c.net)
	for _, w := range c.net.Weights {
		w.Freeze()
	}
	return c, nil
}

// body returns the features [batch, n] of pictures [batch, 3, height, width].
func (c *classifier) body(x *autograd.Node) *autograd.Node {
	y := c.net.ForwardNamed(map[string]*autograd.Node{c.input: x}, c.features)[c.features]
	return y.Flatten(1, -1)
}

// Forward returns the scores [batch, classes] of pictures.
func (c *classifier) Forward(x *autograd.Node) *autograd.Node { return c.head.Forward(c.body(x)) }

// pixels puts pictures on the device.
func (c *classifier) pixels(samples []*sample) (*tensor.Tensor, error) {
	x := make([]float32, 0, len(samples)*3*c.height*c.width)
	for _, s := range samples {
		img, err := s.read()
		if err != nil {
			return nil, err
		}
		scaled := picture.Resize(img, c.width, c.height)
		x = append(x, picture.Planes(scaled, picture.RGB, [3]float32(*mean), [3]float32(*std))...)
	}
	return tensor.New(c.device, x, len(samples), 3, c.height, c.width), nil
}

// computeFeatures stores the features of samples in them: they do not change while only the head is trained.
func (c *classifier) computeFeatures(samples []*sample) error {
	for part := range slices.Chunk(samples, batch) {
		x, err := c.pixels(part)
		if err != nil {
			return err
		}
		var y []float32
		thrown := tensor.Try(func() {
			tensor.Scope(c.device, func() {
				autograd.NoGrad(c.device, func() { y, err = c.body(autograd.Const(x)).Float32s() })
			})
		})
		x.Free()
		if err := errors.Join(thrown, err); err != nil {
			return err
		}
		n := len(y) / len(part)
		for i, s := range part {
			s.features = y[i*n : (i+1)*n]
		}
	}
	return nil
}

// scores computes the scores of samples. x is what they were made of, to be freed.
type scores func(samples []*sample) (y *autograd.Node, x *tensor.Tensor, err error)

func (c *classifier) ofFeatures(samples []*sample) (y *autograd.Node, x *tensor.Tensor, err error) {
	var values []float32
	for _, s := range samples {
		values = append(values, s.features...)
	}
	x = tensor.New(c.device, values, len(samples), len(samples[0].features))
	return c.head.Forward(autograd.Const(x)), x, nil
}

func (c *classifier) ofPixels(samples []*sample) (y *autograd.Node, x *tensor.Tensor, err error) {
	if x, err = c.pixels(samples); err != nil {
		return nil, nil, err
	}
	return c.Forward(autograd.Const(x)), x, nil
}

// train minimizes the cross-entropy of samples.
func train(d tensor.Device, params []*autograd.Node, rate float64, epochs int, set []*sample, compute scores) error {
	rng := rand.New(rand.NewPCG(*seed, 0))
	steps := epochs * ((len(set) + batch - 1) / batch)
	opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Cosine(rate, 0, steps)))
	defer opt.Free()
	samples := slices.Clone(set)
	for range epochs {
		rng.Shuffle(len(samples), func(i, k int) { samples[i], samples[k] = samples[k], samples[i] })
		for part := range slices.Chunk(samples, batch) {
			y, x, err := compute(part)
			if err != nil {
				return err
			}
			labels := tensor.New(d, classes(part))
			if err := optim.Minimize(opt, autograd.CrossEntropy(y, labels)); err != nil {
				return err
			}
			x.Free()
			labels.Free()
		}
	}
	return d.Sync()
}

// right returns for how many samples in a hundred the highest score is that of their class.
func right(d tensor.Device, samples []*sample, compute scores) (percent float64, err error) {
	n := 0
	for part := range slices.Chunk(samples, batch) {
		var answers []int64
		tensor.Scope(d, func() {
			autograd.NoGrad(d, func() {
				var y *autograd.Node
				if y, _, err = compute(part); err == nil {
					answers, err = y.ArgMax(1).Int64s()
				}
			})
		})
		if err != nil {
			return 0, err
		}
		for i, class := range classes(part) {
			if answers[i] == class {
				n++
			}
		}
	}
	return 100 * float64(n) / float64(len(samples)), nil
}

// report says how many samples are right, and how long something took.
func report(d tensor.Device, what string, start time.Time, samples []*sample, compute scores) error {
	percent, err := right(d, samples, compute)
	if err != nil {
		return err
	}
	took := time.Since(start).Seconds()
	_, err = fmt.Printf("%-30s %6.2f %% of %d are right, %.1f s\n", what, percent, len(samples), took)
	return err
}

// matching returns the weights whose names match a pattern, none of "".
func (c *classifier) matching(pattern string) (list []*autograd.Node, err error) {
	if pattern == "" {
		return nil, nil
	}
	p, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("--train: %w", err)
	}
	for _, w := range nn.Params(c.net) {
		if p.MatchString(w.Name()) {
			list = append(list, w)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("--train %s matches no weight, such as %s", pattern, nn.Params(c.net)[0].Name())
	}
	return list, nil
}

// tune trains the head, then some weights of the model together with it, and says what that brings.
func (c *classifier) tune(set *dataset, weights []*autograd.Node) error {
	if err := c.computeFeatures(slices.Concat(set.train, set.test)); err != nil {
		return err
	}
	rng := tensor.NewRNG(*seed)
	c.head = nn.NewLinear(c.device, rng, nn.LinearConfig{In: len(set.train[0].features), Out: len(set.names)})
	say := func(what string, start time.Time, compute scores) error {
		return report(c.device, what, start, set.test, compute)
	}
	start := time.Now()
	if err := say("before", start, c.ofFeatures); err != nil {
		return err
	}
	if err := train(c.device, nn.Params(c.head), 1e-2, *epochs, set.train, c.ofFeatures); err != nil {
		return err
	}
	if err := say("head trained", start, c.ofFeatures); err != nil || len(weights) == 0 {
		return err
	}
	for _, w := range weights {
		w.Unfreeze()
	}
	start = time.Now()
	if err := train(c.device, append(weights, nn.Params(c.head)...), 1e-3, *more, set.train, c.ofPixels); err != nil {
		return err
	}
	return say(fmt.Sprintf("and %d weights of the model", len(weights)), start, c.ofPixels)
}

// export writes the classifier, and reads it again: what was written is as right.
func (c *classifier) export(path string, set *dataset) error {
	x, err := c.pixels(set.test[:min(2, len(set.test))])
	if err != nil {
		return err
	}
	defer x.Free()
	err = onnx.ExportFile(path, c, []*tensor.Tensor{x}, onnx.ExportOptions{
		Inputs: []string{"pictures"}, Outputs: []string{"scores"}, Dynamic: []map[int]string{{0: "batch"}},
		Metadata: map[string]string{"classes": strings.Join(set.names, "\n")},
	})
	if err != nil {
		return err
	}
	model, err := onnx.Open(path)
	if err != nil {
		return err
	}
	session, err := model.Load(c.device)
	if err != nil {
		return err
	}
	defer session.Close()
	start := time.Now()
	return report(c.device, "read again from "+path, start, set.test, func(samples []*sample) (*autograd.Node, *tensor.Tensor, error) {
		x, err := c.pixels(samples)
		if err != nil {
			return nil, nil, err
		}
		outputs, err := session.Run(onnx.FromTensor(x))
		if err != nil {
			return nil, nil, err
		}
		return outputs[0].Node(), x, nil
	})
}

func run() error {
	if len(*mean) != 3 || len(*std) != 3 || slices.Contains(*std, 0) {
		return errors.New("mean and std are three numbers, those of std not 0")
	}
	if *epochs < 1 || *more < 1 || *side < 1 || *side > 4096 {
		return errors.New("epochs, more and side are 1 or more, side 4096 at most")
	}
	if err := program.CheckFile(*output); err != nil {
		return err
	}
	set, err := readDataset(*pictures)
	if err != nil {
		return err
	}
	model, err := onnx.Open(*modelFile)
	if err != nil {
		return err
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	c, err := newClassifier(d, model, *features)
	if err != nil {
		return fmt.Errorf("%s: %w", *modelFile, err)
	}
	defer c.net.Close()
	weights, err := c.matching(*trained)
	if err != nil {
		return err
	}
	thrown := tensor.Try(func() { // such as of a value that is not there
		if err = c.tune(set, weights); err == nil {
			err = c.export(*output, set)
		}
	})
	return errors.Join(thrown, err)
}

func main() { program.Main("finetune", run, "model", "pictures") }
