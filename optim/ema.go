package optim

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// EMA is an exponential moving average of parameters, which often does better on held-back data
// than the parameters themselves:
//
//	average = decay·average + (1−decay)·p
//
// Update follows each Step; Use runs an evaluation with the averages. Source: Polyak and Juditsky,
// "Acceleration of Stochastic Approximation by Averaging", 1992; PyTorch: torch.optim.swa_utils.
type EMA struct {
	params   []*autograd.Node
	names    []string           // of the parameters, in states
	averages []*tensor.Tensor   // of each parameter
	numbers  []kernels.Arg      // decay and 1 − decay
	buffer   *flatparams.Buffer // in which the parameters lay, or nil
	flat     *tensor.Tensor     // the averages in its layout
	inUse    bool
}

// emaRule has the scalars decay and 1−decay, and an average as operand 0.
var emaRule = &kernels.FusedElementwise{Name: "ema",
	Functions: []*kernels.Function{{Name: "ema_0", Scalars: []float64{0.9, 0.1},
		Value: faded(expr.Input(0), expr.Input(1), expr.Param(0), expr.Param(1))}}}

// swapRule exchanges two tensors.
var swapRule = &kernels.FusedElementwise{Name: "swap",
	Functions: []*kernels.Function{{Name: "swap_0", Value: expr.Input(1)}, {Name: "swap_1", Value: expr.Input(0)}}}

// NewEMA returns averages that begin with the values of the parameters. Where these are of one
// optimizer that exists already, an update is one launch, otherwise one for each parameter. It
// panics with tensor.ErrValue if there are no parameters, one is nil or no parameter, or listed
// twice, with tensor.ErrDevice for parameters on several devices, and for a decay that is not in
// [0, 1).
func NewEMA(params []*autograd.Node, decay float64) *EMA {
	const op = "NewEMA"
	mustList(op, params)
	if !(decay >= 0 && decay < 1) {
		badCall(op, fmt.Sprintf("the decay is %v, not in [0, 1)", decay))
	}
	e := &EMA{params: slices.Clone(params), names: namesOf(params), numbers: []kernels.Arg{kernels.FloatArg(decay), kernels.FloatArg(1 - decay)}}
	for _, p := range params {
		if !p.IsParam() {
			badCall(op, fmt.Sprintf("node %q is no parameter", p.Name()))
		}
		if p.Device() != params[0].Device() {
			panic(&tensor.Error{Pkg: "optim", Op: op, Kind: tensor.ErrDevice, Detail: fmt.Sprintf("parameter %q is on %s, others are on %s", p.Name(), p.Device().Name(), params[0].Device().Name())})
		}
	}
	if buffer := flatparams.Of(params); buffer != nil {
		e.buffer, e.flat = buffer, buffer.Values.Copy().Retain()
		for _, p := range params {
			e.averages = append(e.averages, buffer.Place(e.flat, slices.Index(buffer.Params, p)))
		}
		return e
	}
	for _, p := range params {
		e.averages = append(e.averages, p.Value().Copy().Retain())
	}
	return e
}

// each calls f with parameters and their averages: with all at once, where they lie in a flat
// buffer.
func (e *EMA) each(op string, f func(p, average *tensor.Tensor)) error {
	d := e.params[0].Device()
	if err := d.Err(); err != nil {
		return err
	}
	if e.buffer != nil && flatparams.Of(e.params) == e.buffer {
		f(e.buffer.Values, e.flat)
	} else {
		for i, p := range e.params {
			f(p.Value(), e.averages[i])
		}
	}
	tensorapi.Impl.TakeLaunched(d, op) // they belong to no graph
	return d.Err()
}

// mustBeOut panics with tensor.ErrValue within Use, and for a zero value.
func (e *EMA) mustBeOut(op string) {
	if e == nil || len(e.params) == 0 {
		badCall(op, "the averages are a zero value: NewEMA makes them")
	}
	tensorapi.ReadsFlag(&e.inUse, "an EMA", "in use in place of the parameters", "not in use")
	if e.inUse {
		badCall(op, "the averages are in use, in place of the parameters: call it outside of the function that Use got")
	}
}

// Update brings the averages up to the parameters. The error is the device's first failure. It
// panics with tensor.ErrValue within Use.
func (e *EMA) Update() error {
	const op = "Update"
	e.mustBeOut(op)
	return e.each(op, func(p, average *tensor.Tensor) {
		tensor.MapInto(emaRule, e.numbers, []*tensor.Tensor{average}, average, p)
	})
}

// Use calls f while the parameters have the averages for their values, and gives them back their
// own, also if f panics. Graphs must not reach from one side to the other: their Backward would be
// autograd.ErrChanged. The error is the device's first failure. It panics with tensor.ErrValue
// within Use, and with tensor.ErrGoroutine if another goroutine uses the device: Use claims it for
// f, as [autograd.NoGrad] does.
func (e *EMA) Use(f func()) (err error) {
	const op = "Use"
	e.mustBeOut(op)
	d := e.params[0].Device()
	defer tensorapi.Impl.Unclaim(d, tensorapi.Impl.Claim(d, "optim", op))
	swap := func() error {
		return e.each(op, func(p, average *tensor.Tensor) {
			tensor.MapInto(swapRule, nil, []*tensor.Tensor{p, average}, p, average)
		})
	}
	if err := swap(); err != nil {
		return err
	}
	tensorapi.SetsFlags(&e.inUse)
	e.inUse = true
	defer func() {
		e.inUse = false
		err = swap()
	}()
	f()
	return nil
}

// Assign sets the parameters to their averages, for good. The error is the device's first failure.
// It panics with tensor.ErrValue within Use.
func (e *EMA) Assign() error {
	const op = "Assign"
	e.mustBeOut(op)
	return e.each(op, func(p, average *tensor.Tensor) { p.SetInPlace(average) })
}

// State returns what Restore needs to resume as if never stopped: the average of each parameter,
// named average.parameter. The tensors are views of the averages: the next update changes them. It
// panics with tensor.ErrValue within Use.
func (e *EMA) State() State {
	e.mustBeOut("State")
	s := State{Tensors: tensor.Dict{}}
	for i, average := range e.averages {
		s.Tensors["average."+e.names[i]] = average.View()
	}
	return s
}

// Restore copies a state over the averages. It returns an error, with nothing changed, unless the
// state has the tensors of these averages, in their shapes and on their device. It panics with
// tensor.ErrValue within Use.
func (e *EMA) Restore(s State) error {
	e.mustBeOut("Restore")
	own := e.State().Tensors
	defer freeAll(own)
	if err := restore("average", own, s); err != nil {
		return err
	}
	return e.params[0].Device().Err()
}

// Free releases the averages. The parameters keep their values. It panics with tensor.ErrValue
// within Use, where those lie in the memory of the averages.
func (e *EMA) Free() {
	e.mustBeOut("Free")
	for _, average := range e.averages {
		average.Free()
	}
	if e.flat != nil {
		e.flat.Free()
	}
}
