package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) sort(axis int, o ...tensor.SortOptions) (values *Node, indices *tensor.Tensor) {
	y, index := x.use("Sort").Sort(axis, o...)
	return NewOp("Sort", y, []*Node{x}, x.toSorted(axis, index), index).ofIndex(index)
}

func (x *Node) topK(k, axis int, o ...tensor.TopKOptions) (values *Node, indices *tensor.Tensor) {
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

func (x *Node) keepTopK(k, axis int) *Node {
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

func (x *Node) median(axes ...int) (values *Node, indices *tensor.Tensor) {
	line, axis := x.joined(tensorapi.Impl.Axes("Median", x.use("Median"), axes...))
	y, index := line.use("Median").Median(axis)
	n := NewOp("Median", y, []*Node{line}, toSelected(line, axis, index), index)
	return n.chosen(x, axes, index)
}
