package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// AdamWConfig is the settings of AdamW. Start from [AdamWDefaults], and change what should differ: a field that is
// 0 means 0.
type AdamWConfig struct {
	LR            Schedule // required
	Beta1, Beta2  float64  // decay of the moments, in [0, 1)
	Eps           float64  // added to the root
	WeightDecay   float64  // decoupled: p shrinks by LR·WeightDecay
	NoBiasCorrect bool     // use the moments as they are, small in the first steps
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
	arena *arena
	cfg   AdamWConfig
	args  []kernels.Arg // scratch of Step
}

// NewAdamW returns an optimizer of the given parameters, which it moves into an arena. It panics with
// tensor.ErrValue for settings out of range, without a schedule, for Beta2 and Eps both 0, as they are in a config
// that was not made of [AdamWDefaults], and for what [autograd.NewArena] refuses of the parameters.
func NewAdamW(params []*autograd.Node, cfg AdamWConfig) *AdamW {
	checkRange("Beta1", cfg.Beta1, 0, 1)
	checkRange("Beta2", cfg.Beta2, 0, 1)
	checkRange("Eps", cfg.Eps, 0, math.Inf(1))
	checkRange("WeightDecay", cfg.WeightDecay, 0, math.Inf(1))
	if cfg.LR != nil && cfg.Beta2 == 0 && cfg.Eps == 0 {
		panic(badValue("Beta2 and Eps are 0, so that a gradient of 0 gives 0/0: start from optim.AdamWDefaults(lr)"))
	}
	o := &AdamW{arena: newArena(params, cfg.LR, "m", "v"), cfg: cfg}
	o.arena.changing(3, o.set)
	return o
}

// set makes the numbers of step t that change: decay, step and root of kernels.AdamW. The corrections are computed in
// double precision on the host; −expm1(t·log β) keeps the digits that 1 − βᵗ loses.
func (o *AdamW) set(numbers []kernels.Arg, lr float64, t int) {
	correct1, correct2 := 1.0, 1.0
	if !o.cfg.NoBiasCorrect {
		correct1 = -math.Expm1(float64(t) * math.Log(o.cfg.Beta1))
		correct2 = -math.Expm1(float64(t) * math.Log(o.cfg.Beta2))
	}
	numbers[0], numbers[1], numbers[2] = kernels.R(lr*o.cfg.WeightDecay), kernels.R(lr/correct1), kernels.R(1/math.Sqrt(correct2))
}

// Step updates every parameter that has a gradient, in one launch if all have: also where a fused pass left those in
// shares. The errors are [ErrNoGradients] if none has, which counts no step, a learning rate that is no number, and
// the device's first failure.
func (o *AdamW) Step() error {
	p, m, v := o.arena.flat.Values, o.arena.moments["m"], o.arena.moments["v"]
	launch := func(k *kernels.Kernel, args ...kernels.Arg) {
		decay, step, root := o.arena.numbers.Arg(0), o.arena.numbers.Arg(1), o.arena.numbers.Arg(2)
		o.args = append(append(o.args[:0], args...), decay, kernels.R(o.cfg.Beta1), kernels.R(1-o.cfg.Beta1),
			kernels.R(o.cfg.Beta2), kernels.R(1-o.cfg.Beta2), step, root, kernels.R(o.cfg.Eps))
		tensor.Launch(p.Device(), k, o.args...)
	}
	if shares, seed, ok := o.arena.flat.Shares(); ok {
		return o.arena.step(func(_, _ int) {
			launch(ops.AdamWShares, p.Arg(), shares.Arg(), seed.Arg(), m.Arg(), v.Arg(), kernels.I(p.Len()), kernels.I(shares.Shape()[0]))
		})
	}
	return o.arena.step(func(from, to int) {
		n := to - from
		launch(ops.AdamW, p.Run(from, n), o.arena.flat.Grads().Run(from, n), m.Run(from, n), v.Run(from, n), kernels.I(n))
	})
}

// ZeroGrad forgets the gradients of the parameters.
func (o *AdamW) ZeroGrad() { o.arena.flat.ZeroGrad() }

// Steps returns how many steps were done; a restored state counts those before it, too.
func (o *AdamW) Steps() int { return o.arena.steps }

// LR returns the learning rate of the next step.
func (o *AdamW) LR() float64 { return o.arena.lr() }

// State returns what [AdamW.Restore] needs to go on as if never stopped: the moments m and v of each parameter,
// and the steps done. The tensors are views of the optimizer's own: the next step changes them.
func (o *AdamW) State() State { return o.arena.state() }

// Restore copies a state over the optimizer's. It returns an error, with nothing changed, unless the state has the
// tensors of this optimizer, in their shapes and on its device.
func (o *AdamW) Restore(s State) error { return o.arena.restore(s) }

// Arena returns the arena that the parameters moved to, for autograd.NewFusedMLP. It is no part of what this package
// promises.
func (o *AdamW) Arena() *autograd.Arena { return o.arena.flat }

// Free releases the moments, the gradients and the arena. The parameters keep their values and may join another
// optimizer.
func (o *AdamW) Free() { o.arena.free() }
