package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// Arena lays parameters out in one tensor, and their gradients in another of the same layout, so that
// an update rule is one launch whatever the number of parameters.
type Arena struct {
	Params []*Node
	Values *tensor.Tensor // of one axis; a parameter's value is a view of it
	Grads  *tensor.Tensor

	starts []int // of each parameter, in elements
}

// arenaAlign is the alignment of a parameter in elements: 512 bytes of float32, the base alignment of
// NVIDIA devices.
const arenaAlign = 128

// NewArena moves parameters into an arena. It panics with tensor.ErrValue if there is none, if a node is
// no parameter, is listed twice, or already lives in an arena.
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
		switch {
		case p.op != "" || !p.needs:
			misuse(fmt.Sprintf("node %q is no parameter", p.label()))
		case p.home != nil:
			misuse(fmt.Sprintf("parameter %q already has an optimizer", p.label()))
		case slices.Contains(params[:i], p):
			misuse(fmt.Sprintf("parameter %q is listed twice", p.label()))
		}
		a.starts[i] = total
		total += (p.value.Len() + arenaAlign - 1) / arenaAlign * arenaAlign
	}
	d := params[0].value.Device()
	a.Values, a.Grads = tensor.Zeros(d, total).Keep(), tensor.Zeros(d, total).Keep()
	for i, p := range params {
		old, had := p.value, p.grad
		p.value, p.home = a.Place(a.Values, i, old.Shape()), a.Place(a.Grads, i, old.Shape())
		p.value.SetInPlace(old)
		if had != nil {
			p.home.SetInPlace(had)
			p.grad = p.home
			had.Free()
		}
		old.Free()
	}
	return a
}

// Place returns the view of parameter i in flat, a tensor of the arena's layout.
func (a *Arena) Place(flat *tensor.Tensor, i int, shape []int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	run := flat.Slice(0, a.starts[i], a.starts[i]+n)
	view := run.Reshape(shape...).Keep()
	run.Free()
	return view
}

// Runs calls f with each longest range of elements whose parameters all have a gradient: one call when
// all have. A parameter without a gradient is not to be updated.
func (a *Arena) Runs(f func(from, to int)) {
	start := -1
	for i, p := range a.Params {
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

// ZeroGrad forgets the gradients of all parameters.
func (a *Arena) ZeroGrad() {
	for _, p := range a.Params {
		p.ZeroGrad()
	}
}

// Free releases the gradients and the arena's hold on the values; the parameters keep their values and
// may join another arena.
func (a *Arena) Free() {
	for _, p := range a.Params {
		p.grad = nil
		p.home.Free()
		p.home = nil
	}
	a.Values.Free()
	a.Grads.Free()
}
