package autograd

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// gradient is what has been gathered for a node during one Backward.
type gradient struct {
	t *tensor.Tensor
	// mine says that nobody else reads t's elements and that they lie without gaps, so that more may be added
	// to it in place.
	mine bool
}

// passes numbers the calls of Backward.
var passes atomic.Uint64

// BackwardOptions is what may be said to [Node.Backward]. The zero value is what it does when nothing is said.
type BackwardOptions struct {
	// Seed is the gradient of the root, of its shape. Without it the root must have one element, whose gradient
	// is 1.
	Seed *tensor.Tensor
	// Retain keeps the graph and its values, for another Backward through it.
	Retain bool
}

// Backward adds ∂n/∂p to the gradient of every parameter p that n depends on, and frees the values of
// the nodes between, but not that of n. The errors are ErrNotOnGraph, ErrGraphFreed, ErrChanged, ErrSeed,
// tensor.ErrShape or tensor.ErrType for a seed of another shape or type, and the device's first failure. It panics with
// tensor.ErrValue for more than one BackwardOptions.
func (n *Node) Backward(opts ...BackwardOptions) error {
	n.must("Backward")
	var o BackwardOptions
	switch {
	case len(opts) > 1:
		panic(&tensor.Error{Pkg: "autograd", Op: "Backward", Kind: tensor.ErrValue, Detail: "pass one BackwardOptions"})
	case len(opts) == 1:
		o = opts[0]
	}
	order, err := n.check(&o)
	if err != nil {
		return err
	}
	d := n.value.Device()
	for _, node := range order { // of a Backward that panicked on its way
		if g := node.pending.t; g != nil {
			g.Free()
			node.pending = gradient{}
		}
	}
	if o.Seed != nil {
		n.add(gradient{o.Seed.View(), false}) // a parameter may be the root: it gathers the seed
	} else {
		n.add(gradient{plumbing.One(d, n.Shape()...), false})
	}
	for i := len(order) - 1; i >= 0; i-- {
		node := order[i]
		if g := node.pending; g.t != nil && node.backward != nil {
			node.pending = gradient{}
			plumbing.TakeLaunched(d)
			node.backward(g.t, &Grads{node})
			g.t.Free()
			blame(node, plumbing.TakeLaunched(d))
		}
		if !o.Retain {
			node.release(node == n)
		}
	}
	plumbing.TakeLaunched(d) // they belong to no node
	return d.Err()
}

// release frees what the graph holds for an intermediate node. One without inputs is a leaf, or was computed under
// NoGrad and may be part of other graphs.
func (n *Node) release(root bool) {
	if len(n.inputs) == 0 {
		return
	}
	n.freed = true
	n.backward, n.inputs, n.saved = nil, nil, nil
	n.freeScratch()
	if !root && !n.kept {
		n.Free()
	}
}

// check returns the nodes of n's graph, inputs before outputs, if Backward can walk it.
func (n *Node) check(o *BackwardOptions) ([]*Node, error) {
	fail := func(node *Node, kind error, detail string) error {
		return &tensor.Error{Pkg: "autograd", Op: "Backward from " + n.label(), Kind: kind, Shapes: [][]int{node.Shape()}, Detail: detail}
	}
	if err := n.value.Device().Err(); err != nil {
		return nil, err
	}
	switch {
	case n.freed:
		return nil, fail(n, ErrGraphFreed, "pass autograd.BackwardOptions{Retain: true} to the first Backward, or run the forward pass again")
	case !n.needs:
		return nil, fail(n, ErrNotOnGraph, "it was computed from constants, detached, or under NoGrad")
	case o.Seed == nil && n.value.Len() != 1:
		return nil, fail(n, ErrSeed, "pass autograd.BackwardOptions{Seed: g}, or reduce it with Sum or Mean")
	case o.Seed != nil && o.Seed.Type() != tensor.Real:
		return nil, fail(n, tensor.ErrType, fmt.Sprintf("the seed is of type %v: convert it with To(tensor.Real)", o.Seed.Type()))
	case o.Seed != nil && !slices.Equal(o.Seed.Shape(), n.Shape()):
		return nil, fail(n, tensor.ErrShape, fmt.Sprintf("the seed has shape %v", o.Seed.Shape()))
	}
	order := n.sort()
	for _, node := range order {
		if node.freed {
			return nil, fail(node, ErrGraphFreed, fmt.Sprintf("node %q was part of it: pass autograd.BackwardOptions{Retain: true} to the first Backward, or run the forward pass again", node.label()))
		}
		for _, s := range node.saved {
			if s.t.Freed() {
				return nil, fail(node, tensor.ErrFreed, fmt.Sprintf("the gradient of %q needs a value that was freed: free it after Backward", node.op))
			}
			if plumbing.Version(s.t) != s.version {
				return nil, fail(node, ErrChanged, fmt.Sprintf("the gradient of %q needs a value of shape %v at version %d, it is at %d: change a copy, or change it after Backward",
					node.op, s.t.Shape(), s.version, plumbing.Version(s.t)))
			}
		}
	}
	return order, nil
}

