package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// AdagradConfig is the settings of Adagrad. Start from [AdagradDefaults], and change what should
// differ: a field that is 0 means 0.
type AdagradConfig struct {
	LR          Schedule               // required
	Eps         float64                // added to the root
	Initial     float64                // what the sums of squares begin with
	WeightDecay float64                // added to the gradient, as WeightDecay·p
	Groups      []Group[AdagradConfig] // parameters with settings of their own
}

// AdagradDefaults returns PyTorch's settings: eps 1e-10, sums from 0, no weight decay.
func AdagradDefaults(lr Schedule) AdagradConfig { return AdagradConfig{LR: lr, Eps: 1e-10} }

// Adagrad divides the gradient by the root of the sum of all its squares, as PyTorch computes it:
//
//	g = grad + wd·p;  sum += g²;  p −= lr·g/(√sum + eps)
//
// PyTorch's lr_decay is a schedule: lr/(1 + decay·step), of steps that count from 0. Source: Duchi,
// Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization",
// JMLR 12, 2011.
type Adagrad struct {
	*base
	cfgs []AdagradConfig // of the groups
}

// adagradRules, without decay and with it, have the scalars lr, wd, eps.
var adagradRules = decays("adagrad", gradient, expr.Param(1), func(name string,
	g *expr.Expr) *kernels.FusedElementwise {
	sum := moment(0).Add(g.Square())
	p := parameter.Sub(expr.Param(0).Mul(g.Div(sum.Sqrt().Add(expr.Param(2)))))
	return newRule(name, []float64{0.02, 0.1, 1e-10}, [][2]float64{squares}, p, sum)
})

// NewAdagrad returns an optimizer of the given parameters, which it moves into a flat buffer. It
// panics with tensor.ErrValue for settings out of range, without a schedule, for Eps and Initial
// both 0, as they are in a config that was not made of [AdagradDefaults], and for parameters as the
// package comment says. A step is one launch for each group.
func NewAdagrad(params []*autograd.Node, cfg AdagradConfig) *Adagrad {
	names := []string{"sum"}
	o := &Adagrad{}
	o.base, o.cfgs = newBase("NewAdagrad", params, cfg, 1, func(_ *AdagradConfig, numbers []kernels.Arg, lr float64, _ int) { numbers[0] = kernels.FloatArg(lr) }, names...)
	for g, c := range o.cfgs {
		sums := o.moments["sum"].Slice(0, o.groups[g].from, o.groups[g].to)
		sums.FillInPlace(c.Initial)
		sums.Free()
	}
	o.update = func(g, from, to int) {
		c := &o.cfgs[g]
		o.apply(adagradRules[btoi(c.WeightDecay != 0)], from, to, names,
			o.numbers.Arg(g), kernels.FloatArg(c.WeightDecay), kernels.FloatArg(c.Eps))
	}
	return o
}

func (c AdagradConfig) check() (Schedule, []Group[AdagradConfig]) {
	mustSchedule(c.LR)
	checkRange("Eps", c.Eps, 0, math.Inf(1))
	checkRange("Initial", c.Initial, 0, math.Inf(1))
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	if c.Eps == 0 && c.Initial == 0 {
		panic(badValue("Eps and Initial are 0, so that a gradient of 0 gives 0/0: start from optim.AdagradDefaults(lr)"))
	}
	return c.LR, c.Groups
}
