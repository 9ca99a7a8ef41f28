package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Grads is where the backward function of a node delivers the gradients of its inputs, which count
// from 0 in the order in which [NewOp] got them. All sums over broadcast axes, and all additions of
// several contributions, happen here.
//
// A gradient is written once: by operations on Nodes, which have gradients themselves, or by kernels. One by kernels
// leaves it to [Grads.Derive] where gradients have gradients:
//
//	if in.Derive(g, func(x []*autograd.Node) *autograd.Node { return x[0].Square().Mul(x[0]) }) { // x³
//		return
//	}
//	in.AccumulateInto(0, func(dst *tensor.Tensor) { … }) // launches
type Grads struct {
	walk *walk
	node *Node
}

// CreateGraph reports whether gradients shall have gradients: what [Grads.AccumulateNode] does not
// deliver is an error then.
func (in *Grads) CreateGraph() bool { return in.walk.record }

// Output returns the node whose gradient came: for gradients in terms of it.
func (in *Grads) Output() *Node { return in.node }

// NeedsGrad reports whether input i wants a gradient. It panics with tensor.ErrIndex if there is no
// such input.
func (in *Grads) NeedsGrad(i int) bool { return in.walk.wants(in.input(i)) }

// AccumulateNode delivers what operations on Nodes made of g, of the inputs, and of [Grads.Output].
// It panics with tensor.ErrValue if g is nil, and otherwise as Accumulate does.
func (in *Grads) AccumulateNode(i int, g *Node) {
	if g == nil {
		in.takes(i, nil)
	}
	n := in.takes(i, g.value)
	if in.walk.record {
		in.walk.addNode(n, g)
	} else {
		in.walk.add(n, gradient{n.typedView(g.value), false})
	}
}

// accumulateNew is AccumulateNode of a node that one operation with a gradient made for this purpose, and
// that nothing else holds: its value is the graph's, and the walk frees the node.
func (in *Grads) accumulateNew(i int, g *Node) {
	if in.walk.record {
		in.AccumulateNode(i, g)
	} else {
		in.Accumulate(i, g.value.View())
	}
}

// Accumulate delivers a tensor made for this purpose; it belongs to in from now on. It panics with
// tensor.ErrIndex if there is no input i, tensor.ErrValue if g is nil, tensor.ErrFreed if it was
// freed, tensor.ErrDevice if it is on another device than the input, tensor.ErrType unless it is of
// floats, and tensor.ErrShape unless the input's shape broadcasts to its. It is converted to the
// input's type.
func (in *Grads) Accumulate(i int, g *tensor.Tensor) {
	n := in.takes(i, g)
	if in.notTwiceDifferentiable(n) {
		g.Free()
		return
	}
	g = n.typed(g)
	in.walk.add(n, gradient{g, g.IsContiguous()})
}

// AccumulateView delivers a tensor, or a view of one, that others read too. It panics as Accumulate does.
func (in *Grads) AccumulateView(i int, g *tensor.Tensor) {
	n := in.takes(i, g)
	if !in.notTwiceDifferentiable(n) {
		in.walk.add(n, gradient{n.typedView(g), false})
	}
}

// notTwiceDifferentiable reports whether a gradient that kernels computed for n is of no use to a
// walk that records. That fails if n wants one.
func (in *Grads) notTwiceDifferentiable(n *Node) bool {
	if in.walk.record && in.walk.wants(n) {
		in.none("it is computed by kernels")
	}
	return in.walk.record
}

// none fails a walk that records: the gradient of the node cannot be differentiated.
func (in *Grads) none(why string) {
	if in.walk.err == nil {
		in.walk.err = in.walk.fail(in.node, ErrNotTwiceDifferentiable, fmt.Sprintf("that of %q: %s. Put operations that have one in its place, "+
			"keep it off the way with Detach, or deliver its gradient with Grads.AccumulateNode", in.node.label(), why))
	}
}

// unchanged reports whether the values that a walk that records is about to read are what they
// were, and fails it otherwise: those that the kernels of an ordinary walk do not read are not in
// Node.saved.
func (in *Grads) unchanged(read ...savedValue) bool {
	for _, s := range read {
		if err := in.walk.stale(in.node, s); err != nil {
			in.walk.err = err
			return false
		}
	}
	return true
}

// input returns input i.
func (in *Grads) input(i int) *Node {
	if i < 0 || i >= len(in.node.inputs) {
		in.misuse(tensor.ErrIndex, nil, "there is no input %d: NewOp got %d", i, len(in.node.inputs))
	}
	return in.node.inputs[i]
}

func (in *Grads) misuse(kind error, shapes [][]int, format string, a ...any) {
	panic(&tensor.Error{Pkg: "autograd", Op: in.node.op + " gradient", Kind: kind, Shapes: shapes, Detail: fmt.Sprintf(format, a...)})
}

