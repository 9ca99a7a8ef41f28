package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// Concat returns the nodes one after the other along an axis. It panics with tensor.ErrValue if
// there are no nodes, with tensor.ErrAxis, and with tensor.ErrShape if another dimension than that
// of the axis differs. Gradient: to each its part of g.
func Concat(axis int, xs ...*Node) *Node {
	const op = "Concat"
	y := tensor.Concat(axis, operandsOf(op, xs)...)
	return NewOp(op, y, xs, func(g *Node, in *Grads) {
		at := 0
		for i, x := range xs {
			a := axis
			if a < 0 {
				a += x.Rank()
			}
			n := x.Shape()[a]
			if in.NeedsGrad(i) {
				in.AccumulateNode(i, g.Slice(a, at, at+n))
			}
			at += n
		}
	})
}

// Stack returns nodes of one shape as the parts of a new axis, which gets the given place among the
// axes of the result. It panics with tensor.ErrValue if there are no nodes, with tensor.ErrAxis,
// and with tensor.ErrShape if the shapes differ or there is no room for another axis. Gradient: to
// each its part of g.
func Stack(axis int, xs ...*Node) *Node {
	const op = "Stack"
	y := tensor.Stack(axis, operandsOf(op, xs)...)
	return NewOp(op, y, xs, func(g *Node, in *Grads) {
		for i := range xs {
			if in.NeedsGrad(i) {
				in.AccumulateNode(i, g.Select(axis, i))
			}
		}
	})
}

// operandsOf returns the values of nodes.
func operandsOf(op string, xs []*Node) []*tensor.Tensor {
	values := make([]*tensor.Tensor, len(xs))
	for i, x := range xs {
		values[i] = x.use(op)
	}
	return values
}

// SplitWithSizes returns the parts of an axis that have the given sizes, one after the other. They
// share x's storage. It panics with tensor.ErrAxis, and with tensor.ErrShape unless the sizes are 0
// or more and their sum is the dimension. Gradient: that of each part in its place.
func (x *Node) SplitWithSizes(axis int, sizes ...int) []*Node {
	return x.cutUp(axis, x.use("SplitWithSizes").SplitWithSizes(axis, sizes...))
}

// Split returns the parts of an axis that have a size, one after the other; the last may be
// smaller. They share x's storage. It panics as [tensor.Tensor.Split] does. Gradient: that of each
// part in its place.
func (x *Node) Split(axis, size int) []*Node {
	return x.cutUp(axis, x.use("Split").Split(axis, size))
}

// Chunk returns n parts of an axis, one after the other, that are as large as each other but for
// the last. There are fewer where the dimension is no multiple of what they hold. They share x's
// storage. It panics as [tensor.Tensor.Chunk] does. Gradient: that of each part in its place.
func (x *Node) Chunk(axis, n int) []*Node {
	return x.cutUp(axis, x.use("Chunk").Chunk(axis, n))
}

// cutUp returns nodes of the views that follow each other along an axis of x.
func (x *Node) cutUp(axis int, views []*tensor.Tensor) []*Node {
	nodes := make([]*Node, len(views))
	at := 0
	for i, v := range views {
		a := axis
		if a < 0 {
			a += v.Rank()
		}
		n := v.Shape()[a]
		v.Free()
		nodes[i] = x.Slice(axis, at, at+n)
		at += n
	}
	return nodes
}

// Unbind returns the elements of an axis, one node for each index: what [Stack] puts together. They
// share x's storage. It panics as [tensor.Tensor.Unbind] does. Gradient: that of each in its place.
func (x *Node) Unbind(axis int) []*Node {
	views := x.use("Unbind").Unbind(axis)
	nodes := make([]*Node, len(views))
	for i, v := range views {
		v.Free()
		nodes[i] = x.Select(axis, i)
	}
	return nodes
}

// Meshgrid returns each node, of one axis, repeated along those of the others: result i has the
// elements of node i along axis i, and the shape of all. They share the storage of the nodes. It
// panics as [tensor.Meshgrid] does. Gradient: g, summed over the axes of the others.
func Meshgrid(xs ...*Node) []*Node {
	values := operandsOf("Meshgrid", xs)
	grids := make([]*Node, len(xs))
	for i, y := range tensor.Meshgrid(values...) {
		own := slices.Repeat([]int{1}, len(xs))
		own[i] = -1
		grids[i] = xs[i].Reshape(own...).Expand(y.Shape()...)
		y.Free()
	}
	return grids
}

// addInPlace adds x to dst.
func addInPlace(dst, x *tensor.Tensor) { dst.MapInPlace(fn.Add, nil, x) }
