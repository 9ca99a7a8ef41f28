package replay_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// trainer is a small network in training.
type trainer struct {
	d      tensor.Device
	rng    *tensor.RNG
	net    *nn.MLP
	params []*autograd.Node
	opt    optim.Optimizer
	x, y   *tensor.Tensor
	loss   *autograd.Node // of the last eager step
	before bool           // gradients are forgotten before a step, not after it
	drop   bool
}

var rates = map[string]optim.Schedule{
	"constant":    optim.Constant(0.02),
	"exponential": optim.Exponential(0.05, 0.9),
	"cosine":      optim.Warmup(3, optim.Cosine(0.05, 0.001, 9)),
	"trapezoid":   optim.WarmupHoldDecay(0.05, 2, 5, 12),
	"staircase":   optim.StepLR(0.05, 0.5, 4),
}

var optimizers = map[string]func(params []*autograd.Node, lr optim.Schedule) optim.Optimizer{
	"adamw": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewAdamW(p, optim.AdamWDefaults(lr))
	},
	"adamw uncorrected": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		cfg := optim.AdamWDefaults(lr)
		cfg.NoBiasCorrect = true
		return optim.NewAdamW(p, cfg)
	},
	"sgd": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDConfig{LR: lr})
	},
	"momentum": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDConfig{LR: lr, Momentum: 0.9, Nesterov: true, WeightDecay: 0.01})
	},
}

// mapped are the rules that are formulas. Their numbers come as those of the others do: one
// schedule shows it.
var mapped = map[string]func(params []*autograd.Node, lr optim.Schedule) optim.Optimizer{
	"adam": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewAdam(p, optim.AdamDefaults(lr))
	},
	"rmsprop": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		cfg := optim.RMSpropDefaults(lr)
		cfg.Centered, cfg.Momentum = true, 0.9
		return optim.NewRMSprop(p, cfg)
	},
	"adagrad": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewAdagrad(p, optim.AdagradDefaults(lr))
	},
	"lion": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewLion(p, optim.LionDefaults(lr))
	},
	"lamb": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		return optim.NewLAMB(p, optim.LAMBDefaults(lr))
	},
	"groups": func(p []*autograd.Node, lr optim.Schedule) optim.Optimizer {
		cfg := optim.AdamWDefaults(lr)
		own := cfg
		own.LR, own.WeightDecay = optim.Exponential(0.1, 0.5), 0
		cfg.Groups = []optim.Group[optim.AdamWConfig]{{Params: p[1:2], Config: own}}
		return optim.NewAdamW(p, cfg)
	},
}

// sameBits leaves out the one rewrite whose results differ from the eager step's in their last
// bits.
var sameBits = replay.Options{Without: []string{"fused-training-step"}}

func newTrainer(d tensor.Device, rule, rate string) *trainer {
	tr := &trainer{d: d, rng: tensor.NewRNG(7)}
	tr.net = nn.NewMLP(d, tr.rng, nn.MLPConfig{Sizes: []int{3, 8, 8, 2}, Activations: []nn.Activation{nn.LeakyReLU(0.1), nn.Tanh}})
	tr.params = nn.Params(tr.net)
	if rule != "" {
		make, ok := optimizers[rule]
		if !ok {
			make = mapped[rule]
		}
		tr.opt = make(tr.params, rates[rate])
	}
	tr.x, tr.y = tensor.Zeros(d, 20, 3), tensor.Zeros(d, 20, 2)
	tr.input(0)
	return tr
}

// input sets the batch of a step.
func (tr *trainer) input(step int) {
	data := tensor.NewRNG(uint64(1000 + step))
	x, y := data.Uniform(tr.d, -1, 1, 20, 3), data.Uniform(tr.d, 0, 1, 20, 2)
	tr.x.SetInPlace(x)
	tr.y.SetInPlace(y)
	x.Free()
	y.Free()
}

// step is a step of training as anybody writes it.
func (tr *trainer) step() ([]*tensor.Tensor, error) {
	if tr.before {
		tr.opt.ZeroGrad()
	}
	x := autograd.Const(tr.x)
	if tr.drop {
		mask := tr.rng.Uniform(tr.d, 0, 1, 20, 3).SubScalar(0.25).Sign().ReLU()
		x = x.Mul(autograd.Const(mask)).DivScalar(0.75)
	}
	tr.loss = tr.net.Forward(x).Sub(autograd.Const(tr.y)).Square().Mean()
	if err := tr.loss.Backward(); err != nil {
		return nil, err
	}
	if err := tr.opt.Step(); err != nil {
		return nil, err
	}
	if !tr.before {
		tr.opt.ZeroGrad()
	}
	return []*tensor.Tensor{tr.loss.Value()}, nil
}

