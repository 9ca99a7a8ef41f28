package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// Reshape returns x under another shape of the same size; one dimension may be −1. Gradient: g under x's
// shape.
func (x *Node) Reshape(shape ...int) *Node {
	before := x.use("Reshape").Shape()
	return Apply("Reshape", x.value.Reshape(shape...), []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		back := g.Reshape(before...)
		in.Share(0, back)
		back.Free()
	})
}

// Transpose returns x with its axes in the given order, reversed if none is given. Gradient: g with the
// axes in the order that undoes it.
func (x *Node) Transpose(axes ...int) *Node {
	rank := len(x.use("Transpose").Shape())
	y := x.value.Transpose(axes...)
	undo := sequence(rank)
	slices.Reverse(undo)
	for i, a := range axes {
		undo[x.value.Axes(a)[0]] = i
	}
	return Apply("Transpose", y, []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		back := g.Transpose(undo...)
		in.Share(0, back)
		back.Free()
	})
}

// T returns the transpose of a matrix. Gradient: gᵀ.
func (x *Node) T() *Node { return x.Transpose(1, 0) }

// Slice returns elements [from, to) along an axis. Gradient: g in that place, 0 elsewhere.
func (x *Node) Slice(axis, from, to int) *Node {
	shape := x.use("Slice").Shape()
	y := x.value.Slice(axis, from, to)
	a, rank := x.value.Axes(axis)[0], len(shape)
	return Apply("Slice", y, []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		// With the sliced axis in front, the place of g is one run of memory.
		front := append([]int{a}, slices.Delete(sequence(rank), a, a+1)...)
		dims := make([]int, rank)
		undo := make([]int, rank)
		for i, f := range front {
			dims[i], undo[f] = shape[f], i
		}
		whole := tensor.Zeros(g.Device(), dims...)
		place, moved := whole.Slice(0, from, to), g.Transpose(front...)
		place.SetInPlace(moved)
		in.Give(0, whole.Transpose(undo...))
		for _, t := range []*tensor.Tensor{whole, place, moved} {
			t.Free()
		}
	})
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Expand repeats x to a shape that it broadcasts to. Gradient: g, summed over the repeated axes.
func (x *Node) Expand(shape ...int) *Node {
	return Apply("Expand", x.use("Expand").Expand(shape...), []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		in.Share(0, g)
	})
}

// GatherRows returns the rows of a matrix that index names. Gradient: the rows of g, added to the rows
// they came from in the order of index. index must outlive Backward.
func (x *Node) GatherRows(index *tensor.Ints) *Node {
	shape := x.use("GatherRows").Shape()
	return Apply("GatherRows", x.value.GatherRows(index), []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		sum := tensor.Zeros(g.Device(), shape...)
		sum.ScatterAddRowsInPlace(index, g)
		in.Give(0, sum)
	})
}
