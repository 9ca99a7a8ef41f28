package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// SGDConfig is the settings of SGD. What is left out is off.
type SGDConfig struct {
	LR       Schedule // required
	Momentum float64  // in [0, 1)
	Nesterov bool     // look ahead along the momentum
	L2       float64  // added to the gradient as L2·p
}

// SGD is stochastic gradient descent as PyTorch computes it:
//
//	g = grad + L2·p;  v = momentum·v + g;  p −= lr·v          (lr·(g + momentum·v) with Nesterov)
//
// Source: Sutskever, Martens, Dahl, Hinton, "On the importance of initialization and momentum in deep
// learning", ICML 2013.
type SGD struct {
	arena *arena
	cfg   SGDConfig
}

// NewSGD returns an optimizer of the given parameters, which it moves into an arena. It panics with
// tensor.ErrValue for settings out of range, without a schedule, and for what [autograd.NewArena] refuses of the
// parameters.
func NewSGD(params []*autograd.Node, cfg SGDConfig) *SGD {
	checkRange("Momentum", cfg.Momentum, 0, 1)
	checkRange("L2", cfg.L2, 0, math.Inf(1))
	o := &SGD{newArena(params, cfg.LR, "velocity"), cfg}
	o.arena.changing(1, func(numbers []kernels.Arg, lr float64, _ int) { numbers[0] = kernels.R(lr) })
	return o
}

// Step updates every parameter that has a gradient, in one launch if all have. The errors are [ErrNoGradients] if
// none has, which counts no step, a learning rate that is no number, and the device's first failure.
func (o *SGD) Step() error {
	return o.arena.step(func(from, to int) {
		n := to - from
		tensor.Launch(o.arena.flat.Values.Device(), ops.SGD, o.arena.flat.Values.Run(from, n), o.arena.flat.Grads().Run(from, n), o.arena.moments["velocity"].Run(from, n),
			kernels.I(n), o.arena.numbers.Arg(0), kernels.R(o.cfg.Momentum), kernels.R(o.cfg.L2), kernels.Flag(o.cfg.Nesterov))
	})
}

// ZeroGrad forgets the gradients of the parameters.
func (o *SGD) ZeroGrad() { o.arena.flat.ZeroGrad() }

// Steps returns how many steps were done; a restored state counts those before it, too.
func (o *SGD) Steps() int { return o.arena.steps }

// LR returns the learning rate of the next step.
func (o *SGD) LR() float64 { return o.arena.lr() }

// State returns what [SGD.Restore] needs to go on as if never stopped: the velocity of each parameter,
// and the steps done. The tensors are views of the optimizer's own: the next step changes them.
func (o *SGD) State() State { return o.arena.state() }

// Restore copies a state over the optimizer's. It returns an error, with nothing changed, unless the state has the
// tensors of this optimizer, in their shapes and on its device.
func (o *SGD) Restore(s State) error { return o.arena.restore(s) }

// Arena returns the arena that the parameters moved to, for autograd.NewFusedMLP. It is no part of what this package
// promises.
func (o *SGD) Arena() *autograd.Arena { return o.arena.flat }

// Free releases the moments, the gradients and the arena. The parameters keep their values and may join another
// optimizer.
func (o *SGD) Free() { o.arena.free() }
