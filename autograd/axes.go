package autograd

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) squeeze(axes ...int) *Node {
	before := x.use("Squeeze").Shape()
	return NewOp("Squeeze", x.value.Squeeze(axes...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

func (x *Node) unsqueeze(axis int) *Node {
	before := x.use("Unsqueeze").Shape()
	return NewOp("Unsqueeze", x.value.Unsqueeze(axis), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

func (x *Node) moveDim(from, to int) *Node {
	return NewOp("MoveDim", x.use("MoveDim").MoveDim(from, to), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.MoveDim(to, from))
	})
}

func (x *Node) flatten(from, to int) *Node {
	before := x.use("Flatten").Shape()
	return NewOp("Flatten", x.value.Flatten(from, to), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

func (x *Node) diag(offset int) *Node {
	return composed("Diag", func() *Node {
		return compose.Diag(x, offset, func(x *Node, before, after int) *Node { return x.Pad([][2]int{{before, after}}) })
	}, x)
}

func (x *Node) diagonal(offset, first, second int) *Node {
	const op = "Diagonal"
	c := cut{
		of:   func(t *tensor.Tensor) *tensor.Tensor { return t.Diagonal(offset, first, second) },
		node: func(n *Node) *Node { return n.Diagonal(offset, first, second) },
	}
	return NewOp(op, c.of(x.use(op)), []*Node{x}, c.gradient)
}

func (x *Node) unfold(axis, size, step int) *Node {
	shape := x.use("Unfold").Shape()
	y := x.value.Unfold(axis, size, step)
	if axis < 0 {
		axis += len(shape)
	}
	w := windows{axis, size, step}
	return NewOp("Unfold", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateIntoNode(0, func(dst *tensor.Tensor) { w.add(dst, g.value) }, func(sum *tensor.Tensor) *Node {
			return NewOp("Fold", sum, []*Node{g}, func(g *Node, in *Grads) { in.AccumulateNode(0, g.Unfold(w.axis, w.size, w.step)) })
		})
	})
}

// windows are those along an axis that counts from the front.
type windows struct{ axis, size, step int }

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
