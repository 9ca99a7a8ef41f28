package autograd

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// cut is a view that reads each element of a tensor at most once: for tensors, and the operation on
// Nodes that takes it.
type cut struct {
	of   func(t *tensor.Tensor) *tensor.Tensor
	node func(n *Node) *Node
}

// gradient returns that of a cut of x: g in that place, 0 elsewhere.
func (c cut) gradient(x *Node) func(g *Node, in *Grads) {
	shape := x.Shape()
	return func(g *Node, in *Grads) {
		if in.CreateGraph() {
			in.AccumulateNode(0, c.place(g, shape))
			return
		}
		in.addPart(0, c, g.value)
	}
}

// addPart delivers g as the gradient of a cut of input i: into what was gathered so far, if that is
// nobody else's, so that many parts of a tensor do not make as many gradients of its size.
func (in *Grads) addPart(i int, c cut, g *tensor.Tensor) {
	n := in.input(i)
	var whole *tensor.Tensor
	if in.walk.canWriteInPlace(n) {
		n.foundGrad()
	}
	switch {
	case !in.walk.wants(n):
		return
	case n.pending.mine && slices.Equal(n.pending.t.Shape(), n.Shape()):
		whole = n.pending.t
	case in.walk.canWriteInPlace(n) && n.grad != nil:
		whole = n.grad
	default:
		in.AccumulateInto(i, func(dst *tensor.Tensor) { c.write(dst, g) })
		return
	}
	place := c.of(whole)
	addInPlace(place, g)
	place.Free()
}

// place returns x in its place among zeros of the given shape: what undoes the cut. Gradient: the
// cut of g.
func (c cut) place(x *Node, shape []int) *Node {
	const op = "Place"
	y := tensor.EmptyOf(x.use(op).Device(), x.value.Type(), shape...)
	c.write(y, x.value)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, c.node(g)) })
}

func (c cut) write(dst, x *tensor.Tensor) {
	dst.ZeroInPlace()
	place := c.of(dst)
	place.SetInPlace(x)
	place.Free()
}

func (x *Node) slice(axis, from, to int) *Node {
	const op = "Slice"
	c := cut{func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(axis, from, to) }, func(n *Node) *Node { return n.Slice(axis, from, to) }}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient(x))
}

func (x *Node) step(axis, step int) *Node {
	const op = "Step"
	if step < 0 && step > math.MinInt {
		defer tensorapi.Rename("autograd", op)
		return x.Flip(axis).Step(axis, -step)
	}
	c := cut{func(t *tensor.Tensor) *tensor.Tensor { return t.Step(axis, step) }, func(n *Node) *Node { return n.Step(axis, step) }}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient(x))
}

func (x *Node) selectIndex(axis, index int) *Node {
	const op = "Select"
	c := cut{func(t *tensor.Tensor) *tensor.Tensor { return t.Select(axis, index) }, func(n *Node) *Node { return n.Select(axis, index) }}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient(x))
}

func (x *Node) gatherRows(index *tensor.Tensor) *Node {
	shape := x.use("GatherRows").Shape()
	return NewOp("GatherRows", x.value.GatherRows(index), []*Node{x}, func(g *Node, in *Grads) {
		in.accumulateNew(0, g.scatterRows(index, shape))
	}, index)
}

// scatterRows returns a matrix of the given shape with the rows of x added to those that index
// names: what undoes GatherRows. Gradient: the rows of g that index names.
func (x *Node) scatterRows(index *tensor.Tensor, shape []int) *Node {
	const op = "ScatterAddRows"
	return NewOp(op, scatterRows(x.use(op), index, shape), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.GatherRows(index))
	}, index)
}

func scatterRows(x, index *tensor.Tensor, shape []int) *tensor.Tensor {
	sum := tensor.ZerosOf(x.Device(), x.Type(), shape...)
	sum.ScatterAddRowsInPlace(index, x)
	return sum
}
