package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) gather(axis int, index *tensor.Tensor) *Node {
	shape := x.use("Gather").Shape()
	return NewOp("Gather", x.value.Gather(axis, index), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, zeros(g, shape).ScatterAdd(axis, index, g))
	}, index)
}

func (x *Node) scatter(axis int, index *tensor.Tensor, src *Node) *Node {
	const op = "Scatter"
	shape := src.use(op).Shape()
	return NewOp(op, x.use(op).Scatter(axis, index, src.value), []*Node{x, src}, func(g *Node, in *Grads) {
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, g.cleared(axis, index))
		}
		if in.NeedsGrad(1) {
			last := lastOf(index.Shape(), func(numbers *tensor.Tensor) *tensor.Tensor {
				return tensor.ZerosOf(g.Device(), tensor.Int32, g.Shape()...).Scatter(axis, index, numbers).Gather(axis, index)
			}, g.value)
			in.AccumulateNode(1, g.Gather(axis, index).Mul(last).grown(shape))
		}
	}, index)
}

// cleared returns x with 0 in the places that index names.
func (x *Node) cleared(axis int, index *tensor.Tensor) *Node {
	zero := tensor.ZerosOf(x.Device(), x.value.Type(), slices.Repeat([]int{1}, index.Rank())...)
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

func (x *Node) scatterAdd(axis int, index *tensor.Tensor, src *Node) *Node {
	const op = "ScatterAdd"
	shape := src.use(op).Shape()
	return NewOp(op, x.use(op).ScatterAdd(axis, index, src.value), []*Node{x, src}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g)
		if in.NeedsGrad(1) {
			in.AccumulateNode(1, g.Gather(axis, index).grown(shape))
		}
	}, index)
}

func (x *Node) scatterReduce(
	axis int, index *tensor.Tensor, src *Node, reduce tensor.ScatterReduction, opts ...tensor.ScatterOptions,
) *Node {
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
	one := constant(tensor.FullLike(s.y, 1))
	each := constant(tensor.FullOf(s.y.Device(), s.y.Type(), 1, s.index.Shape()...))
	if s.exclude {
		one = s.untouched(one)
	}
	return s.add(one, each)
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
		touched := constant(tensor.FullLike(s.y, 1))
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
