package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

func (x *Node) tile(counts ...int) *Node {
	before := x.use("Tile").Shape()
	return NewOp("Tile", x.value.Tile(counts...), []*Node{x}, func(g *Node, in *Grads) {
		full := slices.Clone(g.Shape())
		for i, count := range counts {
			a := len(full) - len(counts) + i
			n := 1
			if own := a - (len(full) - len(before)); own >= 0 {
				n = before[own]
			}
			if count == 1 {
				continue
			}
			full[a] = n
			g = g.Reshape(intmath.Product(full[:a]), count, intmath.Product(full[a:])).Sum(1)
		}
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

func (x *Node) repeatInterleave(count, axis int) *Node {
	before := x.use("RepeatInterleave").Shape()
	y := x.value.RepeatInterleave(count, axis)
	if axis < 0 {
		axis += len(before)
	}
	return NewOp("RepeatInterleave", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(intmath.Product(before[:axis+1]), count, intmath.Product(before[axis+1:])).Sum(1).Reshape(before...))
	})
}

func (x *Node) roll(shift, axis int) *Node {
	return NewOp("Roll", x.use("Roll").Roll(shift, axis), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Roll(-shift, axis))
	})
}

func (x *Node) flip(axes ...int) *Node {
	return NewOp("Flip", x.use("Flip").Flip(axes...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Flip(axes...))
	})
}

func (x *Node) tril(diagonal int) *Node {
	return NewOp("Tril", x.use("Tril").Tril(diagonal), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Tril(diagonal))
	})
}

func (x *Node) triu(diagonal int) *Node {
	return NewOp("Triu", x.use("Triu").Triu(diagonal), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Triu(diagonal))
	})
}
