package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) indexSelect(axis int, index *tensor.Tensor) *Node {
	shape := x.use("IndexSelect").Shape()
	return NewOp("IndexSelect", x.value.IndexSelect(axis, index), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, zeros(g, shape).IndexAdd(axis, index, g))
	}, index)
}

// zeros is a constant of a shape, of the type of g.
func zeros(g *Node, shape []int) *Node {
	return constant(tensor.ZerosOf(g.Device(), g.value.Type(), shape...))
}

func (x *Node) indexAdd(axis int, index *tensor.Tensor, src *Node) *Node {
	const op = "IndexAdd"
	return NewOp(op, x.use(op).IndexAdd(axis, index, src.use(op)), []*Node{x, src}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g)
		if in.NeedsGrad(1) {
			in.AccumulateNode(1, g.IndexSelect(axis, index))
		}
	}, index)
}

func (x *Node) indexCopy(axis int, index *tensor.Tensor, src *Node) *Node {
	const op = "IndexCopy"
	return NewOp(op, x.use(op).IndexCopy(axis, index, src.use(op)), []*Node{x, src}, func(g *Node, in *Grads) {
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, g.IndexFill(axis, index, 0))
		}
		if in.NeedsGrad(1) {
			if axis < 0 {
				axis += g.Rank()
			}
			last := lastOf([]int{index.Len()}, func(numbers *tensor.Tensor) *tensor.Tensor {
				return tensor.ZerosOf(g.Device(), tensor.Int32, g.Shape()[axis]).IndexCopy(0, index, numbers).IndexSelect(0, index)
			}, g.value)
			narrow := slices.Repeat([]int{1}, g.Rank()-axis)
			narrow[0] = index.Len()
			in.AccumulateNode(1, g.IndexSelect(axis, index).Mul(last.Reshape(narrow...)))
		}
	}, index)
}

// lastOf returns 1 for each element of a shape that is found where it was put, 0 for one whose
// place another took after it. found puts numbers of that shape to their places, and returns what
// is there. The result is of the type of g.
func lastOf(shape []int, found func(numbers *tensor.Tensor) *tensor.Tensor, g *tensor.Tensor) *Node {
	numbers := tensor.ArangeOf(g.Device(), tensor.Int32, 0, float64(intmath.Product(shape)), 1).Reshape(shape...)
	return constant(tensor.Map(ops.Same, nil, found(numbers), numbers).To(g.Type()))
}

func (x *Node) indexFill(axis int, index *tensor.Tensor, value float64) *Node {
	const op = "IndexFill"
	return NewOp(op, x.use(op).IndexFill(axis, index, value), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.IndexFill(axis, index, 0))
	}, index)
}

func (x *Node) embedding(index *tensor.Tensor, opts ...tensor.EmbeddingOptions) *Node {
	const op = "Embedding"
	shape := x.use(op).Shape()
	y := x.value.Embedding(index, opts...)
	var o tensor.EmbeddingOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Padding < 0 {
		o.Padding += shape[0]
	}
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateIntoNode(0, func(dst *tensor.Tensor) { addRows(dst, index, g.value, o) }, func(sum *tensor.Tensor) *Node {
			return NewOp("EmbeddingSum", sum, []*Node{g}, func(rows *Node, in *Grads) {
				if o.Padded {
					rows = rows.IndexFill(0, tensor.New(rows.Device(), []int32{int32(o.Padding)}), 0)
				}
				in.AccumulateNode(0, rows.Embedding(index, o))
			}, index)
		})
	}, index)
}

// addRows sets dst to the sum of the rows of x, each in the place that index names, without those of Padding.
func addRows(dst, index, x *tensor.Tensor, o tensor.EmbeddingOptions) {
	dst.ZeroInPlace()
	if x.Len() == 0 {
		return
	}
	index = index.Reshape(-1)
	if o.Padded {
		padded := tensor.Map(ops.Without, []float64{float64(o.Padding)}, index.To(tensor.Int32))
		index.Free()
		index = padded
	}
	rows := x.Reshape(index.Len(), dst.Shape()[1])
	tensorapi.Impl.AddRows(dst, index, rows)
	rows.Free()
	index.Free()
}
