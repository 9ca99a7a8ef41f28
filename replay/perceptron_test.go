package replay_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// learner is a perceptron in training, with what a case changes of it.
type learner struct {
	d      tensor.Device
	net    *nn.MLP
	params []*autograd.Node
	opt    optim.Optimizer
	x, y   *tensor.Tensor
	labels *tensor.Tensor // of the classes that y has columns
	inputs *autograd.Node // that are trained, or nil
	more   optim.Optimizer
	scale  *tensor.Tensor
}

func newLearner(d tensor.Device, samples int, cfg nn.MLPConfig, rule string) *learner {
	rng := tensor.NewRNG(5)
	l := &learner{d: d, net: nn.NewMLP(d, rng, cfg)}
	l.params = nn.Params(l.net)
	rate := 0.01
	if rule == "momentum" {
		rate = 1e-4
	}
	l.opt = optimizers[rule](l.params, optim.Exponential(rate, 0.9))
	last := cfg.Sizes[len(cfg.Sizes)-1]
	l.x, l.y = rng.Uniform(d, -1, 1, samples, cfg.Sizes[0]), rng.Uniform(d, 0, 1, samples, last)
	l.labels = tensor.ZerosOf(d, tensor.Int32, samples)
	l.label(0)
	l.scale = tensor.Full(d, 3, 1)
	return l
}

// label sets the labels, of which some are ignored.
func (l *learner) label(seed int) {
	labels, classes := make([]int32, l.y.Shape()[0]), l.y.Shape()[1]
	for i := range labels {
		if labels[i] = int32((i*i + seed*i + seed) % classes); i%11 == seed {
			labels[i] = -100
		}
	}
	tensor.Upload(l.labels, labels)
}

// step is a step, of a loss and with what else a case does.
func (l *learner) step(forward, loss func(l *learner, y *autograd.Node) *autograd.Node, between func(l *learner) []*tensor.Tensor) ([]*tensor.Tensor, error) {
	x := autograd.Const(l.x)
	if l.inputs != nil {
		x = l.inputs.Sin()
	}
	y := x
	if forward != nil {
		y = forward(l, x)
	} else {
		y = l.net.Forward(x)
	}
	of := loss(l, y)
	if err := of.Backward(); err != nil {
		return nil, err
	}
	var outputs []*tensor.Tensor
	if between != nil {
		outputs = between(l)
	}
	if err := l.opt.Step(); err != nil {
		return nil, err
	}
	l.opt.ZeroGrad()
	if l.more != nil {
		if err := l.more.Step(); err != nil {
			return nil, err
		}
		l.more.ZeroGrad()
	}
	return append(outputs, of.Value()), nil
}

