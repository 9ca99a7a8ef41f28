package autograd

import "github.com/clgrad/clgrad/tensor"

// Squeeze returns x without the given axes, as far as they are of dimension 1; without every axis
// of dimension 1 if none is given. It shares x's storage. It panics with tensor.ErrAxis. Gradient:
// g under x's shape.
func (x *Node) Squeeze(axes ...int) *Node {
	before := x.use("Squeeze").Shape()
	return NewOp("Squeeze", x.value.Squeeze(axes...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

// Unsqueeze returns x with an axis of dimension 1 more, which gets the given place among the axes
// of the result. It shares x's storage. It panics with tensor.ErrAxis, and with tensor.ErrShape if
// x has tensor.MaxRank axes. Gradient: g under x's shape.
func (x *Node) Unsqueeze(axis int) *Node {
	before := x.use("Unsqueeze").Shape()
	return NewOp("Unsqueeze", x.value.Unsqueeze(axis), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

// MoveDim returns x with axis from in place to, and the others in their order. It shares x's
// storage. It panics with tensor.ErrAxis. Gradient: g with the axis back in its place.
func (x *Node) MoveDim(from, to int) *Node {
	return NewOp("MoveDim", x.use("MoveDim").MoveDim(from, to), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.MoveDim(to, from))
	})
}

// Flatten returns x with the axes from the first given to the last given joined to one; all with
// Flatten(0, −1). It shares x's storage where Reshape does. It panics with tensor.ErrAxis for axes
// that x has not, or that are not in order. Gradient: g under x's shape.
func (x *Node) Flatten(from, to int) *Node {
	before := x.use("Flatten").Shape()
	return NewOp("Flatten", x.value.Flatten(from, to), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

// Diagonal returns the diagonals of the matrices that two axes make: the elements whose index along
// the second is that along the first plus offset. The two axes disappear, and the diagonal is the
// last one. It shares x's storage. It panics with tensor.ErrAxis. Gradient: g in that place, 0
// elsewhere.
func (x *Node) Diagonal(offset, first, second int) *Node {
	const op = "Diagonal"
	c := cut{func(t *tensor.Tensor) *tensor.Tensor { return t.Diagonal(offset, first, second) }, func(n *Node) *Node { return n.Diagonal(offset, first, second) }}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient(x))
}

// Unfold returns all windows of neighbours along an axis: of size elements each, every window
// beginning step elements after the one before. The axis counts the windows, and a new last axis
// the elements of each. It shares x's storage. It panics as [tensor.Tensor.Unfold] does. Gradient:
// the sum of g over the windows that an element is in, 0 where there is none.
func (x *Node) Unfold(axis, size, step int) *Node {
	shape := x.use("Unfold").Shape()
	y := x.value.Unfold(axis, size, step)
	if axis < 0 {
		axis += len(shape)
	}
	w := windows{shape, axis, size, step}
	return NewOp("Unfold", y, []*Node{x}, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			in.AccumulateNode(0, w.fold(g))
			return
		}
		in.AccumulateInto(0, func(dst *tensor.Tensor) { w.add(dst, g.value) })
	})
}

// windows are those of a tensor of a shape, along an axis that counts from the front.
type windows struct {
	shape            []int
	axis, size, step int
}

// fold returns the sum of windows in their places: what undoes Unfold. Gradient: the windows of g.
func (w windows) fold(x *Node) *Node {
	const op = "Fold"
	y := tensor.Empty(x.use(op).Device(), w.shape...)
	w.add(y, x.value)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g.Unfold(w.axis, w.size, w.step)) })
}

// add sets dst to the sum of windows in their places. Windows with so many between them that they
// do not overlap are added at once.
func (w windows) add(dst, x *tensor.Tensor) {
	dst.ZeroInPlace()
	if x.Len() == 0 {
		return
	}
	places := dst.Unfold(w.axis, w.size, w.step)
	defer places.Free()
	count := x.Shape()[w.axis]
	apart := min((w.size-1)/w.step+1, count)
	for first := range apart {
		some := func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(w.axis, first, tensor.End).Step(w.axis, apart) }
		to, from := some(places), some(x)
		addInPlace(to, from)
		to.Free()
		from.Free()
	}
}
