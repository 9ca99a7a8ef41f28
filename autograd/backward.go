package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// BackwardOptions is what may be said to [Node.Backward]. The zero value is what it does when
// nothing is said.
type BackwardOptions struct {
	// Seed is the gradient of the root, of its shape. Without it the root must have one element,
	// whose gradient is 1.
	Seed *tensor.Tensor
	// Retain keeps the graph and its values, for another Backward through it.
	Retain bool
	// CreateGraph records how the gradients are computed: [Node.GradNode] of a parameter can be
	// differentiated again. It does so under NoGrad too, and keeps the graph and its values, which
	// those gradients are part of.
	CreateGraph bool
}

// Backward adds ∂n/∂p to the gradient of every parameter p that n depends on, and frees the values
// of the nodes between, but not that of n. The errors are ErrNotOnGraph, ErrGraphFreed, ErrChanged,
// ErrSeed, tensor.ErrShape, tensor.ErrType or tensor.ErrDevice for a seed of another shape, type or
// device, with CreateGraph ErrNotTwiceDifferentiable for an operation whose gradient has none, and
// the device's first failure. It panics with tensor.ErrValue for more than one BackwardOptions, and
// with tensor.ErrGoroutine if another goroutine uses the device: Backward claims it, as [NoGrad]
// does. [Grad] returns gradients and leaves those of parameters alone.
func (n *Node) Backward(opts ...BackwardOptions) error {
	n.must("Backward")
	var o BackwardOptions
	switch {
	case len(opts) > 1:
		panic(&tensor.Error{Pkg: "autograd", Op: "Backward", Kind: tensor.ErrValue, Detail: "pass one BackwardOptions"})
	case len(opts) == 1:
		o = opts[0]
	}
	d := n.value.Device()
	defer tensorapi.Impl.Unclaim(d, claim(d, "Backward"))
	w := newWalk(n)
	w.op, w.options, w.retain, w.record = "Backward from", "autograd.BackwardOptions", o.Retain || o.CreateGraph, o.CreateGraph
	if o.Seed != nil {
		w.seed = Const(o.Seed)
	}
	if err := w.check(); err != nil {
		return err
	}
	err := w.run()
	w.end()
	return err
}
