package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// takeAlong returns the count elements of each line along an axis that index names. distinct says
// that those of a line differ. Gradient: g, added to the elements that were taken.
func (x *Node) takeAlong(index *tensor.Tensor, axis, count int, distinct bool) *Node {
	const op = "TakeAlong"
	n := x.Shape()[axis]
	return NewOp(op, tensorapi.Impl.TakeAlong(x.use(op), index, axis, count), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.placeAlong(index, axis, n, distinct))
	}, index)
}

// placeAlong returns x with each element where index says along an axis of n elements, added to
// others there, among zeros: what undoes takeAlong. Gradient: the elements of g that index names.
func (x *Node) placeAlong(index *tensor.Tensor, axis, n int, distinct bool) *Node {
	const op = "PlaceAlong"
	count := x.Shape()[axis]
	return NewOp(op, tensorapi.Impl.PlaceAlong(x.use(op), index, axis, n, distinct), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.takeAlong(index, axis, count, distinct))
	}, index)
}

// addRuns returns sums along an axis: y[l] is the sum of the x[k] with index[k] = l. Indices do not
// fall along a line. Gradient: the elements of g that index names.
func (x *Node) addRuns(index *tensor.Tensor, axis int) *Node {
	const op = "AddRuns"
	count := x.Shape()[axis]
	return NewOp(op, tensorapi.Impl.AddRuns(x.use(op), index, axis), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.takeAlong(index, axis, count, false))
	}, index)
}

// keeping makes tensors that only the gradient of n reads the node's: freed with the graph, or now
// if there is no gradient. It returns n.
func (n *Node) keeping(ts ...*tensor.Tensor) *Node {
	if n.scratch = append(n.scratch, ts...); n.backward == nil {
		n.freeScratch()
	}
	return n
}

// joined returns x with sorted axes as one, in row-major order, and that axis.
func (x *Node) joined(axes []int) (*Node, int) {
	shape := x.Shape()
	switch {
	case len(axes) == 0: // of a scalar
		return x.Reshape(1), 0
	case len(axes) == 1:
		return x, axes[0]
	}
	n, rest, first := 1, []int{}, axes[0]
	for a, d := range shape {
		if slices.Contains(axes, a) {
			n *= d
		} else {
			rest = append(rest, a)
		}
	}
	if axes[len(axes)-1]-first+1 > len(axes) {
		x = x.Transpose(append(slices.Clone(rest), axes...)...)
		first = len(rest)
	}
	merged := make([]int, 0, len(shape))
	for _, a := range rest {
		merged = append(merged, shape[a])
	}
	return x.Reshape(slices.Insert(merged, first, n)...), first
}
