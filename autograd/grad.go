package autograd

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// GradOptions is what may be said to [Grad]. The zero value is what it does when nothing is said.
type GradOptions struct {
	// Seed is the gradient of y, of its shape. Without it y must have one element, whose gradient
	// is 1. With CreateGraph the gradients can be differentiated with respect to it, too.
	Seed *Node
	// Retain keeps the graph and its values, for another walk through it.
	Retain bool
	// CreateGraph records how the gradients are computed, so that they can be differentiated again.
	// It does so under NoGrad too, and keeps the graph and its values, which the gradients are part
	// of. A Backward through them frees what it passes; the rest is the collector's, or that of a
	// tensor.Scope around a step.
	CreateGraph bool
	// AllowUnused makes the gradient of a node that y does not depend on nil; without it, that is
	// ErrUnused.
	AllowUnused bool
}

// Grad returns ∂y/∂x for each node x of xs, parameters or nodes on the way, and leaves the Grad of
// parameters alone. Only what leads to one of xs is differentiated. The gradients are constants, or
// with CreateGraph nodes of a graph that goes on to that of y. The values of the graph are freed as
// [Node.Backward] frees them, but not those of y and xs:
//
//	slope, err := autograd.Grad(y.Sum(), []*autograd.Node{x}, autograd.GradOptions{CreateGraph: true})
//	// slope[0].Square().Sum().Backward() differentiates it again
//
// The errors are those of Backward, ErrNotOnGraph if one of xs is a constant, and ErrUnused. It
// panics with tensor.ErrValue if y or one of xs is nil, xs is empty, or there is more than one
// GradOptions, and with tensor.ErrGoroutine if another goroutine uses the device: Grad claims it,
// as [NoGrad] does.
func Grad(y *Node, xs []*Node, opts ...GradOptions) ([]*Node, error) {
	const op = "Grad"
	y.must(op)
	misuse := func(detail string) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: detail})
	}
	var o GradOptions
	switch {
	case len(opts) > 1:
		misuse("pass one GradOptions")
	case len(xs) == 0:
		misuse("there are no nodes whose gradient to return")
	case len(opts) == 1:
		o = opts[0]
	}
	for i, x := range xs {
		if x == nil {
			misuse(fmt.Sprintf("Node %d of those whose gradient to return is nil", i))
		}
	}
	d := y.value.Device()
	defer tensorapi.Impl.Unclaim(d, claim(d, op))
	w := newWalk(y)
	w.op, w.options, w.seed, w.retain, w.record = "Grad of", "autograd.GradOptions", o.Seed, o.Retain || o.CreateGraph, o.CreateGraph
	w.hasTargets, w.found = true, map[*Node]*Node{}
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := w.setTargets(xs, o.AllowUnused); err != nil {
		w.giveBack()
		return nil, err
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	grads := make([]*Node, len(xs))
	for i, x := range xs {
		grads[i] = w.found[x]
		if grads[i] == nil && !o.AllowUnused {
			return nil, w.unused(x, i)
		}
	}
	w.end()
	return grads, nil
}

// setTargets marks the nodes whose gradient to return, and what leads to them.
func (w *walk) setTargets(xs []*Node, allowUnused bool) error {
	for _, n := range w.order {
		n.isTarget = false
	}
	for i, x := range xs {
		switch {
		case !x.needs:
			return w.fail(x, ErrNotOnGraph, fmt.Sprintf("node %d, %q, is frozen, was computed from constants, detached, or under NoGrad: make what is to have a gradient with Param", i, x.label()))
		case x.pass == w.number:
			x.isTarget = true
		case !allowUnused:
			return w.unused(x, i)
		}
	}
	for _, n := range w.order {
		n.onPath = n.isTarget
		for _, in := range n.inputs {
			n.onPath = n.onPath || in.onPath
		}
	}
	return nil
}

func (w *walk) unused(x *Node, i int) error {
	return w.fail(x, ErrUnused, fmt.Sprintf("node %d, %q: take it out, or pass autograd.GradOptions{AllowUnused: true} to get nil for it", i, x.label()))
}