// state is all that a program can see of a training.
func (tr *trainer) state(t *testing.T, outputs []*tensor.Tensor) string {
	t.Helper()
	all := slices.Clone(outputs)
	for _, p := range tr.params {
		all = append(all, p.Value())
	}
	text := fmt.Sprint(tr.rng.Calls)
	if tr.opt != nil {
		s := tr.opt.State()
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range s.Tensors {
				if !yield(name) {
					return
				}
			}
		}) {
			all = append(all, s.Tensors[name])
		}
		text += fmt.Sprint(" ", s.Steps, tr.opt.Steps(), math.Float64bits(tr.opt.LR()))
	}
	return text + bits(t, all)
}

// compareTraining does twelve steps eagerly, and the same recorded, with two eager ones between the
// replays.
func compareTraining(t *testing.T, eager, recorded *trainer) {
	t.Helper()
	var want []*tensor.Tensor
	var err error
	for range 2 {
		if want, err = eager.step(); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := replay.Record(recorded.d, recorded.step, sameBits)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	got := rec.Outputs()
	for step := 2; ; step++ {
		if g, w := recorded.state(t, got), eager.state(t, want); g != w {
			t.Fatalf("after step %d:\n%s\nwant\n%s", step, g, w)
		}
		if step == 12 {
			return
		}
		eager.input(step)
		recorded.input(step)
		if want, err = eager.step(); err != nil {
			t.Fatal(err)
		}
		if step == 5 || step == 8 {
			got, err = recorded.step()
		} else {
			got, err = rec.Outputs(), rec.Run()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTraining: a training continues with the same bits, state and learning rate whether its steps
// are replayed or not.
func TestTraining(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for rule := range optimizers {
			for rate := range rates {
				compareTraining(t, newTrainer(d, rule, rate), newTrainer(d, rule, rate))
			}
		}
		for rule := range mapped {
			compareTraining(t, newTrainer(d, rule, "exponential"), newTrainer(d, rule, "exponential"))
		}
		for _, variant := range []func(tr *trainer){
			func(tr *trainer) { tr.before = true },
			func(tr *trainer) { tr.drop = true },
		} {
			a, b := newTrainer(d, "adamw", "cosine"), newTrainer(d, "adamw", "cosine")
			variant(a)
			variant(b)
			compareTraining(t, a, b)
		}
	})
}

// TestTrainingChecked: under check mode and while profiling, too.
func TestTrainingChecked(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			d := devtest.Open(t, sel, tensor.Options{Check: true})
			compareTraining(t, newTrainer(d, "adamw", "cosine"), newTrainer(d, "adamw", "cosine"))
		}
		d := devtest.Open(t, sel, tensor.Options{Profile: true})
		tr := newTrainer(d, "momentum", "cosine")
		rec, err := replay.Record(d, tr.step)
		if err != nil {
			t.Fatal(err)
		}
		calls := func() (n int64) {
			times, err := d.Profile()
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range times {
				n += k.Calls
			}
			return n
		}
		before, launches := calls(), d.Stats().Launches
		for range 3 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		want := 3 * int64(rec.Report().Launches)
		if n, l := calls()-before, d.Stats().Launches-launches; n != want || l != want {
			t.Errorf("%s: %d calls profiled, %d launches counted, want %d", sel, n, l, want)
		}
	}
}

// TestOwnRule: parameters without an optimizer, whose gradients the step makes and forgets, updated
// in place.
func TestOwnRule(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		step := func(tr *trainer) func() ([]*tensor.Tensor, error) {
			return func() ([]*tensor.Tensor, error) {
				for _, p := range tr.params {
					p.ZeroGrad()
				}
				loss := tr.net.Forward(autograd.Const(tr.x)).SquaredError(autograd.Const(tr.y))
				if err := loss.Backward(); err != nil {
					return nil, err
				}
				for _, p := range tr.params {
					p.Value().SetInPlace(p.Value().Sub(p.Grad().MulScalar(0.01)))
				}
				return []*tensor.Tensor{loss.Value(), tr.params[0].Grad()}, nil
			}
		}
		eager, recorded := newTrainer(d, "", ""), newTrainer(d, "", "")
		var want []*tensor.Tensor
		for range 7 {
			want, _ = step(eager)()
		}
		rec, err := replay.Record(d, step(recorded))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if g, w := recorded.state(t, rec.Outputs()), eager.state(t, want); g != w {
			t.Errorf("%s\nwant\n%s", g, w)
		}
		for i, p := range recorded.params {
			grads := [][]*tensor.Tensor{{p.Grad()}, {eager.params[i].Grad()}}
			if g, w := bits(t, grads[0]), bits(t, grads[1]); g != w {
				t.Errorf("the gradient of parameter %d is %s, want %s", i, g, w)
			}
		}
	})
}
