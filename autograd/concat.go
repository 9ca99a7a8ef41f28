package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

func concat(axis int, xs ...*Node) *Node {
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

func stack(axis int, xs ...*Node) *Node {
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

func (x *Node) splitWithSizes(axis int, sizes ...int) []*Node {
	return x.cutUp(axis, x.use("SplitWithSizes").SplitWithSizes(axis, sizes...))
}

func (x *Node) split(axis, size int) []*Node {
	return x.cutUp(axis, x.use("Split").Split(axis, size))
}

func (x *Node) chunk(axis, n int) []*Node {
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

func (x *Node) unbind(axis int) []*Node {
	views := x.use("Unbind").Unbind(axis)
	nodes := make([]*Node, len(views))
	for i, v := range views {
		v.Free()
		nodes[i] = x.Select(axis, i)
	}
	return nodes
}

func meshgrid(xs ...*Node) []*Node {
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
