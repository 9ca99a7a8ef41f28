package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) maxWithIndex(axes ...int) (values *Node, indices *tensor.Tensor) {
	line, axis := x.joined(tensorapi.Impl.Axes("MaxWithIndex", x.use("MaxWithIndex"), axes...))
	y, index := line.use("MaxWithIndex").MaxWithIndex(axis)
	n := NewOp("MaxWithIndex", y, []*Node{line}, toSelected(line, axis, index), index)
	return n.chosen(x, axes, index)
}

func (x *Node) minWithIndex(axes ...int) (values *Node, indices *tensor.Tensor) {
	line, axis := x.joined(tensorapi.Impl.Axes("MinWithIndex", x.use("MinWithIndex"), axes...))
	y, index := line.use("MinWithIndex").MinWithIndex(axis)
	n := NewOp("MinWithIndex", y, []*Node{line}, toSelected(line, axis, index), index)
	return n.chosen(x, axes, index)
}

// toSelected returns the gradient of what takes one element of each line of x along an axis: g to
// that which index names.
func toSelected(x *Node, axis int, index *tensor.Tensor) func(g *Node, in *Grads) {
	n, one := x.Shape()[axis], keepDims(x.Shape(), []int{axis})
	return func(g *Node, in *Grads) { in.AccumulateNode(0, g.Reshape(one...).placeAlong(index, axis, n, true)) }
}

// chosen returns n, the elements that index names over axes of x, and a view of index, under the
// shape of the reduction. The index itself is the node's: a caller who frees the view leaves the
// gradient what it reads.
func (n *Node) chosen(x *Node, axes []int, index *tensor.Tensor) (*Node, *tensor.Tensor) {
	shape := n.Shape()
	if keeps(axes) {
		shape = keepDims(x.Shape(), tensorapi.Impl.Axes(n.op, x.value, axes...))
	}
	view := index.Reshape(shape...)
	n.keeping(index)
	if slices.Equal(shape, n.Shape()) {
		return n, view
	}
	return n.Reshape(shape...), view
}

// keeps reports whether tensor.Keepdims is among the axes of a reduction.
func keeps(axes []int) bool { return slices.Contains(axes, tensor.Keepdims) }