// values are all that a program sees of a training.
func (l *learner) values(t *testing.T, outputs []*tensor.Tensor) [][]float64 {
	t.Helper()
	all := slices.Clone(outputs)
	for _, p := range l.params {
		all = append(all, p.Value())
	}
	state := l.opt.State().Tensors
	names := []string{}
	for name := range state {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, state[name])
	}
	if l.inputs != nil {
		all = append(all, l.inputs.Value())
	}
	var values [][]float64
	for _, x := range all {
		v, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func squared(l *learner, y *autograd.Node) *autograd.Node { return y.SquaredError(autograd.Const(l.y)) }
func absolute(l *learner, y *autograd.Node) *autograd.Node {
	return y.Sub(autograd.Const(l.y)).Abs().Sum()
}

// plain is the class of perceptrons that one launch trains.
func plain(sizes ...int) nn.MLPConfig {
	return nn.MLPConfig{Sizes: sizes, Activations: []nn.Activation{nn.LeakyReLU(0.1)}, NoOutputBias: true}
}

// crossEntropy is that of the labels.
func crossEntropy(o autograd.LabelOptions) func(l *learner, y *autograd.Node) *autograd.Node {
	return func(l *learner, y *autograd.Node) *autograd.Node { return autograd.CrossEntropy(y, l.labels, o) }
}

// residual adds to what hidden layer i makes with f what from(i) says: −1 is the inputs, and others
// what hidden layers made.
func residual(f func(x *autograd.Node) *autograd.Node, from func(i int) []int) func(l *learner, x *autograd.Node) *autograd.Node {
	return func(l *learner, x *autograd.Node) *autograd.Node {
		made := []*autograd.Node{x}
		h, last := x, len(l.net.Layers)-1
		for i, layer := range l.net.Layers {
			if h = layer.Forward(h); i < last {
				h = f(h)
				for _, j := range from(i) {
					h = h.Add(made[j+1])
				}
				made = append(made, h)
			}
		}
		return h
	}
}

func relu(x *autograd.Node) *autograd.Node     { return x.ReLU() }
func tanh(x *autograd.Node) *autograd.Node     { return x.Tanh() }
func gelu(x *autograd.Node) *autograd.Node     { return x.GELU() }
func identity(x *autograd.Node) *autograd.Node { return x }

// before is the layer before hidden layer i, but for the first.
func before(i int) []int {
	if i == 0 {
		return nil
	}
	return []int{i - 1}
}

// perceptronCase is a step of training, and the kernels that are launched in the end for the fused
// step and the update; without, the step is refused for a reason.
type perceptronCase struct {
	cfg     nn.MLPConfig
	rule    string
	forward func(l *learner, x *autograd.Node) *autograd.Node // in place of the net's
	loss    func(l *learner, y *autograd.Node) *autograd.Node
	between func(l *learner) []*tensor.Tensor
	set     func(l *learner)
	kernels string
	refused string
	silent  bool // nobody reads the loss
}

var perceptronCases = map[string]perceptronCase{
	"squared":                   {kernels: "k_mlp_loss k_adamw_partials"},
	"absolute":                  {loss: absolute, kernels: "k_mlp_loss k_adamw_partials"},
	"one hidden layer":          {cfg: plain(8, 32, 1), kernels: "k_mlp_loss k_adamw_partials"},
	"many layers":               {cfg: plain(12, 16, 16, 16, 16, 16), kernels: "k_mlp_loss k_adamw_partials"},
	"a loss that nobody reads":  {silent: true, kernels: "k_mlp_loss k_adamw_partials"},
	"another that nobody reads": {cfg: plain(8, 16, 32, 2), loss: absolute, silent: true, kernels: "k_perceptron k_adamw_partials"},
	"another rule":              {rule: "momentum", kernels: "k_mlp_loss k_reduce_partials k_sum k_sgd"},
	"clipped": {between: func(l *learner) []*tensor.Tensor { return []*tensor.Tensor{optim.ClipNorm(l.params, 0.5)} },
		kernels: "k_mlp_loss k_reduce_partials k_sum"},
	"gradients returned": {between: func(l *learner) []*tensor.Tensor { return []*tensor.Tensor{l.params[1].Grad()} },
		kernels: "k_mlp_loss k_reduce_partials k_sum"},
	"the loss is read": {between: func(l *learner) []*tensor.Tensor { return nil }, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		loss := squared(l, y)
		l.scale.SetInPlace(loss.Value().Reshape(1))
		return loss
	}, kernels: "k_mlp_loss k_adamw_partials"},
	"inputs that are trained": {set: trainInputs, kernels: "k_mlp_loss k_adamw_partials"},
	"a mean": {loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return autograd.MSE(y, autograd.Const(l.y), autograd.LossOptions{Reduction: autograd.MeanLoss})
	}, kernels: "k_perceptron k_adamw_partials"},
	"a bias at the end":              {cfg: nn.MLPConfig{Sizes: []int{8, 16, 16, 2}, Activations: []nn.Activation{nn.LeakyReLU(0.1)}}, kernels: "k_perceptron k_adamw_partials"},
	"tanh":                           {cfg: nn.MLPConfig{Sizes: []int{8, 16, 16, 2}, Activations: []nn.Activation{nn.Tanh}, NoOutputBias: true}, kernels: "k_perceptron k_adamw_partials"},
	"other widths":                   {cfg: plain(8, 16, 32, 2), kernels: "k_perceptron k_adamw_partials"},
	"a width of 20":                  {cfg: plain(8, 20, 20, 2), kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy":                  {cfg: classes, loss: crossEntropy(autograd.LabelOptions{}), kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, summed":          {cfg: classes, loss: crossEntropy(autograd.LabelOptions{Reduction: autograd.SumLoss}), kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, smoothed":        {cfg: classes, loss: crossEntropy(autograd.LabelOptions{Smoothing: 0.2, Ignore: new(2)}), set: allCount, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, silent":          {cfg: classes, loss: crossEntropy(autograd.LabelOptions{}), silent: true, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, summed, silent":  {cfg: classes, loss: crossEntropy(autograd.LabelOptions{Reduction: autograd.SumLoss}), silent: true, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, another rule":    {cfg: classes, rule: "momentum", loss: crossEntropy(autograd.LabelOptions{}), kernels: "k_perceptron k_reduce_partials k_sum k_sgd"},
	"cross-entropy, no label counts": {cfg: classes, loss: crossEntropy(autograd.LabelOptions{Reduction: autograd.SumLoss}), set: noneCounts, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, one class":       {cfg: nn.MLPConfig{Sizes: []int{8, 16, 1}, Activations: []nn.Activation{nn.Tanh}}, loss: crossEntropy(autograd.LabelOptions{}), kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, inputs trained":  {cfg: classes, loss: crossEntropy(autograd.LabelOptions{}), set: trainInputs, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, scaled": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return crossEntropy(autograd.LabelOptions{})(l, y).MulScalar(0.5)
	}, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, of each": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return crossEntropy(autograd.LabelOptions{Reduction: autograd.EveryLoss})(l, y).Square().Sum()
	}, refused: "no formula of what that makes, and a target"},
	"cross-entropy, weights": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return crossEntropy(autograd.LabelOptions{Weights: l.y.Select(0, 0)})(l, y)
	}, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, weights, smoothed": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return crossEntropy(autograd.LabelOptions{Weights: l.y.Select(0, 1), Smoothing: 0.2, Reduction: autograd.SumLoss})(l, y)
	}, kernels: "k_perceptron k_adamw_partials"},
	"cross-entropy, weights made": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return crossEntropy(autograd.LabelOptions{Weights: l.y.Select(0, 0).Square()})(l, y)
	}, kernels: "k_square k_perceptron k_adamw_partials"},
	"cross-entropy, of a temperature": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return crossEntropy(autograd.LabelOptions{})(l, y.MulScalar(0.5))
	}, refused: "no formula of what that makes, and a target"},
	"logarithms of probabilities": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node { return autograd.NLL(y, l.labels) }, refused: "logarithms of probabilities"},
	"cross-entropy, read twice": {cfg: classes, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		loss := crossEntropy(autograd.LabelOptions{})(l, y)
		return loss.Add(loss.Detach().Square())
	}, kernels: "k_perceptron"},
	"residual":                   {cfg: narrow, forward: residual(relu, before), kernels: "k_perceptron k_adamw_partials"},
	"residual, tanh":             {cfg: narrow, forward: residual(tanh, before), kernels: "k_perceptron k_adamw_partials"},
	"residual, GELU":             {cfg: narrow, forward: residual(gelu, before), loss: absolute, kernels: "k_perceptron k_adamw_partials"},
	"residual, no function":      {cfg: narrow, forward: residual(identity, before), kernels: "k_perceptron k_adamw_partials"},
	"residual, of two layers":    {cfg: narrow, forward: residual(tanh, func(i int) []int { return []int{i - 2}[min(1, max(0, 2-i)):] }), kernels: "k_perceptron k_adamw_partials"},
	"residual, of all":           {cfg: even, forward: residual(tanh, func(i int) []int { return []int{-1, 0, 1, 2, 3}[:i+1] }), kernels: "k_perceptron k_adamw_partials"},
	"residual, inputs trained":   {cfg: even, forward: residual(gelu, func(i int) []int { return []int{-1, 0, 1, 2, 3}[:i+1] }), set: trainInputs, kernels: "k_perceptron k_adamw_partials"},
	"residual and cross-entropy": {cfg: even, forward: residual(relu, before), loss: crossEntropy(autograd.LabelOptions{}), kernels: "k_perceptron k_adamw_partials"},
	"residual, by a factor":      {cfg: narrow, forward: residual(func(x *autograd.Node) *autograd.Node { return x.Tanh().MulScalar(0.5) }, before), kernels: "k_perceptron k_adamw_partials"},
	"residual, of one bias":      {cfg: nn.MLPConfig{Sizes: []int{5, 12, 12, 12, 2}, NoOutputBias: true}, forward: residual(tanh, before), kernels: "k_perceptron k_adamw_partials"},
	"residual, gradients returned": {cfg: narrow, forward: residual(tanh, before), between: func(l *learner) []*tensor.Tensor { return []*tensor.Tensor{l.params[1].Grad()} },
		kernels: "k_perceptron k_reduce_partials k_sum"},
	"residual, twice": {cfg: narrow, forward: residual(tanh, func(i int) []int { return append(before(i), before(i)...) }), kernels: "k_perceptron k_adamw_partials"},
	"residual, of products": {cfg: narrow, forward: func(l *learner, x *autograd.Node) *autograd.Node {
		h := l.net.Layers[0].Forward(x).Tanh()
		for _, layer := range l.net.Layers[1:4] {
			h = layer.Forward(h).Tanh().Mul(h)
		}
		return l.net.Layers[4].Forward(h)
	}, refused: "no formula of its result"},
	"residual, that is read": {cfg: narrow, forward: func(l *learner, x *autograd.Node) *autograd.Node {
		h := l.net.Layers[0].Forward(x).Tanh()
		for _, layer := range l.net.Layers[1:4] {
			h = h.Add(layer.Forward(h).Tanh())
		}
		l.scale.SetInPlace(h.Value().Slice(0, 0, 1).Sum().Reshape(1))
		return l.net.Layers[4].Forward(h)
	}, refused: "on the way"},
	"residual, at the end": {cfg: nn.MLPConfig{Sizes: []int{8, 12, 12, 12}}, forward: func(l *learner, x *autograd.Node) *autograd.Node {
		h := l.net.Layers[0].Forward(x).Tanh()
		h = l.net.Layers[1].Forward(h).Tanh()
		return l.net.Layers[2].Forward(h).Add(h)
	}, kernels: "k_perceptron k_adamw_partials"},
	"residual, at the end, of all": {cfg: nn.MLPConfig{Sizes: []int{12, 12, 12, 12}}, forward: func(l *learner, x *autograd.Node) *autograd.Node {
		first := l.net.Layers[0].Forward(x).Tanh()
		h := l.net.Layers[1].Forward(first).GELU().Add(x)
		return l.net.Layers[2].Forward(h).Add(first).Add(x)
	}, loss: crossEntropy(autograd.LabelOptions{}), set: trainInputs, kernels: "k_perceptron k_adamw_partials"},
	"residual, at the end, multiplied": {cfg: nn.MLPConfig{Sizes: []int{8, 12, 12, 12}}, forward: func(l *learner, x *autograd.Node) *autograd.Node {
		h := l.net.Layers[0].Forward(x).Tanh()
		h = l.net.Layers[1].Forward(h).Tanh()
		return l.net.Layers[2].Forward(h).MulScalar(0.5).Add(h)
	}, refused: "no formula of its result"},
	"deep, four layers": {cfg: wide(32, 128, 128, 128, 10), loss: crossEntropy(autograd.LabelOptions{}), kernels: "k_perceptron k_adamw_partials"},
	"deep, six layers":  {cfg: wide(20, 128, 96, 128, 64, 128, 7), set: trainInputs, kernels: "k_perceptron k_adamw_partials"},
	"deep, eight layers, residual": {cfg: wide(128, 128, 128, 128, 128, 128, 128, 128, 128), forward: func(l *learner, x *autograd.Node) *autograd.Node {
		h := residual(relu, before)(l, x)
		return h.Add(x)
	}, kernels: "k_perceptron k_adamw_partials"},
	"residual, of results": {cfg: narrow, forward: func(l *learner, x *autograd.Node) *autograd.Node {
		first := l.net.Layers[0].Forward(x)
		second := l.net.Layers[1].Forward(first.Tanh()).Add(first)
		third := l.net.Layers[2].Forward(second.Tanh()).Add(second)
		return l.net.Layers[4].Forward(l.net.Layers[3].Forward(third.Tanh()).Add(third).Tanh())
	}, refused: "what layer 4 reads is no formula"},
	"predictions": {loss: func(l *learner, y *autograd.Node) *autograd.Node {
		l.scale.SetInPlace(y.Value().Slice(0, 0, 1).Sum().Reshape(1))
		return squared(l, y)
	}, refused: "on the way"},
	"two losses":     {loss: func(l *learner, y *autograd.Node) *autograd.Node { return squared(l, y).Add(absolute(l, y)) }, refused: "two losses"},
	"its own target": {loss: func(l *learner, y *autograd.Node) *autograd.Node { return y.SquaredError(y.Detach().MulScalar(0.5)) }, refused: "not of one target"},
	"a frozen layer": {set: func(l *learner) { l.params[1].Freeze() }, refused: "and no sum is its gradient"},
	"gradients added up": {loss: squared, between: func(l *learner) []*tensor.Tensor {
		if err := squared(l, l.net.Forward(autograd.Const(l.x))).Backward(); err != nil {
			panic(err)
		}
		return nil
	}, kernels: "k_mlp_loss"},
	"a weight used elsewhere": {loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return squared(l, y).Add(l.params[0].Square().Sum())
	}, refused: ""},
}

