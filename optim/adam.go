package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// AdamConfig is the settings of Adam. Start from [AdamDefaults], and change what should differ: a
// field that is 0 means 0.
type AdamConfig struct {
	LR           Schedule            // required
	Beta1, Beta2 float64             // decay of the moments, in [0, 1)
	Eps          float64             // added to the root
	WeightDecay  float64             // added to the gradient, as WeightDecay·p
	Groups       []Group[AdamConfig] // parameters with settings of their own
}

// AdamDefaults returns PyTorch's settings: betas 0.9 and 0.999, eps 1e-8, no weight decay.
func AdamDefaults(lr Schedule) AdamConfig {
	return AdamConfig{LR: lr, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}
}

// Adam keeps moments of the gradient, in which weight decay takes part, as PyTorch computes it; t
// counts steps from 1:
//
//	g = grad + wd·p;  m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²
//	p −= lr/(1−β₁ᵗ) · m / (√v/√(1−β₂ᵗ) + eps)
//
// Weight decay usually works better beside the moments: see [AdamW]. Source: Kingma and Ba, "Adam:
// A Method for Stochastic Optimization", ICLR 2015, algorithm 1.
type Adam struct {
	*base
	cfgs []AdamConfig // of the groups
}

// adamRules, without decay and with it, have the scalars step, 1/√(1−β₂ᵗ), wd, eps, β₁, 1−β₁, β₂, 1−β₂.
var adamRules = decays("adam", gradient, expr.Param(2), func(name string, g *expr.Expr) *kernels.FusedElementwise {
	m := faded(moment(0), g, expr.Param(4), expr.Param(5))
	v := faded(moment(1), g.Square(), expr.Param(6), expr.Param(7))
	p := parameter.Sub(expr.Param(0).Mul(m).Div(v.Sqrt().Mul(expr.Param(1)).Add(expr.Param(3))))
	return newRule(name, []float64{0.02, 1.5, 0.1, 1e-8, 0.9, 0.1, 0.99, 0.01}, [][2]float64{signed, squares}, p, m, v)
})

// NewAdam returns an optimizer of the given parameters, which it moves into a flat buffer. It
// panics with tensor.ErrValue for settings out of range, without a schedule, for Beta2 and Eps both
// 0, as they are in a config that was not made of [AdamDefaults], and for parameters as the package
// comment says. A step is one launch for each group.
func NewAdam(params []*autograd.Node, cfg AdamConfig) *Adam {
	names := []string{"m", "v"}
	o := &Adam{}
	o.base, o.cfgs = newBase("NewAdam", params, cfg, 2, func(c *AdamConfig, numbers []kernels.Arg, lr float64, t int) {
		first, second := biasCorrections(c.Beta1, c.Beta2, t)
		numbers[0], numbers[1] = kernels.FloatArg(lr/first), kernels.FloatArg(1/math.Sqrt(second))
	}, names...)
	o.update = func(g, from, to int) {
		c := &o.cfgs[g]
		o.apply(adamRules[btoi(c.WeightDecay != 0)], from, to, names, o.numbers.Arg(2*g), o.numbers.Arg(2*g+1),
			kernels.FloatArg(c.WeightDecay), kernels.FloatArg(c.Eps),
			kernels.FloatArg(c.Beta1), kernels.FloatArg(1-c.Beta1), kernels.FloatArg(c.Beta2), kernels.FloatArg(1-c.Beta2))
	}
	return o
}

func (c AdamConfig) check() (Schedule, []Group[AdamConfig]) {
	mustSchedule(c.LR)
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	checkAdam(c.Beta1, c.Beta2, c.Eps, "AdamDefaults")
	return c.LR, c.Groups
}
