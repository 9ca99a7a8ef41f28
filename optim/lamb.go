package optim

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// LAMBConfig is the settings of LAMB. Start from [LAMBDefaults], and change what should differ: a
// field that is 0 means 0.
type LAMBConfig struct {
	LR           Schedule            // required
	Beta1, Beta2 float64             // decay of the moments, in [0, 1)
	Eps          float64             // added to the root
	WeightDecay  float64             // decoupled from the gradient: added to the direction, as WeightDecay·p
	Groups       []Group[LAMBConfig] // parameters with settings of their own
}

// LAMBDefaults returns the paper's settings: betas 0.9 and 0.999, eps 1e-6, weight decay 0.01.
func LAMBDefaults(lr Schedule) LAMBConfig {
	return LAMBConfig{LR: lr, Beta1: 0.9, Beta2: 0.999, Eps: 1e-6, WeightDecay: 0.01}
}

// LAMB makes each parameter's step as long as the parameter, times the learning rate: for large
// batches. t counts steps from 1, and the norms ‖·‖ are those of a whole parameter:
//
//	m = β₁m + (1−β₁)g;  v = β₂v + (1−β₂)g²
//	u = m/(1−β₁ᵗ) / (√v/√(1−β₂ᵗ) + eps) + wd·p;  p −= lr·‖p‖/‖u‖·u
//
// Where a norm is 0, 1 is in place of ‖p‖/‖u‖. Source: You et al., "Large Batch Optimization for
// Deep Learning: Training BERT in 76 minutes", ICLR 2020, algorithm 2.
type LAMB struct {
	*base
	cfgs []LAMBConfig // of the groups

	// A row is flatparams.Align elements of the flat buffer, all of one parameter, but for the last
	// ones of its last row.
	rows, filled *tensor.Tensor // of each row, its parameter, and how many elements it has
}

// lambRule makes the moments and the direction, which is 0 beyond the elements of a row. Operand 4
// is how many it has; the scalars are 1/(1−β₁ᵗ), 1/√(1−β₂ᵗ), wd, eps, β₁, 1−β₁, β₂, 1−β₂.
var lambRule = func() *kernels.FusedElementwise {
	m := faded(moment(0), gradient, expr.Param(4), expr.Param(5))
	v := faded(moment(1), gradient.Square(), expr.Param(6), expr.Param(7))
	u := expr.Param(0).Mul(m).Div(v.Sqrt().Mul(expr.Param(1)).Add(expr.Param(3))).Add(expr.Param(2).Mul(parameter))
	u = expr.Where(expr.Index(1).Float().Lt(expr.Input(4)), u, expr.Const(0))
	return newRule("lamb", []float64{1.2, 1.5, 0.1, 1e-6, 0.9, 0.1, 0.99, 0.01}, [][2]float64{signed, squares, {0, 64}}, m, v, u)
}()

// lambSquares makes squares of the norms of two rows.
var lambSquares = newRule("lamb_squares", nil, nil, parameter.Square(), gradient.Square())

// lambStep goes along the direction, operand 1, by the squares of the norms of parameter and
// direction, operands 2 and 3.
var lambStep = func() *kernels.FusedElementwise {
	p, u, zero := expr.Input(2), expr.Input(3), expr.Const(0)
	ratio := expr.Where(p.Gt(zero).And(u.Gt(zero)), p.Sqrt().Div(u.Sqrt()), expr.Const(1))
	return newRule("lamb_step", []float64{0.02}, [][2]float64{squares, squares}, parameter.Sub(expr.Param(0).Mul(ratio).Mul(gradient)))
}()

// NewLAMB returns an optimizer of the given parameters, which it moves into a flat buffer. It
// panics with tensor.ErrValue for settings out of range, without a schedule, for Beta2 and Eps both
// 0, as they are in a config that was not made of [LAMBDefaults], and for parameters as the package
// comment says. A step is some launches for each group, whatever the number of parameters; the
// order in which norms are added up is fixed.
func NewLAMB(params []*autograd.Node, cfg LAMBConfig) *LAMB {
	o := &LAMB{}
	o.base, o.cfgs = newBase("NewLAMB", params, cfg, 3, func(c *LAMBConfig, numbers []kernels.Arg, lr float64, t int) {
		first, second := biasCorrections(c.Beta1, c.Beta2, t)
		numbers[0], numbers[1], numbers[2] = kernels.FloatArg(1/first), kernels.FloatArg(1/math.Sqrt(second)), kernels.FloatArg(lr)
	}, "m", "v")
	var rows []int32
	var filled []float64
	for i, p := range o.flat.Params {
		for left := p.Len(); left > 0; left -= flatparams.Align {
			rows, filled = append(rows, int32(i)), append(filled, float64(min(left, flatparams.Align)))
		}
	}
	d := o.flat.Values.Device()
	o.rows = tensor.New(d, rows).Retain()
	o.filled = tensor.NewOf(d, o.moments["m"].Type(), filled, len(filled), 1).Retain()
	o.update = func(g, from, to int) {
		tensor.Scope(d, func() { o.launch(g, from, to) })
	}
	return o
}

// launch updates elements of group g.
func (o *LAMB) launch(g, from, to int) {
	c := &o.cfgs[g]
	first, last := from/flatparams.Align, to/flatparams.Align
	run := func(flat *tensor.Tensor) *tensor.Tensor {
		return flat.Slice(0, from, to).Reshape(last-first, flatparams.Align)
	}
	p, m, v, rows := run(o.values), run(o.moments["m"]), run(o.moments["v"]), o.rows.Slice(0, first, last)
	u := tensor.EmptyLike(p)
	tensor.MapInto(lambRule, []kernels.Arg{o.numbers.Arg(3 * g), o.numbers.Arg(3*g + 1), kernels.FloatArg(c.WeightDecay), kernels.FloatArg(c.Eps),
		kernels.FloatArg(c.Beta1), kernels.FloatArg(1 - c.Beta1), kernels.FloatArg(c.Beta2), kernels.FloatArg(1 - c.Beta2)},
		[]*tensor.Tensor{m, v, u}, p, run(o.grads), m, v, o.filled.Slice(0, first, last))
	norms := tensor.EmptyOf(p.Device(), p.Type(), last-first, 2)
	column := func(of *tensor.Tensor, i int) *tensor.Tensor { return of.Slice(1, i, i+1) }
	tensor.MapInto(lambSquares, nil, []*tensor.Tensor{column(norms, 0), column(norms, 1)}, p.Norm(2, 1, tensor.Keepdims), u.Norm(2, 1, tensor.Keepdims))
	sums := tensor.ZerosOf(p.Device(), p.Type(), len(o.flat.Params), 2)
	sums.ScatterAddRowsInPlace(rows, norms)
	norms = sums.GatherRows(rows)
	tensor.MapInto(lambStep, []kernels.Arg{o.numbers.Arg(3*g + 2)}, []*tensor.Tensor{p}, p, u, column(norms, 0), column(norms, 1))
}

// Free releases the moments, the gradients and the flat buffer. The parameters keep their values
// and may join another optimizer.
func (o *LAMB) Free() {
	o.base.Free()
	o.rows.Free()
	o.filled.Free()
}

func (c LAMBConfig) check() (Schedule, []Group[LAMBConfig]) {
	mustSchedule(c.LR)
	checkRange("WeightDecay", c.WeightDecay, 0, math.Inf(1))
	checkAdam(c.Beta1, c.Beta2, c.Eps, "LAMBDefaults")
	return c.LR, c.Groups
}
