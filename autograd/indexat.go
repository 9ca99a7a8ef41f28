package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) index(indices ...*tensor.Tensor) *Node {
	shape := x.use("Index").Shape()
	given := indices
	indices = tensorapi.Impl.Unmasked("Index", x.value, given)
	return NewOp("Index", x.value.Index(indices...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, zeros(g, shape).IndexPut(indices, g, tensor.IndexPutOptions{Accumulate: true}))
	}, presentIndices(indices)...).keeping(newIndices(given, indices)...)
}

// newIndices returns those that were made of masks.
func newIndices(given, indices []*tensor.Tensor) (list []*tensor.Tensor) {
	for _, i := range presentIndices(indices) {
		if !slices.Contains(given, i) {
			list = append(list, i)
		}
	}
	return list
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

func (x *Node) indexPut(indices []*tensor.Tensor, values *Node, opts ...tensor.IndexPutOptions) *Node {
	const op = "IndexPut"
	given := indices
	indices = tensorapi.Impl.Unmasked(op, x.use(op), given)
	y := x.value.IndexPut(indices, values.use(op), opts...)
	add := len(opts) > 0 && opts[0].Accumulate
	return NewOp(op, y, []*Node{x, values}, func(g *Node, in *Grads) {
		switch {
		case !in.NeedsGrad(0):
		case add:
			in.AccumulateNode(0, g)
		default:
			zero := tensor.NewOf(g.Device(), g.value.Type(), []float64{0}, []int{}...)
			in.AccumulateNode(0, g.IndexPut(indices, constant(zero)))
		}
		if !in.NeedsGrad(1) {
			return
		}
		part := g.Index(indices...)
		if !add {
			last := lastOf(part.Shape(), func(numbers *tensor.Tensor) *tensor.Tensor {
				return tensor.ZerosOf(g.Device(), tensor.Int32, g.Shape()...).IndexPut(indices, numbers).Index(indices...)
			}, g.value)
			part = part.Mul(last)
		}
		in.AccumulateNode(1, part)
	}, presentIndices(indices)...).keeping(newIndices(given, indices)...)
}
