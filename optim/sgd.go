package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// SGDConfig is the settings of SGD.
type SGDConfig struct {
	LR       Schedule
	Momentum float64 // in [0, 1)
	Nesterov bool
	L2       float64 // added to the gradient as L2·p
}

// SGD is stochastic gradient descent as PyTorch computes it:
//
//	g = grad + L2·p;  v = momentum·v + g;  p −= lr·v          (lr·(g + momentum·v) with Nesterov)
//
// Source: Sutskever, Martens, Dahl, Hinton, "On the importance of initialization and momentum in deep
// learning", ICML 2013.
type SGD struct {
	arena
	cfg SGDConfig
}

// NewSGD returns an optimizer of the given parameters, which it moves into an arena. It panics with
// tensor.ErrValue for settings out of range.
func NewSGD(params []*autograd.Node, cfg SGDConfig) *SGD {
	checkRange("Momentum", cfg.Momentum, 0, 1)
	checkRange("L2", cfg.L2, 0, math.Inf(1))
	return &SGD{newArena(params, cfg.LR, "velocity"), cfg}
}

// Step updates the parameters, in one launch if all have gradients.
func (o *SGD) Step() error {
	return o.step(func(from, to int) {
		n := to - from
		tensor.Launch(o.Values.Device(), kernels.SGD, o.Values.Run(from, n), o.Grads().Run(from, n), o.moments["velocity"].Run(from, n),
			kernels.I(n), kernels.R(o.LR()), kernels.R(o.cfg.Momentum), kernels.R(o.cfg.L2), kernels.Flag(o.cfg.Nesterov))
	})
}
