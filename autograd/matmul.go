package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) matMul(w *Node) *Node {
	const op = "MatMul"
	xv, wv := x.use(op), w.use(op)
	if xv.Rank() == 1 && wv.Rank() == 1 {
		defer tensorapi.Rename("autograd", op)
		return x.Dot(w)
	}
	return x.ofMatMul(w, xv.MatMul(wv))
}

// ofMatMul is the node of y, the product of x and w.
func (x *Node) ofMatMul(w *Node, y *tensor.Tensor) *Node {
	xv, wv := x.value, w.value
	return NewOp("MatMul", y, []*Node{x, w}, func(g *Node, in *Grads) {
		if xv.Rank() == 2 && wv.Rank() == 2 {
			in.product(g, x, w)
			return
		}
		in.batch(g, x, w)
	}, xv, wv)
}

func (x *Node) dot(w *Node) *Node {
	const op = "Dot"
	xv, wv := x.use(op), w.use(op)
	return NewOp(op, xv.Dot(wv), []*Node{x, w}, func(g *Node, in *Grads) {
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, w.Mul(g))
		}
		if in.NeedsGrad(1) {
			in.AccumulateNode(1, x.Mul(g))
		}
	}, xv, wv)
}

// batch delivers the gradients of a batch of products x·w, the node's inputs, for the gradient g of
// the batch.
func (in *Grads) batch(g, x, w *Node) {
	if x.Rank() == 1 {
		x, g = x.Reshape(1, x.Len()), g.Reshape(slices.Insert(slices.Clone(g.Shape()), g.Rank()-1, 1)...)
	}
	if w.Rank() == 1 {
		w, g = w.Reshape(w.Len(), 1), g.Reshape(append(slices.Clone(g.Shape()), 1)...)
	}
	if in.NeedsGrad(0) {
		left, right := g, swapped(w)
		if over := repeats(x, g); len(over) > 0 {
			left, right = joined(swapped(g), right, over)
		}
		in.batchProduct(0, left, right)
	}
	if in.NeedsGrad(1) {
		left, right := swapped(x), g
		if over := repeats(w, g); len(over) > 0 {
			left, right = joined(x, g, over)
		}
		in.batchProduct(1, left, right)
	}
}

// batchProduct delivers a·b, in place where that is possible.
func (in *Grads) batchProduct(i int, a, b *Node) {
	shape := in.node.inputs[i].Shape()
	if n := len(shape); in.CreateGraph() || n < 2 || a.Rank() != n || b.Rank() != n || a.Shape()[n-2] != shape[n-2] || b.Shape()[n-1] != shape[n-1] {
		in.AccumulateNode(i, a.MatMul(b).Reshape(shape...))
		return
	}
	in.matMul(i, a.value, b.value)
}

// repeats returns the leading axes of g along which x, an operand of the product whose gradient g
// is, was repeated.
func repeats(x, g *Node) (axes []int) {
	lead := g.Rank() - x.Rank()
	for axis, n := range g.Shape()[:g.Rank()-2] {
		if n != 1 && (axis < lead || x.Shape()[axis-lead] == 1) {
			axes = append(axes, axis)
		}
	}
	return axes
}

// joined returns the operands of the product Σ aᵀ·b over the given axes, which are part of its sum
// then.
func joined(a, b *Node, over []int) (left, right *Node) {
	rank := max(a.Rank(), b.Rank())
	var order []int
	for axis := range rank - 2 {
		if !slices.Contains(over, axis) {
			order = append(order, axis)
		}
	}
	kept := len(order)
	order = append(append(order, over...), rank-2, rank-1)
	join := func(x *Node) *Node {
		for x.Rank() < rank {
			x = x.Expand(append([]int{1}, x.Shape()...)...)
		}
		x = x.Transpose(order...)
		rows := intmath.Product(x.Shape()[kept : rank-1])
		return x.Reshape(append(slices.Clone(x.Shape()[:kept]), rows, x.Shape()[rank-1])...)
	}
	return swapped(join(a)), join(b)
}

// swapped is x with its last two axes in the other order.
func swapped(x *Node) *Node { return x.MoveDim(-1, -2) }
