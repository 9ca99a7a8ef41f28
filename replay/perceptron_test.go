package replay_test

import (
	"bytes"
	"fmt"
	"math"
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
	l.scale = tensor.Full(d, 3, 1)
	return l
}

// step is a step, of a loss and with what else a case does.
func (l *learner) step(loss func(l *learner, y *autograd.Node) *autograd.Node, between func(l *learner) []*tensor.Tensor) ([]*tensor.Tensor, error) {
	x := autograd.Const(l.x)
	if l.inputs != nil {
		x = l.inputs.Sin()
	}
	of := loss(l, l.net.Forward(x))
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

// perceptronCase is a step of training, and the kernels that are launched in the end for the pass and the update; without,
// the step is refused for a reason.
type perceptronCase struct {
	cfg     nn.MLPConfig
	rule    string
	loss    func(l *learner, y *autograd.Node) *autograd.Node
	between func(l *learner) []*tensor.Tensor
	set     func(l *learner)
	kernels string
	refused string
	silent  bool // nobody reads the loss
}

var perceptronCases = map[string]perceptronCase{
	"squared":                   {kernels: "k_mlp_loss k_adamw_shares"},
	"absolute":                  {loss: absolute, kernels: "k_mlp_loss k_adamw_shares"},
	"one hidden layer":          {cfg: plain(8, 32, 1), kernels: "k_mlp_loss k_adamw_shares"},
	"many layers":               {cfg: plain(12, 16, 16, 16, 16, 16), kernels: "k_mlp_loss k_adamw_shares"},
	"a loss that nobody reads":  {silent: true, kernels: "k_mlp_loss k_adamw_shares"},
	"another that nobody reads": {cfg: plain(8, 16, 32, 2), loss: absolute, silent: true, kernels: "k_perceptron k_adamw_shares"},
	"another rule":              {rule: "momentum", kernels: "k_mlp_loss k_reduce_shares k_sum k_sgd"},
	"clipped": {between: func(l *learner) []*tensor.Tensor { return []*tensor.Tensor{optim.ClipNorm(l.params, 0.5)} },
		kernels: "k_mlp_loss k_reduce_shares k_sum"},
	"gradients returned": {between: func(l *learner) []*tensor.Tensor { return []*tensor.Tensor{l.params[1].Grad()} },
		kernels: "k_mlp_loss k_reduce_shares k_sum"},
	"the loss is read": {between: func(l *learner) []*tensor.Tensor { return nil }, loss: func(l *learner, y *autograd.Node) *autograd.Node {
		loss := squared(l, y)
		l.scale.SetInPlace(loss.Value().Reshape(1))
		return loss
	}, kernels: "k_mlp_loss k_adamw_shares"},
	"inputs that are trained": {set: func(l *learner) {
		l.inputs = autograd.Param(l.x.Copy(), "inputs")
		l.more = optim.NewAdamW([]*autograd.Node{l.inputs}, optim.AdamWDefaults(optim.Constant(0.01)))
	}, kernels: "k_mlp_loss k_adamw_shares"},
	"a mean": {loss: func(l *learner, y *autograd.Node) *autograd.Node {
		return autograd.MSE(y, autograd.Const(l.y), autograd.LossOptions{Reduction: autograd.MeanLoss})
	}, kernels: "k_perceptron k_adamw_shares"},
	"a bias at the end": {cfg: nn.MLPConfig{Sizes: []int{8, 16, 16, 2}, Activations: []nn.Activation{nn.LeakyReLU(0.1)}}, kernels: "k_perceptron k_adamw_shares"},
	"tanh":              {cfg: nn.MLPConfig{Sizes: []int{8, 16, 16, 2}, Activations: []nn.Activation{nn.Tanh}, NoOutputBias: true}, kernels: "k_perceptron k_adamw_shares"},
	"other widths":      {cfg: plain(8, 16, 32, 2), kernels: "k_perceptron k_adamw_shares"},
	"a width of 20":     {cfg: plain(8, 20, 20, 2), kernels: "k_perceptron k_adamw_shares"},
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

// TestPerceptrons: a step whose pass is one launch computes what the eager step does, to within a bound; the same bits in
// every recording. One that is refused has the bits of the eager step.
func TestPerceptrons(t *testing.T) {
	for _, sel := range devtest.Selected() {
		options := []tensor.Options{{}, {Float64: true}}
		if sel != "cpu" {
			options = []tensor.Options{{}, {GPUKernels: true}}
		}
		for _, opt := range options {
			d := devtest.Open(t, sel, opt)
			for name, c := range perceptronCases {
				if opt.GPUKernels && !strings.Contains("squared absolute clipped inputs that are trained", name) {
					continue // the kernels are compiled for long
				}
				t.Run(fmt.Sprintf("%s %+v %s", sel, opt, name), func(t *testing.T) { c.run(t, d) })
			}
		}
	}
}

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
	var told bytes.Buffer
	train := func(record bool, o replay.Options) [][]float64 {
		l := newLearner(d, samples, c.cfg, c.rule)
		if c.set != nil {
			c.set(l)
		}
		var outputs []*tensor.Tensor
		step := func() (list []*tensor.Tensor, err error) {
			list, err = l.step(c.loss, c.between)
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
		if one := rec.Report().Passes == 1; o.Explain != nil && one != (c.kernels != "") {
			t.Errorf("one launch: %v: %v", one, rec.Report().NoPass)
		}
		if o.Explain != nil && c.kernels != "" {
			have := []string{}
			for _, launch := range rec.Launches() {
				have = append(have, launch.Kernel)
			}
			at := 0
			for _, want := range strings.Fields(c.kernels) {
				k := slices.Index(have[at:], want)
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
	recorded := train(true, replay.Options{Explain: &told})
	again := train(true, replay.Options{})
	without := train(true, replay.Options{Without: []string{"perceptron"}})
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
		if c.refused != "" && !strings.Contains(told.String(), "perceptron: refused: ") || !strings.Contains(told.String(), c.refused) {
			t.Errorf("refused because\n%s\nwant %s", told.String(), c.refused)
		}
		return
	}
	if fmt.Sprint(recorded) == fmt.Sprint(eager) && d.Real().Size() == 4 {
		t.Log("the same bits as the eager step's")
	}
	bound := 1e-4 // six steps of AdamW make as much of what sums in another order differ by
	if d.Real().Size() == 8 {
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
