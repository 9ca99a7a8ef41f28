package autograd

import "slices"

// Reshape returns x's elements, in row-major order, under another shape of the same size; one
// dimension may be −1: it is inferred. It shares x's storage if that is contiguous. It panics with
// tensor.ErrShape. Gradient: g under x's shape.
func (x *Node) Reshape(shape ...int) *Node {
	before := x.use("Reshape").Shape()
	return NewOp("Reshape", x.value.Reshape(shape...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

// Transpose returns x with its axes in the given order, reversed if none is given. It shares x's
// storage. It panics with tensor.ErrAxis unless the axes are a permutation. Gradient: g with the
// axes in the order that undoes it.
func (x *Node) Transpose(axes ...int) *Node {
	rank := len(x.use("Transpose").Shape())
	y := x.value.Transpose(axes...)
	undo := sequence(rank)
	slices.Reverse(undo)
	for i, a := range axes {
		if a < 0 {
			a += rank
		}
		undo[a] = i
	}
	return NewOp("Transpose", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Transpose(undo...))
	})
}

// T returns the transpose of a matrix, which shares its storage. It panics with tensor.ErrShape for
// another rank. Gradient: gᵀ.
func (x *Node) T() *Node {
	return NewOp("Transpose", x.use("T").T(), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.T())
	})
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Expand repeats x to a shape that it broadcasts to by NumPy's rule, without copying. It panics
// with tensor.ErrShape if it does not. Gradient: g, summed over the repeated axes.
func (x *Node) Expand(shape ...int) *Node {
	return NewOp("Expand", x.use("Expand").Expand(shape...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g)
	})
}

// Copy returns a contiguous value with x's elements and storage of its own. Gradient: g.
func (x *Node) Copy() *Node {
	return NewOp("Copy", x.use("Copy").Copy(), []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g) })
}
