package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fusion"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Arena lays parameters out in one tensor, and their gradients in another of the same layout, so that
// an update rule is one launch whatever the number of parameters. It is no part of what this package promises: the
// optimizers of package optim make one themselves.
type Arena struct {
	Params []*Node        // in the order of NewArena
	Values *tensor.Tensor // of one axis; a parameter's value is a view of it

	grads  *tensor.Tensor
	starts []int // of each parameter, in elements
}

// ArenaAlign is the alignment of a parameter in elements. It goes with Arena.
const ArenaAlign = fusion.ParameterAlign

// NewArena moves parameters into an arena. The tensors they were made of move with them and stay their values. It
// panics with tensor.ErrValue if there is none, if a node is no parameter, is listed twice, already lives in an
// arena, or if its tensor does, and with tensor.ErrDevice for parameters of several devices, tensor.ErrFreed for one
// whose tensor was freed. Then nothing has changed.
func NewArena(params []*Node) *Arena {
	misuse := func(detail string) {
		panic(&tensor.Error{Pkg: "autograd", Op: "NewArena", Kind: tensor.ErrValue, Detail: detail})
	}
	if len(params) == 0 {
		misuse("no parameters")
	}
	a := &Arena{Params: slices.Clone(params), starts: make([]int, len(params))}
	total := 0
	for i, p := range params {
		p.must("NewArena")
		switch {
		case !p.param:
			misuse(fmt.Sprintf("node %q is no parameter", p.label()))
		case p.gradBuffer != nil:
			misuse(fmt.Sprintf("parameter %q already has an optimizer", p.label()))
		case slices.Contains(params[:i], p):
			misuse(fmt.Sprintf("parameter %q is listed twice", p.label()))
		case tensorapi.Impl.InFlatBuffer(p.value) || slices.ContainsFunc(params[:i], func(q *Node) bool { return q.value == p.value }):
			misuse(fmt.Sprintf("parameter %q is made of the tensor of another: make one parameter of it, and use that", p.label()))
		}
		if p.value.Freed() {
			panic(&tensor.Error{Pkg: "autograd", Op: "NewArena", Kind: tensor.ErrFreed, Detail: fmt.Sprintf("the value of parameter %q", p.label())})
		}
		if d := p.value.Device(); d != params[0].value.Device() {
			panic(&tensor.Error{Pkg: "autograd", Op: "NewArena", Kind: tensor.ErrDevice,
				Detail: fmt.Sprintf("parameter %q is on %s, others are on %s", p.label(), d.Name(), params[0].value.Device().Name())})
		}
		a.starts[i] = total
		total += (p.value.Len() + ArenaAlign - 1) / ArenaAlign * ArenaAlign
	}
	d := params[0].value.Device()
	a.Values, a.grads = tensor.Zeros(d, total).Retain(), tensor.Zeros(d, total).Retain()
	for i, p := range params {
		place, had := a.Place(a.Values, i, p.value.Shape()), p.grad
		p.arena, p.gradBuffer = a, a.Place(a.grads, i, p.value.Shape())
		tensorapi.Impl.Rehome(p.value, place)
		place.Free()
		if had != nil {
			p.gradBuffer.SetInPlace(had)
			p.grad = p.gradBuffer
			had.Free()
		}
	}
	return a
}

// ArenaOf returns the arena that has these parameters and no other, or nil. It is no part of what this package promises.
func ArenaOf(params []*Node) *Arena {
	if len(params) == 0 || params[0].arena == nil || len(params[0].arena.Params) != len(params) {
		return nil
	}
	for _, p := range params {
		if p.arena != params[0].arena {
			return nil
		}
	}
	return params[0].arena
}

// Place returns the view of parameter i in flat, a tensor of the arena's layout.
func (a *Arena) Place(flat *tensor.Tensor, i int, shape []int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	run := flat.Slice(0, a.starts[i], a.starts[i]+n)
	view := run.Reshape(shape...).Retain()
	run.Free()
	return view
}

// Start returns where parameter i begins in Values; of the number of parameters, where the last one ends.
func (a *Arena) Start(i int) int {
	if i == len(a.starts) {
		return a.Values.Len()
	}
	return a.starts[i]
}

// Runs calls f with each longest range of elements whose parameters all have a gradient: one call when
// all have. A parameter without a gradient is not to be updated.
func (a *Arena) Runs(f func(from, to int)) {
	start := -1
	for i, p := range a.Params {
		p.foundGrad()
		if p.grad != nil && start < 0 {
			start = a.starts[i]
		}
		if p.grad == nil && start >= 0 {
			f(start, a.starts[i])
			start = -1
		}
	}
	if start >= 0 {
		f(start, a.Values.Len())
	}
}

// Used returns how many elements of a range from [Arena.Runs] an update element by element has to do: of one parameter alone its own,
// and not what lies behind them, which nothing computes a gradient of.
func (a *Arena) Used(from, to int) int {
	if i, found := slices.BinarySearch(a.starts, from); found && a.Start(i+1) == to {
		return a.Params[i].value.Len()
	}
	return to - from
}

// Grads returns the gradients in the layout of Values; those of parameters without one are undefined.
func (a *Arena) Grads() *tensor.Tensor { return a.grads }

// ZeroGrad forgets the gradients of all parameters.
func (a *Arena) ZeroGrad() {
	if a.Values.Freed() { // they may have another arena by now
		return
	}
	for _, p := range a.Params {
		p.ZeroGrad()
	}
	tensorapi.Impl.Forget(a.grads)
}

// Free releases the gradients and the arena's hold on the values; the parameters keep their values and
// may join another arena. A second call does nothing.
func (a *Arena) Free() {
	if a.Values.Freed() {
		return
	}
	for _, p := range a.Params {
		p.ownGrad()
		p.grad = nil
		p.gradBuffer.Free()
		p.gradBuffer, p.arena = nil, nil
		tensorapi.Impl.LeaveFlatBuffer(p.value)
	}
	a.Values.Free()
	a.grads.Free()
}
