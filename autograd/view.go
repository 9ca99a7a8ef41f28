package autograd

import "slices"

func (x *Node) reshape(shape ...int) *Node {
	before := x.use("Reshape").Shape()
	return NewOp("Reshape", x.value.Reshape(shape...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

func (x *Node) transpose(axes ...int) *Node {
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

func (x *Node) t() *Node {
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

func (x *Node) expand(shape ...int) *Node {
	return NewOp("Expand", x.use("Expand").Expand(shape...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g)
	})
}

func (x *Node) copy() *Node {
	return NewOp("Copy", x.use("Copy").Copy(), []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g) })
}
