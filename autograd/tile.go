package autograd

import "slices"

// Tile returns x several times over along each axis. Counts are those of the last axes; where there
// are more than x has axes, it gets axes of dimension 1 in front. It panics with tensor.ErrValue
// for a count below 0, and with tensor.ErrShape if the result would have too many axes or elements.
// Gradient: the sum of g over the copies of an element.
func (x *Node) Tile(counts ...int) *Node {
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
			g = g.Reshape(size(full[:a]), count, size(full[a:])).Sum(1)
		}
		in.AccumulateNode(0, g.Reshape(before...))
	})
}

// RepeatInterleave returns every element along an axis count times, one after the other. It panics
// with tensor.ErrAxis, with tensor.ErrValue for a count below 0, and with tensor.ErrShape if the
// result would have too many elements. Gradient: the sum of g over the copies of an element.
func (x *Node) RepeatInterleave(count, axis int) *Node {
	before := x.use("RepeatInterleave").Shape()
	y := x.value.RepeatInterleave(count, axis)
	if axis < 0 {
		axis += len(before)
	}
	return NewOp("RepeatInterleave", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Reshape(size(before[:axis+1]), count, size(before[axis+1:])).Sum(1).Reshape(before...))
	})
}

// size returns the number of elements of a shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Roll returns x with the elements of an axis moved on by shift places; those that leave one end
// come in at the other. It panics with tensor.ErrAxis. Gradient: g, rolled back.
func (x *Node) Roll(shift, axis int) *Node {
	return NewOp("Roll", x.use("Roll").Roll(shift, axis), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Roll(-shift, axis))
	})
}

// Flip returns x with the elements along the given axes in the opposite order. It panics with
// tensor.ErrAxis for an axis that x has not, or that is named twice. Gradient: g, flipped.
func (x *Node) Flip(axes ...int) *Node {
	return NewOp("Flip", x.use("Flip").Flip(axes...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Flip(axes...))
	})
}

// Tril returns x with 0 above a diagonal of the matrices of its last two axes: where the column is
// greater than the row plus diagonal. It panics with tensor.ErrShape for fewer than two axes.
// Gradient: g, 0 where the result is.
func (x *Node) Tril(diagonal int) *Node {
	return NewOp("Tril", x.use("Tril").Tril(diagonal), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Tril(diagonal))
	})
}

// Triu returns x with 0 below a diagonal of the matrices of its last two axes: where the column is
// less than the row plus diagonal. It panics with tensor.ErrShape for fewer than two axes.
// Gradient: g, 0 where the result is.
func (x *Node) Triu(diagonal int) *Node {
	return NewOp("Triu", x.use("Triu").Triu(diagonal), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Triu(diagonal))
	})
}
