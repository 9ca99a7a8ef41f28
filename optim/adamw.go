package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// AdamWConfig is the settings of AdamW. Start from [AdamWDefaults], and change what should differ:
// a field that is 0 means 0.
type AdamWConfig struct {
	LR            Schedule             // required
	Beta1, Beta2  float64              // decay of the moments, in [0, 1)
	Eps           float64              // added to the root
	WeightDecay   float64              // decoupled from the gradient: p shrinks by LR·WeightDecay
	NoBiasCorrect bool                 // use the moments as they are, small in the first steps
	Groups        []Group[AdamWConfig] // parameters with settings of their own
}

// AdamWDefaults returns PyTorch's settings: betas 0.9 and 0.999, eps 1e-8, weight decay 0.01.
func AdamWDefaults(lr Schedule) AdamWConfig {
	return AdamWConfig{LR: lr, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01}
}

// AdamW is Adam with decoupled weight decay, as PyTorch computes it; t counts steps from 1:
//
//	p −= lr·wd·p;  m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²
//	p −= lr/(1−β₁ᵗ) · m / (√v/√(1−β₂ᵗ) + eps)
//
// Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2.
type AdamW struct {
	*base
	cfgs []AdamWConfig // of the groups
	args []kernels.Arg // scratch of Step
}

// NewAdamW returns an optimizer of the given parameters, which it moves into a flat buffer. It
// panics with tensor.ErrValue for settings out of range, without a schedule, for Beta2 and Eps both
// 0, as they are in a config that was not made of [AdamWDefaults], and for parameters as the
// package comment says. A step is one launch for each group.
func NewAdamW(params []*autograd.Node, cfg AdamWConfig) *AdamW {
	o := &AdamW{}
	o.base, o.cfgs = newBase("NewAdamW", params, cfg, 3, setAdamW, "m", "v")
	o.update = o.launch
	return o
}

func (c AdamWConfig) check() (Schedule, []Group[AdamWConfig]) {
	mustSchedule(c.LR)
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	checkAdam(c.Beta1, c.Beta2, c.Eps, "AdamWDefaults")
	return c.LR, c.Groups
}

// setAdamW makes decay, step and root of kernels.AdamW.
func setAdamW(c *AdamWConfig, numbers []kernels.Arg, lr float64, t int) {
	correct1, correct2 := 1.0, 1.0
	if !c.NoBiasCorrect {
		correct1, correct2 = biasCorrections(c.Beta1, c.Beta2, t)
	}
	numbers[0], numbers[1], numbers[2] = kernels.FloatArg(lr*c.WeightDecay), kernels.FloatArg(lr/correct1), kernels.FloatArg(1/math.Sqrt(correct2))
}

// launch updates elements of group g.
func (o *AdamW) launch(g, from, to int) {
	p, m, v, n := o.values, o.moments["m"], o.moments["v"], o.flat.Used(from, to)
	o.with(ops.AdamW, g, p.BufferArg(from, n), o.grads.BufferArg(from, n), m.BufferArg(from, n), v.BufferArg(from, n), kernels.IntArg(n))
}

// with launches a kernel on tensors and the numbers of group g.
func (o *AdamW) with(k *kernels.Kernel, g int, args ...kernels.Arg) {
	cfg := &o.cfgs[g]
	decay, step, root := o.numbers.Arg(3*g), o.numbers.Arg(3*g+1), o.numbers.Arg(3*g+2)
	o.args = append(append(o.args[:0], args...), decay, kernels.FloatArg(cfg.Beta1), kernels.FloatArg(1-cfg.Beta1),
		kernels.FloatArg(cfg.Beta2), kernels.FloatArg(1-cfg.Beta2), step, root, kernels.FloatArg(cfg.Eps))
	tensor.Launch(o.flat.Values.Device(), k, o.args...)
}