// gradType returns the type of the node's gradient: that of its floats.
func (n *Node) gradType() tensor.Type {
	if typ := n.value.Type(); typ.Float() {
		return typ
	}
	return tensorapi.Impl.Floats(n.value)
}

// typed returns a gradient, which it takes over, in the type of that of the node.
func (n *Node) typed(g *tensor.Tensor) *tensor.Tensor {
	if g.Type() == n.gradType() {
		return g
	}
	defer g.Free()
	return n.typedView(g)
}

// typedView returns a gradient in the type of that of the node: a view if it is of it. Of a higher
// type it is summed to the node's shape before it is rounded.
func (n *Node) typedView(g *tensor.Tensor) *tensor.Tensor {
	typ := n.gradType()
	if g.Type() == typ || typ == tensor.Float64 || slices.Equal(g.Shape(), n.Shape()) {
		return g.To(typ)
	}
	sum := g.SumTo(n.Shape()...)
	defer sum.Free()
	return sum.To(typ)
}

// constant is Const of a tensor that a backward function made: it is freed with what that computed.
func constant(t *tensor.Tensor) *Node {
	n := Const(t)
	if m := modeOf(t.Device(), "Const"); m.walk != nil && !m.walk.record {
		m.walk.made = append(m.walk.made, n)
	}
	return n
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
	case !g.Type().Float():
		in.misuse(tensor.ErrType, [][]int{shape}, "that of input %d is of type %v: convert it with To(tensor.Float32)", i, g.Type())
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
	switch {
	case n.gradType().Half():
		in.walk.add(n, gradient{n.typed(a.MatMul(b)), true})
	case n.gradBuffer != nil && in.walk.canWriteInPlace(n):
		n.foundGrad()
		tensorapi.Impl.MatMulInto(n.gradBuffer, a, b, n.grad != nil)
		n.grad = n.gradBuffer
	case n.pending.t != nil && n.pending.mine:
		tensorapi.Impl.MatMulInto(n.pending.t, a, b, true)
	default:
		in.walk.add(n, gradient{n.typed(a.MatMul(b)), true})
	}
}

// accumulateHalves is AccumulateInto of what also writes 16 bits, where the input is of those.
func (in *Grads) accumulateHalves(i int, write func(dst *tensor.Tensor)) {
	n := in.input(i)
	if !n.gradType().Half() {
		in.AccumulateInto(i, write)
	} else if !in.notTwiceDifferentiable(n) {
		g := tensor.EmptyOf(n.value.Device(), n.gradType(), n.Shape()...)
		write(g)
		in.Accumulate(i, g)
	}
}

// accumulateElement delivers an element-wise function of operands in the type of the input's gradient. The
// launch that computes it rounds to 16 bits, once.
func (in *Grads) accumulateElement(i int, f *kernels.Function, operands ...*Node) {
	if in.CreateGraph() || !in.input(i).gradType().Half() {
		in.accumulateNew(i, element(f, nil, operands...))
		return
	}
	in.accumulateHalves(i, func(dst *tensor.Tensor) {
		values := make([]*tensor.Tensor, len(operands))
		for k, x := range operands {
			values[k] = x.use(f.Name)
		}
		tensor.MapInto(f.Alone(), nil, []*tensor.Tensor{dst}, values...)
	})
}

// AccumulateInto delivers what write makes of a contiguous tensor of input i's shape, all of which
// it must write; without a copy where that is possible. It panics with tensor.ErrIndex if there is
// no input i.
func (in *Grads) AccumulateInto(i int, write func(dst *tensor.Tensor)) {
	n := in.input(i)
	if in.notTwiceDifferentiable(n) {
		return
	}
	typ := n.gradType()
	if typ.Half() { // kernels write float32
		typ = tensor.Float32
	} else if n.gradBuffer != nil && in.walk.canWriteInPlace(n) {
		n.foundGrad()
		if n.grad == nil {
			write(n.gradBuffer)
			n.gradBuffer.MarkWritten()
			n.grad = n.gradBuffer
			return
		}
	}
	g := tensor.EmptyOf(n.value.Device(), typ, n.Shape()...)
	write(g)
	in.Accumulate(i, g)
}

// AccumulateIntoNode is AccumulateInto where gradients have none. Elsewhere node makes the node of a tensor that write
// has written, of input i's shape, by [NewOp]: an operation with a gradient of its own.
func (in *Grads) AccumulateIntoNode(i int, write func(dst *tensor.Tensor), node func(y *tensor.Tensor) *Node) {
	n := in.input(i)
	switch {
	case !in.walk.record:
		in.AccumulateInto(i, write)
	case in.walk.wants(n):
		y := tensor.EmptyOf(n.value.Device(), n.gradType().Computed(), n.Shape()...)
		write(y)
		in.AccumulateNode(i, node(y))
	}
}
