package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/tensor"
)

// Gather returns the elements of x that a tensor of Int32 of x's rank names along an axis: y[i, j,
// k] = x[i, index[i, j, k], k] for axis 1, of index's shape. index must outlive Backward,
// unchanged. It panics as [tensor.Tensor.Gather] does. Gradient: g, added to the elements that it
// came from in the order of the axis.
func (x *Node) Gather(axis int, index *tensor.Tensor) *Node {
	shape := x.use("Gather").Shape()
	return NewOp("Gather", x.value.Gather(axis, index), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, zeros(g, shape).ScatterAdd(axis, index, g))
	}, index)
}

// Scatter returns x with elements of src in the places that a tensor of Int32 of x's rank names
// along an axis: y[i, index[i, j, k], k] = src[i, j, k] for axis 1. Of several for one place, the
// last along the axis counts. index must outlive Backward, unchanged. It panics as
// [tensor.Tensor.Scatter] does. Gradients: g, 0 in those places; of src, g in the place of each
// element, 0 for one that is not taken or that a later one took the place of.
func (x *Node) Scatter(axis int, index *tensor.Tensor, src *Node) *Node {
	const op = "Scatter"
	shape := src.use(op).Shape()
	return NewOp(op, x.use(op).Scatter(axis, index, src.value), []*Node{x, src}, func(g *Node, in *Grads) {
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, g.cleared(axis, index))
		}
		if in.NeedsGrad(1) {
			last := lastOf(index.Shape(), func(numbers *tensor.Tensor) *tensor.Tensor {
				return tensor.ZerosOf(g.Device(), tensor.Int32, g.Shape()...).Scatter(axis, index, numbers).Gather(axis, index)
			}, g.Device())
			in.AccumulateNode(1, g.Gather(axis, index).Mul(last).grown(shape))
		}
	}, index)
}

// cleared returns x with 0 in the places that index names.
func (x *Node) cleared(axis int, index *tensor.Tensor) *Node {
	zero := tensor.Zeros(x.Device(), slices.Repeat([]int{1}, index.Rank())...)
	return x.Scatter(axis, index, Const(zero.Expand(index.Shape()...)))
}

// grown returns x with zeros behind it along each axis, of the given shape.
func (x *Node) grown(shape []int) *Node {
	if slices.Equal(shape, x.Shape()) {
		return x
	}
	widths := make([][2]int, len(shape))
	for a, n := range shape {
		widths[a][1] = n - x.Shape()[a]
	}
	return x.Pad(widths)
}

// first returns the first elements of x along every axis, as many as shape has.
func (x *Node) first(shape []int) *Node {
	for a, n := range shape {
		if n != x.Shape()[a] {
			x = x.Slice(a, 0, n)
		}
	}
	return x
}

// ScatterAdd returns x with elements of src added in the places that a tensor of Int32 of x's rank
// names along an axis, in an order that is fixed. index must outlive Backward, unchanged. It panics
// as [tensor.Tensor.ScatterAdd] does. Gradients: g; of src, g in the place of each element, 0 for
// one that is not taken.
func (x *Node) ScatterAdd(axis int, index *tensor.Tensor, src *Node) *Node {
	const op = "ScatterAdd"
	shape := src.use(op).Shape()
	return NewOp(op, x.use(op).ScatterAdd(axis, index, src.value), []*Node{x, src}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g)
		if in.NeedsGrad(1) {
			in.AccumulateNode(1, g.Gather(axis, index).grown(shape))
		}
	}, index)
}

