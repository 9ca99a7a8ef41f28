package autograd

import "github.com/clgrad/clgrad/tensor"

// Index returns the elements of x at indices along several axes, as [tensor.Tensor.Index] does, as
// which it panics. The indices must outlive Backward, unchanged. Gradient: g, added to the elements
// that it came from in the order of the indices.
func (x *Node) Index(indices ...*tensor.Tensor) *Node {
	shape := x.use("Index").Shape()
	return NewOp("Index", x.value.Index(indices...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, zeros(g, shape).IndexPut(indices, g, tensor.IndexPutOptions{Accumulate: true}))
	}, presentIndices(indices)...)
}

// presentIndices returns the indices that are there.
func presentIndices(indices []*tensor.Tensor) (list []*tensor.Tensor) {
	for _, i := range indices {
		if i != nil {
			list = append(list, i)
		}
	}
	return list
}

// IndexPut returns x with values at the elements that [Node.Index] returns, or, if it says so, with
// values added to them, as [tensor.Tensor.IndexPut] does, as which it panics. The indices must
// outlive Backward, unchanged. Gradients: g, 0 at those elements unless they were added to; of
// values, g at the elements that they went to, summed over what they were repeated for, 0 for one
// that a later one took the place of.
func (x *Node) IndexPut(indices []*tensor.Tensor, values *Node, opts ...tensor.IndexPutOptions) *Node {
	const op = "IndexPut"
	y := x.use(op).IndexPut(indices, values.use(op), opts...)
	add := len(opts) > 0 && opts[0].Accumulate
	return NewOp(op, y, []*Node{x, values}, func(g *Node, in *Grads) {
		switch {
		case !in.NeedsGrad(0):
		case add:
			in.AccumulateNode(0, g)
		default:
			in.AccumulateNode(0, g.IndexPut(indices, Const(tensor.Scalar(g.Device(), 0))))
		}
		if !in.NeedsGrad(1) {
			return
		}
		part := g.Index(indices...)
		if !add {
			last := lastOf(part.Shape(), func(numbers *tensor.Tensor) *tensor.Tensor {
				return tensor.ZerosOf(g.Device(), tensor.Int32, g.Shape()...).IndexPut(indices, numbers).Index(indices...)
			}, g.Device())
			part = part.Mul(last)
		}
		in.AccumulateNode(1, part)
	}, presentIndices(indices)...)
}
