// Package flatparams lays parameters out in one tensor, and their gradients in another of the same
// layout, so that an update rule is one launch whatever the number of parameters. The optimizers of
// package optim are its users.
package flatparams

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/internal/hooks"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// nodeAPI is what package autograd offers this package, on its type api.
type nodeAPI interface {
	// Attach says that p lies in buffer, and gathers its gradient in grad. It moves the gradient
	// that p has there.
	Attach(p *autograd.Node, buffer any, grad *tensor.Tensor)
	// Detach ends what Attach said, and frees the gradient.
	Detach(p *autograd.Node)
	// Attached returns the buffer that p lies in, nil if it lies in none.
	Attached(p *autograd.Node) (buffer any)
}

var nodes = hooks.Autograd.(nodeAPI)

// Align is the alignment of a parameter, in elements.
const Align = gradsums.ParameterAlign

// Buffer is parameters and their gradients in one layout.
type Buffer struct {
	Params []*autograd.Node // in the order of New
	Values *tensor.Tensor   // of one axis; a parameter's value is a view of it
	Grads  *tensor.Tensor   // in the layout of Values; undefined for a parameter without a gradient

	starts []int // of each parameter, in elements
}

// New moves parameters into a buffer. The tensors they were made of move with them and stay their
// values. It panics with tensor.ErrValue if there is none, if a node is nil, is no parameter, is
// listed twice or already lies in a buffer, or if its tensor does; with tensor.ErrDevice or
// tensor.ErrType for parameters of several devices or types, and with tensor.ErrFreed for one whose
// tensor was freed. Then nothing has changed.
func New(params []*autograd.Node) *Buffer {
	misuse := func(kind error, detail string, args ...any) {
		panic(&tensor.Error{Pkg: "flatparams", Op: "New", Kind: kind, Detail: fmt.Sprintf(detail, args...)})
	}
	if len(params) == 0 {
		misuse(tensor.ErrValue, "no parameters: nn.Params(model) lists those of a model")
	}
	b := &Buffer{Params: slices.Clone(params), starts: make([]int, len(params))}
	total := 0
	for i, p := range params {
		value := p.Value()
		name := cmp.Or(p.Name(), p.Op(), "const")
		switch {
		case !p.IsParam():
			misuse(tensor.ErrValue, "node %q is no parameter: make it with autograd.Param", name)
		case nodes.Attached(p) != nil:
			misuse(tensor.ErrValue, "parameter %q already has an optimizer: Free that one first, or leave the parameter out", name)
		case slices.Contains(params[:i], p):
			misuse(tensor.ErrValue, "parameter %q is listed twice", name)
		case tensorapi.Impl.InFlatBuffer(value) || slices.ContainsFunc(params[:i], func(q *autograd.Node) bool { return q.Value() == value }):
			misuse(tensor.ErrValue, "parameter %q is made of the tensor of another: make one parameter of it, and use that", name)
		case value.Freed():
			misuse(tensor.ErrFreed, "%s", tensorapi.Impl.WhoFreed(value, fmt.Sprintf("the value of parameter %q", name)))
		case value.Type() != params[0].Value().Type():
			misuse(tensor.ErrType, "parameter %q is of type %v, others are of %v: give each type an optimizer", name, value.Type(), params[0].Value().Type())
		case value.Device() != params[0].Device():
			misuse(tensor.ErrDevice, "parameter %q and others are on %s: give each device an optimizer", name, tensorapi.Impl.BothNames(value.Device(), params[0].Device()))
		}
		b.starts[i] = total
		total += intmath.RoundUp(value.Len(), Align)
	}
	d, typ := params[0].Device(), params[0].Value().Type()
	b.Values, b.Grads = tensor.ZerosOf(d, typ, total).Retain(), tensor.ZerosOf(d, typ, total).Retain()
	for i, p := range params {
		nodes.Attach(p, b, b.Place(b.Grads, i))
		place := b.Place(b.Values, i)
		tensorapi.Impl.Rehome(p.Value(), place)
		place.Free()
	}
	return b
}

// Of returns the buffer that has these parameters and no other, or nil.
func Of(params []*autograd.Node) *Buffer {
	if len(params) == 0 {
		return nil
	}
	b, _ := nodes.Attached(params[0]).(*Buffer)
	if b == nil || len(b.Params) != len(params) {
		return nil
	}
	for _, p := range params {
		if nodes.Attached(p) != any(b) {
			return nil
		}
	}
	return b
}

// Place returns the view of parameter i in flat, a tensor of the buffer's layout, in the
// parameter's shape.
func (b *Buffer) Place(flat *tensor.Tensor, i int) *tensor.Tensor {
	value := b.Params[i].Value()
	run := flat.Slice(0, b.starts[i], b.starts[i]+value.Len())
	view := run.Reshape(value.Shape()...).Retain()
	run.Free()
	return view
}

// Start returns where parameter i begins in Values; of the number of parameters, where the last one
// ends.
func (b *Buffer) Start(i int) int {
	if i == len(b.starts) {
		return b.Values.Len()
	}
	return b.starts[i]
}

// Runs calls f with each longest range of elements whose parameters all have a gradient: one call
// when all have. A parameter without a gradient is not to be updated.
func (b *Buffer) Runs(f func(from, to int)) {
	start := -1
	for i, p := range b.Params {
		switch has := p.Grad() != nil; {
		case has && start < 0:
			start = b.starts[i]
		case !has && start >= 0:
			f(start, b.starts[i])
			start = -1
		}
	}
	if start >= 0 {
		f(start, b.Values.Len())
	}
}

// Used returns how many elements of a range from [Buffer.Runs] an element-wise update has to
// compute: of one parameter alone its own, and not the padding behind them.
func (b *Buffer) Used(from, to int) int {
	if i, found := slices.BinarySearch(b.starts, from); found && b.Start(i+1) == to {
		return b.Params[i].Value().Len()
	}
	return to - from
}

// ZeroGrad forgets the gradients of all parameters.
func (b *Buffer) ZeroGrad() {
	if b.Values.Freed() { // they may lie in another buffer by now
		return
	}
	for _, p := range b.Params {
		p.ZeroGrad()
	}
	tensorapi.Impl.Forget(b.Grads)
}

// Free releases the gradients and the buffer's hold on the values; the parameters keep their values
// and may join another buffer. A second call does nothing.
func (b *Buffer) Free() {
	if b.Values.Freed() {
		return
	}
	for _, p := range b.Params {
		nodes.Detach(p)
		tensorapi.Impl.LeaveFlatBuffer(p.Value())
	}
	b.Values.Free()
	b.Grads.Free()
}