// ScatterReduce returns x with one element made of what comes to a place along an axis and of what
// is there, as [tensor.Tensor.ScatterReduce] does, as which it panics. index must outlive Backward,
// unchanged. Gradients: of a sum, g; of a mean, g over the number of elements; of a product, g
// times the product of the others; of a minimum or maximum, g in equal parts to the elements that
// attain it, to the NaNs if it is NaN. 0 for an element that does not count or is not taken.
// Gradients of the gradient of a product are those where no factor is 0.
func (x *Node) ScatterReduce(axis int, index *tensor.Tensor, src *Node, reduce tensor.ScatterReduction, opts ...tensor.ScatterOptions) *Node {
	const op = "ScatterReduce"
	shape := src.use(op).Shape()
	xv, y := x.use(op), (*tensor.Tensor)(nil)
	y = xv.ScatterReduce(axis, index, src.value, reduce, opts...)
	s := scattering{x: x, src: src, y: y, index: index, axis: axis, exclude: len(opts) > 0 && opts[0].ExcludeSelf}
	return NewOp(op, y, []*Node{x, src}, func(g *Node, in *Grads) {
		var own, other *Node // the gradients of x and of the elements of src that are taken
		switch reduce {
		case tensor.ScatterSum:
			own, other = g, g.Gather(axis, index)
			if s.exclude {
				own = s.untouched(g)
			}
		case tensor.ScatterMean:
			own, other = s.mean(g)
		case tensor.ScatterProd:
			own, other = s.product(g, in.CreateGraph())
		default:
			own, other = s.extreme(g)
		}
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, own)
		}
		if in.NeedsGrad(1) {
			in.AccumulateNode(1, other.grown(shape))
		}
	}, xv, src.value, y, index)
}

// scattering is a ScatterReduce: y of x and src.
type scattering struct {
	x, src  *Node
	y       *tensor.Tensor
	index   *tensor.Tensor
	axis    int
	exclude bool
}

// untouched returns g, 0 where something came.
func (s scattering) untouched(g *Node) *Node { return g.cleared(s.axis, s.index) }

// add returns the sum of parts, one for each index, in their places, and of own, if that is there.
func (s scattering) add(own, parts *Node) *Node {
	if own == nil {
		own = zeros(parts, s.y.Shape())
	}
	return own.ScatterAdd(s.axis, s.index, parts)
}

// counts returns how many elements each place of y is made of, at least 1.
func (s scattering) counts() *Node {
	one := Const(tensor.Full(s.y.Device(), 1, s.y.Shape()...))
	if s.exclude {
		return s.add(s.untouched(one), Const(tensor.Full(s.y.Device(), 1, s.index.Shape()...)))
	}
	return s.add(one, Const(tensor.Full(s.y.Device(), 1, s.index.Shape()...)))
}

func (s scattering) mean(g *Node) (own, other *Node) {
	part := g.Div(s.counts())
	own = part
	if s.exclude {
		own = s.untouched(g)
	}
	return own, part.Gather(s.axis, s.index)
}

func (s scattering) extreme(g *Node) (own, other *Node) {
	y := Const(s.y)
	src := Const(s.src.value).first(s.index.Shape())
	there := Map(ops.Attains, nil, src, y.Gather(s.axis, s.index))
	mine := Map(ops.Attains, nil, Const(s.x.value), y)
	if s.exclude {
		touched := Const(tensor.Full(g.Device(), 1, s.y.Shape()...))
		mine = s.untouched(touched) // where nothing came it is what it was
	}
	part := g.Div(s.add(mine, there))
	return part.Mul(mine), part.Gather(s.axis, s.index).Mul(there)
}

// product returns the gradients of a product: those of the other factors. If they are to be
// differentiated again, they read the factors that are 0, too.
func (s scattering) product(g *Node, again bool) (own, other *Node) {
	src := s.src.first(s.index.Shape())
	zerosMine, factors := Map(ops.IsZero, nil, s.x), Map(ops.OneForZero, nil, s.x)
	if s.exclude {
		zerosMine = s.untouched(zerosMine)
	}
	count := s.add(zerosMine, Map(ops.IsZero, nil, src))
	rest := factors.ScatterReduce(s.axis, s.index, Map(ops.OneForZero, nil, src), tensor.ScatterProd, tensor.ScatterOptions{ExcludeSelf: s.exclude})
	at := func(n *Node) *Node { return n.Gather(s.axis, s.index) }
	if !again {
		own = Map(ops.OtherFactors, nil, g, s.x, rest, count)
		other = Map(ops.OtherFactors, nil, at(g), src, at(rest), at(count))
	} else {
		mine := Map(ops.ZeroItself, nil, s.x)
		if s.exclude {
			mine = s.untouched(mine)
		}
		sum := s.add(mine, Map(ops.ZeroItself, nil, src))
		own = Map(ops.OtherFactorsAgain, nil, g, s.x, rest, count, sum)
		other = Map(ops.OtherFactorsAgain, nil, at(g), src, at(rest), at(count), at(sum))
	}
	if s.exclude {
		own = s.untouched(g)
	}
	return own, other
}