// sort returns the nodes that n was computed from, inputs before outputs, n last. It does not recurse: a
// graph may be deeper than the stack.
func (n *Node) sort() []*Node {
	pass := passes.Add(1)
	type visit struct {
		node *Node
		next int // input to look at
	}
	var order []*Node
	n.pass = pass
	stack := []visit{{n, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.node.inputs) {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		in := top.node.inputs[top.next]
		top.next++
		if in.pass != pass {
			in.pass = pass
			stack = append(stack, visit{in, 0})
		}
	}
	return order
}

// Grads is where the backward function of a node delivers the gradients of its inputs, which count from 0 in the
// order in which [Apply] got them. All sums over broadcast axes, and all additions of several contributions,
// happen here.
type Grads struct{ node *Node }

// Need reports whether input i wants a gradient. It panics with tensor.ErrIndex if there is no such input.
func (in *Grads) Need(i int) bool { return in.input(i).needs }

// Give delivers a tensor made for this purpose; it belongs to in from now on. It panics with tensor.ErrIndex if there is
// no input i, tensor.ErrValue if g is nil, tensor.ErrFreed if it was freed, tensor.ErrDevice if it is on another device
// than the input, tensor.ErrType unless it is of reals, and tensor.ErrShape unless the input's shape broadcasts to its.
func (in *Grads) Give(i int, g *tensor.Tensor) {
	n := in.takes(i, g)
	n.add(gradient{g, g.Contiguous()})
}

// Share delivers a tensor, or a view of one, that others read too. It panics as Give does.
func (in *Grads) Share(i int, g *tensor.Tensor) {
	n := in.takes(i, g)
	n.add(gradient{g.View(), false})
}

// input returns input i.
func (in *Grads) input(i int) *Node {
	if i < 0 || i >= len(in.node.inputs) {
		in.misuse(tensor.ErrIndex, nil, "there is no input %d: Apply got %d", i, len(in.node.inputs))
	}
	return in.node.inputs[i]
}

func (in *Grads) misuse(kind error, shapes [][]int, format string, a ...any) {
	panic(&tensor.Error{Pkg: "autograd", Op: in.node.op + " gradient", Kind: kind, Shapes: shapes, Detail: fmt.Sprintf(format, a...)})
}

// takes returns input i, of which g can be the gradient.
func (in *Grads) takes(i int, g *tensor.Tensor) *Node {
	n := in.input(i)
	if g == nil {
		in.misuse(tensor.ErrValue, nil, "that of input %d is nil: give none to an input that does not need one", i)
	}
	shape := g.Shape()
	switch {
	case g.Freed():
		in.misuse(tensor.ErrFreed, [][]int{shape}, "that of input %d was freed: what is given belongs to the graph", i)
	case g.Device() != n.value.Device():
		in.misuse(tensor.ErrDevice, [][]int{shape}, "that of input %d is on %s, the input on %s", i, g.Device().Name(), n.value.Device().Name())
	case g.Type() != tensor.Real:
		in.misuse(tensor.ErrType, [][]int{shape}, "that of input %d is of type %v: convert it with To(tensor.Real)", i, g.Type())
	}
	if slices.Equal(shape, n.Shape()) {
		return n
	}
	if whole, ok := tensor.Broadcast(n.Shape(), shape); !ok || !slices.Equal(whole, shape) {
		in.misuse(tensor.ErrShape, [][]int{n.Shape(), shape}, "that of input %d has a shape to which the input does not broadcast", i)
	}
	return n
}

// matMul delivers a·b, computed straight into place where that is possible.
func (in *Grads) matMul(i int, a, b *tensor.Tensor) {
	n := in.node.inputs[i]
	n.gather()
	switch {
	case n.op == "" && n.home != nil:
		plumbing.MatMulInto(n.home, a, b, n.grad != nil)
		n.grad = n.home
	case n.pending.t != nil && n.pending.mine:
		plumbing.MatMulInto(n.pending.t, a, b, true)
	default:
		n.add(gradient{a.MatMul(b), true})
	}
}

// Fill delivers what write makes of a contiguous tensor of input i's shape, all of which it must write; without a copy
// where that is possible. It panics with tensor.ErrIndex if there is no input i.
func (in *Grads) Fill(i int, write func(dst *tensor.Tensor)) {
	n := in.input(i)
	n.gather()
	if n.op == "" && n.home != nil && n.grad == nil {
		write(n.home)
		n.home.Touch()
		n.grad = n.home
		return
	}
	g := tensor.Empty(n.value.Device(), n.Shape()...)
	write(g)
	in.Give(i, g)
}

// add gathers g for n, summed over the axes along which n was broadcast. It takes g over.
func (n *Node) add(g gradient) {
	if !n.needs {
		g.t.Free()
		return
	}
	if n.op == "" {
		n.addToLeaf(g)
		return
	}
	n.pending = plus(n.pending, n.unbroadcast(g))
}

// unbroadcast sums g to n's shape.
func (n *Node) unbroadcast(g gradient) gradient {
	if slices.Equal(g.t.Shape(), n.Shape()) {
		return g
	}
	sum := gradient{g.t.SumTo(n.Shape()...), true}
	g.t.Free()
	return sum
}

// addToLeaf gathers g in a parameter's Grad, which outlives the pass: in its home, if it has one.
func (n *Node) addToLeaf(g gradient) {
	n.gather()
	if n.home != nil {
		switch {
		case suffix(n.Shape(), g.t.Shape()) && n.value.Len() > 0:
			plumbing.SumRowsInto(n.home, g.t, n.grad != nil) // one launch for bias gradients
		default:
			g = n.unbroadcast(g)
			if n.grad != nil {
				n.home.MapInPlace(kernels.Add, nil, g.t)
			} else {
				n.home.SetInPlace(g.t)
			}
		}
		g.t.Free()
		n.grad = n.home
		return
	}
	g = plus(gradient{n.grad, true}, n.unbroadcast(g))
	if !g.mine {
		c := g.t.Copy()
		g.t.Free()
		g.t = c
	}
	n.grad = g.t.Keep()
}

// suffix reports whether shape is whole without some leading axes.
func suffix(shape, whole []int) bool {
	return len(shape) < len(whole) && slices.Equal(shape, whole[len(whole)-len(shape):])
}

// plus adds two contributions, in place of one that is nobody else's. It takes both over.
func plus(a, b gradient) gradient {
	switch {
	case a.t == nil:
		return b
	case a.mine:
		a.t.MapInPlace(kernels.Add, nil, b.t)
		b.t.Free()
		return a
	case b.mine:
		b.t.MapInPlace(kernels.Add, nil, a.t)
		a.t.Free()
		return b
	}
	sum := a.t.Add(b.t)
	a.t.Free()
	b.t.Free()
	return gradient{sum, true}
}