// Sizes of perceptrons with labels, and of such that have layers to add up.
var (
	classes = nn.MLPConfig{Sizes: []int{8, 20, 33, 5}, Activations: []nn.Activation{nn.GELU, nn.GELU}}
	narrow  = nn.MLPConfig{Sizes: []int{8, 12, 12, 12, 12, 3}}
	even    = nn.MLPConfig{Sizes: []int{20, 20, 20, 20, 4}}
)

// wide is a perceptron of the given sizes.
func wide(sizes ...int) nn.MLPConfig {
	return nn.MLPConfig{Sizes: sizes, Activations: []nn.Activation{nn.GELU}}
}

// allCount makes labels of which none is ignored but those that equal 2.
func allCount(l *learner) {
	labels := make([]int32, l.y.Shape()[0])
	for i := range labels {
		labels[i] = int32(i % l.y.Shape()[1])
	}
	tensor.Upload(l.labels, labels)
}

func noneCounts(l *learner) {
	tensor.Upload(l.labels, slices.Repeat([]int32{-100}, l.y.Shape()[0]))
}

func trainInputs(l *learner) {
	l.inputs = autograd.Param(l.x.Copy(), "inputs")
	l.more = optim.NewAdamW([]*autograd.Node{l.inputs}, optim.AdamWDefaults(optim.Constant(0.01)))
}

