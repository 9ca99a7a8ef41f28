package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// LionConfig is the settings of Lion. Start from [LionDefaults], and change what should differ: a
// field that is 0 means 0.
type LionConfig struct {
	LR          Schedule            // required
	Beta1       float64             // how much of the direction is the moment's, in [0, 1)
	Beta2       float64             // decay of the moment, in [0, 1)
	WeightDecay float64             // decoupled from the gradient: p shrinks by LR·WeightDecay
	Groups      []Group[LionConfig] // parameters with settings of their own
}

// LionDefaults returns the paper's settings: betas 0.9 and 0.99, no weight decay. The paper takes a
// learning rate 3 to 10 times smaller than for AdamW, and a weight decay larger by that.
func LionDefaults(lr Schedule) LionConfig { return LionConfig{LR: lr, Beta1: 0.9, Beta2: 0.99} }

// Lion steps by the sign of a moment of the gradient, and keeps that one moment alone:
//
//	p −= lr·(sign(β₁m + (1−β₁)g) + wd·p);  m = β₂m + (1−β₂)g
//
// Source: Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023, algorithm 2.
type Lion struct {
	*base
	cfgs []LionConfig // of the groups
}

// lionRules, without decay and with it, have the scalars lr, lr·wd, β₁, 1−β₁, β₂, 1−β₂.
var lionRules = decays("lion", parameter, expr.Param(1).Neg(), func(name string,
	kept *expr.Expr) *kernels.FusedElementwise {
	c := faded(moment(0), gradient, expr.Param(2), expr.Param(3))
	one, zero := expr.Const(1), expr.Const(0)
	sign := expr.Where(c.Gt(zero), one, expr.Where(c.Lt(zero), one.Neg(), c)) // of NaN: NaN
	p := kept.Sub(expr.Param(0).Mul(sign))
	return newRule(name, []float64{0.02, 0.002, 0.9, 0.1, 0.99, 0.01}, [][2]float64{signed}, p, faded(moment(0), gradient, expr.Param(4), expr.Param(5)))
})

// NewLion returns an optimizer of the given parameters, which it moves into a flat buffer. It
// panics with tensor.ErrValue for settings out of range, without a schedule, for Beta1 and Beta2
// both 0, as they are in a config that was not made of [LionDefaults], and for parameters as the
// package comment says. A step is one launch for each group.
func NewLion(params []*autograd.Node, cfg LionConfig) *Lion {
	names := []string{"m"}
	o := &Lion{}
	o.base, o.cfgs = newBase("NewLion", params, cfg, 2, func(c *LionConfig, numbers []kernels.Arg, lr float64, _ int) {
		numbers[0], numbers[1] = kernels.FloatArg(lr), kernels.FloatArg(lr*c.WeightDecay)
	}, names...)
	o.update = func(g, from, to int) {
		c := &o.cfgs[g]
		o.apply(lionRules[btoi(c.WeightDecay != 0)], from, to, names, o.numbers.Arg(2*g), o.numbers.Arg(2*g+1),
			kernels.FloatArg(c.Beta1), kernels.FloatArg(1-c.Beta1), kernels.FloatArg(c.Beta2), kernels.FloatArg(1-c.Beta2))
	}
	return o
}

func (c LionConfig) check() (Schedule, []Group[LionConfig]) {
	mustSchedule(c.LR)
	checkRange("Beta1", c.Beta1, 0, 1)
	checkRange("Beta2", c.Beta2, 0, 1)
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	if c.Beta1 == 0 && c.Beta2 == 0 {
		panic(badValue("Beta1 and Beta2 are 0, so that there is no moment: start from optim.LionDefaults(lr)"))
	}
	return c.LR, c.Groups
}
