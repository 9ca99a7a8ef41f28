package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// RMSpropConfig is the settings of RMSprop. Start from [RMSpropDefaults], and change what should
// differ: a field that is 0 means 0.
type RMSpropConfig struct {
	LR          Schedule               // required
	Alpha       float64                // decay of the moments, in [0, 1)
	Eps         float64                // added to the root
	Momentum    float64                // in [0, 1)
	Centered    bool                   // divide by an estimate of the standard deviation, not of the root of the mean square
	WeightDecay float64                // added to the gradient, as WeightDecay·p
	Groups      []Group[RMSpropConfig] // parameters with settings of their own
}

// RMSpropDefaults returns PyTorch's settings: alpha 0.99, eps 1e-8, no momentum, not centered, no
// weight decay.
func RMSpropDefaults(lr Schedule) RMSpropConfig {
	return RMSpropConfig{LR: lr, Alpha: 0.99, Eps: 1e-8}
}

// RMSprop divides the gradient by a running root mean square, as PyTorch computes it:
//
//	g = grad + wd·p;  square = α·square + (1−α)g²
//	velocity = momentum·velocity + g/(√square + eps);  p −= lr·velocity
//
// Centered, mean = α·mean + (1−α)g, and √(square − mean²) is in place of √square; where rounding
// makes that difference negative, it is 0. Source: Tieleman and Hinton, "Lecture 6.5: RMSProp",
// Coursera, 2012; centered: Graves, "Generating Sequences With Recurrent Neural Networks", 2013,
// §4.2.
type RMSprop struct {
	*base
	cfgs []RMSpropConfig // of the groups
}

// rmspropRules has rules without decay and with it for each choice of centered and of momentum, with the scalars lr,
// wd, α, 1−α, eps and momentum, and the moments square, mean if centered, velocity if there is
// momentum.
var rmspropRules = func() (rules [2][2][2]*kernels.FusedElementwise) {
	names := [2][2]string{{"rmsprop", "rmsprop_momentum"}, {"rmsprop_centered", "rmsprop_centered_momentum"}}
	for centered := range 2 {
		for withMomentum := range 2 {
			rules[centered][withMomentum] = decays(names[centered][withMomentum], gradient, expr.Param(1),
				func(name string, g *expr.Expr) *kernels.FusedElementwise {
					square := faded(moment(0), g.Square(), expr.Param(2), expr.Param(3))
					variance, domains, moments := square, [][2]float64{squares}, []*expr.Expr{square}
					if centered == 1 {
						mean := faded(moment(1), g, expr.Param(2), expr.Param(3))
						variance, domains, moments = square.Sub(mean.Square()).Max(expr.Const(0)), append(domains, signed),
							append(moments, mean)
					}
					along := g.Div(variance.Sqrt().Add(expr.Param(4)))
					if withMomentum == 1 {
						along = expr.Param(5).Mul(moment(len(moments))).Add(along)
						domains, moments = append(domains, signed), append(moments, along)
					}
					return newRule(name, []float64{0.02, 0.1, 0.9, 0.1, 1e-8, 0.9}, domains,
						append([]*expr.Expr{parameter.Sub(expr.Param(0).Mul(along))}, moments...)...)
				})
		}
	}
	return rules
}()

// NewRMSprop returns an optimizer of the given parameters, which it moves into a flat buffer. It
// panics with tensor.ErrValue for settings out of range, without a schedule, for Alpha and Eps both
// 0, as they are in a config that was not made of [RMSpropDefaults], and for parameters as the
// package comment says. A step is one launch for each group.
func NewRMSprop(params []*autograd.Node, cfg RMSpropConfig) *RMSprop {
	names := []string{"square", "mean", "velocity"}
	o := &RMSprop{}
	var centered, momentum bool
	for _, c := range append([]Group[RMSpropConfig]{{Config: cfg}}, cfg.Groups...) {
		centered, momentum = centered || c.Config.Centered, momentum || c.Config.Momentum != 0
	}
	o.base, o.cfgs = newBase("NewRMSprop", params, cfg, 1, func(_ *RMSpropConfig, numbers []kernels.Arg, lr float64, _ int) { numbers[0] = kernels.FloatArg(lr) },
		chosen(names, true, centered, momentum)...)
	var moments [][]string // of each group
	for _, c := range o.cfgs {
		moments = append(moments, chosen(names, true, c.Centered, c.Momentum != 0))
	}
	o.update = func(g, from, to int) {
		c := &o.cfgs[g]
		rule := rmspropRules[btoi(c.Centered)][btoi(c.Momentum != 0)][btoi(c.WeightDecay != 0)]
		o.apply(rule, from, to, moments[g], o.numbers.Arg(g), kernels.FloatArg(c.WeightDecay), kernels.FloatArg(c.Alpha), kernels.FloatArg(1-c.Alpha), kernels.FloatArg(c.Eps), kernels.FloatArg(c.Momentum))
	}
	return o
}

func (c RMSpropConfig) check() (Schedule, []Group[RMSpropConfig]) {
	mustSchedule(c.LR)
	checkRange("Alpha", c.Alpha, 0, 1)
	checkRange("Eps", c.Eps, 0, math.Inf(1))
	checkRange("Momentum", c.Momentum, 0, 1)
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	if c.Alpha == 0 && c.Eps == 0 {
		panic(badValue("Alpha and Eps are 0, so that a gradient of 0 gives 0/0: start from optim.RMSpropDefaults(lr)"))
	}
	return c.LR, c.Groups
}

// chosen returns those of the names that are chosen.
func chosen(names []string, which ...bool) (list []string) {
	for i, is := range which {
		if is {
			list = append(list, names[i])
		}
	}
	return list
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
