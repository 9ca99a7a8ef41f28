package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

type hook struct{ f func(g *Node) *Node }

func (n *Node) hooked() bool { return n.extra != nil && len(n.extra.hooks) > 0 }

func (n *Node) hooks() []*hook {
	if n.extra == nil {
		return nil
	}
	return n.extra.hooks
}

// Hook makes every Backward and [Grad] that computes the gradient of n call f with it: once, with
// the sum over all uses of n, before it reaches the inputs of n or is added to the Grad of a
// parameter. f returns what takes its place, of its shape, or nil to leave it. Several hooks of one
// node run in the order in which they came, each with what those before it returned; what the last
// returns, [Grad] returns. remove takes this one away.
//
// f must not change g. It may use g in operations on Nodes, which a walk with CreateGraph records;
// without, g and what f computes are freed once they have been used: f keeps g.Copy().Retain(). It
// may not walk the graph that it is called from.
//
// It panics with tensor.ErrValue if f is nil, or if n needs no gradient other than by NoGrad, where
// Hook does nothing; with ErrGraphFreed if Backward has passed n. Backward panics with
// tensor.ErrShape, tensor.ErrType, tensor.ErrDevice or tensor.ErrFreed if f returns what cannot be
// the gradient of n.
func (n *Node) Hook(f func(g *Node) *Node) (remove func()) {
	n.must("Hook")
	n.recorded() // with the hooks that it had
	n.foundFrozen()
	misuse := func(kind error, detail string) {
		panic(&tensor.Error{Pkg: "autograd", Op: "Hook", Kind: kind, Shapes: [][]int{n.Shape()}, Detail: detail})
	}
	switch {
	case f == nil:
		misuse(tensor.ErrValue, "the function is nil")
	case n.freed:
		misuse(ErrGraphFreed, fmt.Sprintf("Backward has passed %q: add hooks before", n.label()))
	case !n.needs && noGrad(n.value.Device(), "Hook"):
		return func() {}
	case !n.needs:
		misuse(tensor.ErrValue, fmt.Sprintf("%q needs no gradient, so that f is never called: it is frozen, was computed from constants, or detached", n.label()))
	}
	r, h := n.ext(), &hook{f}
	r.hooks = append(r.hooks, h)
	return func() {
		n.recorded()
		r.hooks = slices.DeleteFunc(slices.Clone(r.hooks), func(other *hook) bool { return other == h })
	}
}

// hook shows the hooks of n its gradient, and returns what it is then. It takes g over.
func (w *walk) hook(n *Node, g gradient) gradient {
	came := w.lookAt(g.t)
	for _, h := range n.extra.hooks {
		seen := &Node{value: g.t}
		if r := h.f(seen); r != nil && r != seen {
			v := n.replacement(r).View()
			g.t.Free()
			g = gradient{v, false}
		}
		w.sweep()
	}
	w.afterHooks(n, came, g.t)
	return g
}

// hookNode is hook for gradients that are Nodes.
func (w *walk) hookNode(n, g *Node) *Node {
	if !n.hooked() {
		return g
	}
	came := w.lookAt(g.value)
	for _, h := range n.extra.hooks {
		if r := h.f(g); r != nil {
			n.replacement(r)
			g = r
		}
	}
	w.afterHooks(n, came, g.value)
	return g
}

// lookAt is look, under DetectAnomalies.
func (w *walk) lookAt(t *tensor.Tensor) (s state) {
	if w.watch != nil {
		s = look(t)
	}
	return s
}

// afterHooks is what after is of a backward function: came is what was not finite before.
func (w *walk) afterHooks(n *Node, came state, g *tensor.Tensor) {
	if n.value.Device().Err() != nil {
		attribute(n)
	}
	if w.watch != nil && w.err == nil {
		w.err = w.watch.hooked(n, came, g)
	}
}

// replacement returns the value of what a hook of n returned. It panics unless that can be the
// gradient of n.
func (n *Node) replacement(r *Node) *tensor.Tensor {
	misuse := func(kind error, detail string) {
		panic(&tensor.Error{Pkg: "autograd", Op: "hook of " + n.label(), Kind: kind, Shapes: [][]int{n.Shape(), r.Shape()}, Detail: detail})
	}
	const say = "it returns a gradient "
	switch v := r.value; {
	case v.Freed():
		misuse(tensor.ErrFreed, say+"that was freed")
	case v.Device() != n.value.Device():
		misuse(tensor.ErrDevice, fmt.Sprintf(say+"on %s, the node is on %s", v.Device().Name(), n.value.Device().Name()))
	case v.Type() != n.gradType():
		misuse(tensor.ErrType, fmt.Sprintf(say+"of type %v, the node is of %v: convert it with To", v.Type(), n.gradType()))
	case !slices.Equal(v.Shape(), n.Shape()):
		misuse(tensor.ErrShape, say+"of another shape than the node")
	}
	return r.value
}
