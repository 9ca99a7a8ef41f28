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
	LR          Schedule           // required
	Momentum    float64            // in [0, 1)
	Nesterov    bool               // look ahead along the momentum
	WeightDecay float64            // added to the gradient, as WeightDecay·p
	Groups      []Group[SGDConfig] // parameters with settings of their own
}

// SGD is stochastic gradient descent as PyTorch computes it:
//
//	g = grad + wd·p;  v = momentum·v + g;  p −= lr·v          (lr·(g + momentum·v) with Nesterov)
//
// Source: Sutskever, Martens, Dahl, Hinton, "On the importance of initialization and momentum in
// deep learning", ICML 2013.
type SGD struct {
	*base
	cfgs []SGDConfig // of the groups
}

// NewSGD returns an optimizer of the given parameters, which it moves into a flat buffer. It panics
// with tensor.ErrValue for settings out of range, without a schedule, and for parameters as the
// package comment says. A step is one launch for each group.
func NewSGD(params []*autograd.Node, cfg SGDConfig) *SGD {
	o := &SGD{}
	o.base, o.cfgs = newBase("NewSGD", params, cfg, 1, func(_ *SGDConfig, numbers []kernels.Arg, lr float64, _ int) { numbers[0] = kernels.FloatArg(lr) }, "velocity")
	o.update = o.launch
	return o
}

func (c SGDConfig) check() (Schedule, []Group[SGDConfig]) {
	mustSchedule(c.LR)
	checkRange("Momentum", c.Momentum, 0, 1)
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	return c.LR, c.Groups
}

// launch updates elements of group g.
func (o *SGD) launch(g, from, to int) {
	n, cfg := to-from, &o.cfgs[g]
	velocity := o.moments["velocity"].BufferArg(from, n)
	tensor.Launch(o.flat.Values.Device(), ops.SGD, o.values.BufferArg(from, n), o.grads.BufferArg(from, n), velocity, kernels.IntArg(n),
		o.numbers.Arg(g), kernels.FloatArg(cfg.Momentum), kernels.FloatArg(cfg.WeightDecay),
		kernels.FlagArg(cfg.Nesterov), kernels.FlagArg(cfg.WeightDecay != 0))
}