// TestPerceptrons: a fused step computes what the eager step does, to within a
// bound; the same bits in every recording. One that is refused has the bits of the eager step.
func TestPerceptrons(t *testing.T) {
	for _, sel := range devtest.Selected() {
		options := []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			options = []tensor.Options{{}, devtest.GPUKernels()}
		}
		for _, opt := range options {
			d := devtest.Open(t, sel, opt)
			for name, c := range perceptronCases {
				if opt == devtest.GPUKernels(opt) && !devtest.Sweep() && !slices.Contains([]string{"squared", "absolute", "gradients returned", "inputs that are trained", "cross-entropy", "residual and cross-entropy"}, name) {
					continue // the kernels are compiled for long: that of the rows of "clipped" as long as all others
				}
				if sel != "cpu" && strings.Contains(name, ",") && !devtest.Sweep() {
					continue // variants
				}
				t.Run(fmt.Sprintf("%s %+v %s", sel, opt, name), func(t *testing.T) { c.run(t, d) })
			}
		}
	}
}

// refusedStep is what is said of a perceptron whose step is not fused.
var refusedStep = regexp.MustCompile(`fused-training-step: .*refused: `)

func (c perceptronCase) run(t *testing.T, d tensor.Device) {
	if c.cfg.Sizes == nil {
		c.cfg = plain(8, 16, 16, 2)
	}
	if c.rule == "" {
		c.rule = "adamw"
	}
	if c.loss == nil {
		c.loss = squared
	}
	const samples, steps = 150, 6
	var explained bytes.Buffer
	train := func(record bool, o replay.Options) [][]float64 {
		l := newLearner(d, samples, c.cfg, c.rule)
		if c.set != nil {
			c.set(l)
		}
		var outputs []*tensor.Tensor
		step := func() (list []*tensor.Tensor, err error) {
			list, err = l.step(c.forward, c.loss, c.between)
			if c.silent {
				list = nil
			}
			return list, err
		}
		if !record {
			for range steps {
				var err error
				if outputs, err = step(); err != nil {
					t.Fatal(err)
				}
			}
			return l.values(t, outputs)
		}
		rec, err := replay.Record(d, step, o)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		for range steps - 2 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if one := rec.Report().FusedSteps == 1; o.Explain != nil && one != (c.kernels != "") {
			t.Errorf("one launch: %v: %v", one, rec.Report().NotFused)
		}
		if o.Explain != nil && c.kernels != "" {
			have := []string{}
			for _, launch := range rec.Launches() {
				have = append(have, launch.Kernel)
			}
			at := 0
			for _, want := range strings.Fields(c.kernels) {
				k := slices.IndexFunc(have[at:], func(k string) bool { // alone or beside another
					return k == want || strings.HasPrefix(k, want+"_") || strings.HasSuffix(k, strings.TrimPrefix(want, "k"))
				})
				if k < 0 {
					t.Fatalf("launches %v, want %s", have, c.kernels)
				}
				at += k + 1
			}
			if strings.HasSuffix(c.kernels, "shares") && slices.ContainsFunc(have, func(k string) bool { return strings.HasPrefix(k, "k_gemm") || k == "k_linear_grad" }) {
				t.Errorf("launches %v, with products", have)
			}
		}
		return l.values(t, rec.Outputs())
	}
	eager := train(false, replay.Options{})
	recorded := train(true, replay.Options{Explain: &explained})
	again := train(true, replay.Options{})
	without := train(true, replay.Options{Without: []string{"fused-training-step"}})
	if fmt.Sprint(without) != fmt.Sprint(eager) {
		t.Error("without the rewrite, other bits than the eager step's")
	}
	if fmt.Sprint(recorded) != fmt.Sprint(again) {
		t.Error("two recordings have other bits")
	}
	if c.kernels == "" {
		if fmt.Sprint(recorded) != fmt.Sprint(eager) {
			t.Error("refused, and other bits than the eager step's")
		}
		said := explained.String()
		if c.refused != "" && !refusedStep.MatchString(said) || !strings.Contains(said, c.refused) {
			t.Errorf("refused because\n%s\nwant %s", explained.String(), c.refused)
		}
		return
	}
	if fmt.Sprint(recorded) == fmt.Sprint(eager) && d.DefaultType().Size() == 4 {
		t.Log("the same bits as the eager step's")
	}
	bound := 1e-4 // six steps of AdamW make as much of what sums in another order differ by
	if d.DefaultType().Size() == 8 {
		bound = 1e-12
	}
	for k := range eager {
		scale := 1e-3
		for _, v := range eager[k] {
			scale = max(scale, math.Abs(v))
		}
		for i, v := range eager[k] {
			if diff := math.Abs(v - recorded[k][i]); !(diff <= bound*scale) {
				t.Fatalf("value %d of %d is %v, eager %v", i, k, recorded[k][i], v)
			}
		}
	}
}
