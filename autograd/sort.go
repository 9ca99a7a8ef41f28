package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Sort returns x's elements in ascending order along an axis, and their indices: see
// [tensor.Tensor.Sort], as which it panics. Gradient: g, each to the element that came there.
func (x *Node) Sort(axis int, o ...tensor.SortOptions) (values *Node, indices *tensor.Tensor) {
	y, index := x.use("Sort").Sort(axis, o...)
	return NewOp("Sort", y, []*Node{x}, x.toSorted(axis, index), index).ofIndex(index)
}

// ArgSort returns, as Int32, the indices that put x in ascending order along an axis: see
// [tensor.Tensor.ArgSort], as which it panics. It has no gradient.
func (x *Node) ArgSort(axis int, o ...tensor.SortOptions) *tensor.Tensor {
	return x.use("ArgSort").ArgSort(axis, o...)
}

// TopK returns the k greatest elements along an axis, and their indices: see [tensor.Tensor.TopK],
// as which it panics. Gradient: g, each to the element that it is of.
func (x *Node) TopK(k, axis int, o ...tensor.TopKOptions) (values *Node, indices *tensor.Tensor) {
	y, index := x.use("TopK").TopK(k, axis, o...)
	return NewOp("TopK", y, []*Node{x}, x.toSorted(axis, index), index).ofIndex(index)
}

// toSorted returns the gradient of elements of x that were taken along an axis: to those that index
// names, which differ.
func (x *Node) toSorted(axis int, index *tensor.Tensor) func(g *Node, in *Grads) {
	shape := x.Shape()
	return func(g *Node, in *Grads) {
		if len(shape) == 0 {
			in.AccumulateNode(0, g.SumTo())
			return
		}
		a := fromFront(axis, len(shape))
		in.AccumulateNode(0, g.placeAlong(index, a, shape[a], true))
	}
}

// KeepTopK returns x with the k greatest elements along an axis where they are, and 0 in place of
// all others: see [tensor.Tensor.KeepTopK], as which it panics. Gradient: g where elements stayed,
// else 0.
func (x *Node) KeepTopK(k, axis int) *Node {
	defer tensorapi.Rename("autograd", "KeepTopK")
	xv := x.use("KeepTopK")
	if xv.Rank() == 0 {
		return x.Reshape(1).KeepTopK(k, axis).Reshape()
	}
	y, index := xv.TopK(k, axis)
	a := fromFront(axis, xv.Rank())
	n := NewOp("KeepTopK", tensorapi.Impl.PlaceAlong(y, index, a, xv.Shape()[a], true), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.takeAlong(index, a, k, true).placeAlong(index, a, xv.Shape()[a], true))
	}, index)
	y.Free()
	n.keeping(index)
	return n
}

// Median returns the lower median over the given axes, and its index: see [tensor.Tensor.Median],
// as which it panics. Gradient: g to the element that the index names.
func (x *Node) Median(axes ...int) (values *Node, indices *tensor.Tensor) {
	line, axis := x.joined(tensorapi.Impl.Axes("Median", x.use("Median"), axes...))
	y, index := line.use("Median").Median(axis)
	n := NewOp("Median", y, []*Node{line}, toSelected(line, axis, index), index)
	return n.chosen(x, axes, index)
}
