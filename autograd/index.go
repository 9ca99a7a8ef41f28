package autograd

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// cut is a view that reads each element of a tensor at most once: for tensors, and the operation on
// Nodes that takes it.
type cut struct {
	of         func(t *tensor.Tensor) *tensor.Tensor
	node       func(n *Node) *Node
	dense      bool // it has neighbours along an axis, and all of the other axes
	axis, from int  // which axis, and the first of them; both may count from the end
}

// part is the gradient of a cut, which comes in the cut's shape.
type part struct {
	cut
	g *Node
}

// gradient delivers that of a cut: g in its place, 0 elsewhere. It goes into what was gathered so far, if that is nobody
// else's, or with others in one operation: many parts of a tensor do not make as many gradients of its size.
func (c cut) gradient(g *Node, in *Grads) {
	n, w := in.input(0), in.walk
	if !w.wants(n) {
		return
	}
	if w.record {
		w.parts[n] = append(w.parts[n], part{c, g})
		return
	}
	if w.canWriteInPlace(n) {
		n.foundGrad()
	}
	switch {
	case n.pending.mine && slices.Equal(n.pending.t.Shape(), n.Shape()):
		c.add(n.pending.t, g.value)
	case w.canWriteInPlace(n) && n.grad != nil:
		c.add(n.grad, g.value)
	default:
		in.AccumulateInto(0, func(dst *tensor.Tensor) {
			dst.ZeroInPlace()
			place := c.of(dst)
			place.SetInPlace(g.value)
			place.Free()
		})
	}
}

// add adds x to dst in the place of the cut.
func (c cut) add(dst, x *tensor.Tensor) {
	place := c.of(dst)
	addInPlace(place, x)
	place.Free()
}

// gradOf returns what a walk that records has gathered for n, or nil.
func (w *walk) gradOf(n *Node) *Node {
	if parts := w.parts[n]; parts != nil {
		delete(w.parts, n)
		w.addNode(n, placed(parts, n.gradType().Computed(), n.Shape()))
	}
	if factors := w.factors[n]; factors != nil {
		delete(w.factors, n)
		x, g := factors[0][0], factors[0][1]
		if len(factors) > 1 {
			xs, gs := make([]*Node, len(factors)), make([]*Node, len(factors))
			for i, f := range factors {
				xs[i], gs[i] = f[0], f[1]
			}
			x, g = Concat(0, xs...), Concat(0, gs...)
		}
		w.addNode(n, x.T().MatMul(g))
	}
	return w.grads[n]
}

// placed returns the sum of parts, in their places, and 0 elsewhere: what undoes the cuts. Gradients: the cuts of g.
func placed(parts []part, typ tensor.Type, shape []int) *Node {
	const op = "Place"
	inputs := make([]*Node, len(parts))
	d, once := parts[0].g.use(op).Device(), fill(parts, shape)
	y := tensor.EmptyOf(d, typ, shape...)
	if !once {
		y.ZeroInPlace()
	}
	for i, p := range parts {
		inputs[i] = p.g
		if g := p.g.use(op); once {
			place := p.of(y)
			place.SetInPlace(g)
			place.Free()
		} else {
			p.add(y, g)
		}
	}
	return NewOp(op, y, inputs, func(g *Node, in *Grads) {
		for i, p := range parts {
			if in.NeedsGrad(i) {
				in.AccumulateNode(i, p.node(g))
			}
		}
	})
}

// fill reports whether each element of a shape is in one part.
func fill(parts []part, shape []int) bool {
	if !parts[0].dense {
		return false
	}
	axis := fromFront(parts[0].axis, len(shape))
	n, others := shape[axis], 1
	for a, size := range shape {
		if a != axis {
			others *= size
		}
	}
	counts, all := make([]int, n), 0 // of neighbours, by the first of them
	for _, p := range parts {
		from := p.from
		if from < 0 {
			from += n
		}
		if !p.dense || fromFront(p.axis, len(shape)) != axis || from >= n || counts[from] > 0 || others == 0 {
			return false
		}
		counts[from] = p.g.Len() / others
		all += counts[from]
	}
	at := 0
	for at < n && counts[at] > 0 {
		at += counts[at]
	}
	return at == n && all == n
}

func (x *Node) slice(axis, from, to int) *Node {
	const op = "Slice"
	c := cut{
		of:    func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(axis, from, to) },
		node:  func(n *Node) *Node { return n.Slice(axis, from, to) },
		dense: true, axis: axis, from: from,
	}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient)
}

func (x *Node) step(axis, step int) *Node {
	const op = "Step"
	if step < 0 && step > math.MinInt {
		defer tensorapi.Rename("autograd", op)
		return x.Flip(axis).Step(axis, -step)
	}
	c := cut{
		of:   func(t *tensor.Tensor) *tensor.Tensor { return t.Step(axis, step) },
		node: func(n *Node) *Node { return n.Step(axis, step) },
	}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient)
}

func (x *Node) selectIndex(axis, index int) *Node {
	const op = "Select"
	c := cut{
		of:    func(t *tensor.Tensor) *tensor.Tensor { return t.Select(axis, index) },
		node:  func(n *Node) *Node { return n.Select(axis, index) },
		dense: true, axis: axis, from: index,
	}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient)
}

func (x *Node) gatherRows(index *tensor.Tensor) *Node {
	shape := x.use("GatherRows").Shape()
	return NewOp("GatherRows", x.value.GatherRows(index), []*Node{x}, func(g *Node, in *Grads) {
		in.accumulateNew(0, g.scatterRows(index, shape))
	}, index)
}

// scatterRows returns a matrix of the given shape with the rows of x added to those that index
// names: what undoes GatherRows. Gradient: the rows of g that index names.
func (x *Node) scatterRows(index *tensor.Tensor, shape []int) *Node {
	const op = "ScatterAddRows"
	return NewOp(op, scatterRows(x.use(op), index, shape), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.GatherRows(index))
	}, index)
}

func scatterRows(x, index *tensor.Tensor, shape []int) *tensor.Tensor {
	sum := tensor.ZerosOf(x.Device(), x.Type(), shape...)
	sum.ScatterAddRowsInPlace(index, x)
	return sum
}
