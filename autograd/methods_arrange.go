// Code generated from internal/operations/table/arrange.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// Concat returns the tensors one after the other along an axis, in a tensor of its own: PyTorch's
// cat. Their other dimensions are equal. It is of their type, or of the highest of several. It
// panics with tensor.ErrValue if there are no tensors, with tensor.ErrAxis for an axis that they
// have not, and with tensor.ErrShape if another dimension differs.
//
// Gradient: to each its part of g.
func Concat(axis int, xs ...*Node) *Node {
	y := lowered(concat(axis, xs...), xs...)
	if trace.On() {
		trace.Record("Concat", []any{axis, xs}, y)
	}
	return y
}

// Stack returns tensors of one shape as the parts of a new axis, which gets the given place among
// the axes of the result. It is of their type, or of the highest of several. It panics with
// tensor.ErrValue if there are no tensors, with tensor.ErrAxis for a place that there is not, and
// with tensor.ErrShape if the shapes differ or there is no room for another axis.
//
// Gradient: to each its part of g.
func Stack(axis int, xs ...*Node) *Node {
	y := lowered(stack(axis, xs...), xs...)
	if trace.On() {
		trace.Record("Stack", []any{axis, xs}, y)
	}
	return y
}

// Split returns views of the parts of an axis that have a size, one after the other; the last may
// be smaller. An axis of dimension 0 is one part. It panics with tensor.ErrAxis, with
// tensor.ErrValue for a size below 1, and with tensor.ErrShape for 2³¹ parts or more, which only a
// tensor without elements has.
//
// Gradient: that of each part in its place.
func (x *Node) Split(axis, size int) []*Node { return x.split(axis, size) }

// SplitWithSizes returns views of the parts of an axis that have the given sizes, one after the
// other. It panics with tensor.ErrAxis, and with tensor.ErrShape unless the sizes are 0 or more and
// their sum is the dimension.
//
// Gradient: that of each part in its place.
func (x *Node) SplitWithSizes(axis int, sizes ...int) []*Node {
	return x.splitWithSizes(axis, sizes...)
}

// Chunk returns views of n parts of an axis, one after the other, that are as large as each other
// but for the last. There are fewer where the dimension is no multiple of what they hold: an axis
// of 5 has 3 chunks if 4 are asked for, of 2, 2 and 1. It panics with tensor.ErrAxis, with
// tensor.ErrValue for n below 1, and with tensor.ErrShape for 2³¹ parts or more, which only a
// tensor without elements has.
//
// Gradient: that of each part in its place.
func (x *Node) Chunk(axis, n int) []*Node { return x.chunk(axis, n) }

// Unbind returns views of the elements of an axis, one for each index: what [Stack] puts together.
// It panics with tensor.ErrAxis, and with tensor.ErrShape as [Node.Split] does.
//
// Gradient: that of each in its place.
func (x *Node) Unbind(axis int) []*Node { return x.unbind(axis) }

// Squeeze returns a view without the given axes, as far as they are of dimension 1; without every
// axis of dimension 1 if none is given. As in PyTorch, an axis of another dimension stays, and a
// scalar has axis 0. It panics with tensor.ErrAxis for an axis that x has not, or that is named
// twice.
//
// Gradient: g under x's shape.
func (x *Node) Squeeze(axes ...int) *Node {
	y := lowered(x.squeeze(axes...), x)
	if trace.On() {
		trace.Record("Squeeze", []any{x, axes}, y)
	}
	return y
}

// Unsqueeze returns a view with an axis of dimension 1 more, which gets the given place among the
// axes of the result. It panics with tensor.ErrAxis for a place that there is not, and with
// tensor.ErrShape if x has [tensor.MaxRank] axes.
//
// Gradient: g under x's shape.
func (x *Node) Unsqueeze(axis int) *Node {
	y := lowered(x.unsqueeze(axis), x)
	if trace.On() {
		trace.Record("Unsqueeze", []any{x, axis}, y)
	}
	return y
}

// MoveDim returns a view with axis from in place to, and the others in their order. Several are
// moved by [Node.Transpose]. It panics with tensor.ErrAxis.
//
// Gradient: g with the axis back in its place.
func (x *Node) MoveDim(from, to int) *Node {
	y := lowered(x.moveDim(from, to), x)
	if trace.On() {
		trace.Record("MoveDim", []any{x, from, to}, y)
	}
	return y
}

// Flatten returns x with the axes from the first given to the last given joined to one; all with
// Flatten(0, −1). A scalar becomes a vector of one element. It shares x's storage where
// [Node.Reshape] does. It panics with tensor.ErrAxis for axes that x has not, or that are not in
// order.
//
// Gradient: g under x's shape.
func (x *Node) Flatten(from, to int) *Node {
	y := lowered(x.flatten(from, to), x)
	if trace.On() {
		trace.Record("Flatten", []any{x, from, to}, y)
	}
	return y
}

// Diagonal returns a view of the diagonals of the matrices that two axes make: of the elements
// whose index along the second is that along the first plus offset. The two axes disappear, and the
// diagonal is the last one. It panics with tensor.ErrAxis for axes that x has not, or that are the
// same.
//
// Gradient: g in that place, 0 elsewhere.
func (x *Node) Diagonal(offset, first, second int) *Node {
	y := lowered(x.diagonal(offset, first, second), x)
	if trace.On() {
		trace.Record("Diagonal", []any{x, offset, first, second}, y)
	}
	return y
}

// Diag returns the matrix with a vector on its diagonal, offset columns to the right of the main
// one, or rows below it if negative, and 0 elsewhere; of a matrix it is a copy of [Node.Diagonal].
// It panics with tensor.ErrShape for another rank, or if the result would have too many elements.
//
// Gradient: g at the diagonal; of a matrix, g there and 0 elsewhere.
func (x *Node) Diag(offset int) *Node {
	y := lowered(x.diag(offset), x)
	if trace.On() {
		trace.Record("Diag", []any{x, offset}, y)
	}
	return y
}

// Unfold returns the view of all windows of neighbours along an axis: of size elements each, every
// window beginning step elements after the one before. The axis counts the windows, ⌊(n −
// size)/step⌋ + 1 of them, and a new last axis the elements of each. Windows share elements where
// step is less than size, and no operation writes through such a view. It panics with
// tensor.ErrAxis, with tensor.ErrValue for a step below 1, and with tensor.ErrShape for a size that
// is negative or larger than the dimension, or if the result would have too many axes or elements.
//
// Gradient: the sum of g over the windows that an element is in, 0 where there is none.
func (x *Node) Unfold(axis, size, step int) *Node {
	y := lowered(x.unfold(axis, size, step), x)
	if trace.On() {
		trace.Record("Unfold", []any{x, axis, size, step}, y)
	}
	return y
}

// Tile returns x several times over along each axis, in a tensor of its own: PyTorch's tile, and
// its repeat. Counts are those of the last axes; where there are more than x has axes, it gets axes
// of dimension 1 in front. It panics with tensor.ErrValue for a count below 0, and with
// tensor.ErrShape if the result would have too many axes or elements.
//
// Gradient: the sum of g over the copies of an element.
func (x *Node) Tile(counts ...int) *Node {
	y := lowered(x.tile(counts...), x)
	if trace.On() {
		trace.Record("Tile", []any{x, counts}, y)
	}
	return y
}

// RepeatInterleave returns every element along an axis count times, one after the other, in a
// tensor of its own. It panics with tensor.ErrAxis, with tensor.ErrValue for a count below 0, and
// with tensor.ErrShape if the result would have too many elements. Counts that differ from element
// to element are those of an [Node.IndexSelect].
//
// Gradient: the sum of g over the copies of an element.
func (x *Node) RepeatInterleave(count, axis int) *Node {
	y := lowered(x.repeatInterleave(count, axis), x)
	if trace.On() {
		trace.Record("RepeatInterleave", []any{x, count, axis}, y)
	}
	return y
}

// Roll returns x with the elements of an axis moved on by shift places; those that leave one end
// come in at the other. It panics with tensor.ErrAxis.
//
// Gradient: g, rolled back.
func (x *Node) Roll(shift, axis int) *Node {
	y := lowered(x.roll(shift, axis), x)
	if trace.On() {
		trace.Record("Roll", []any{x, shift, axis}, y)
	}
	return y
}

// Flip returns x with the elements along the given axes in the opposite order, in a tensor of its
// own: no view runs backwards. It panics with tensor.ErrAxis for an axis that x has not, or that is
// named twice.
//
// Gradient: g, flipped.
func (x *Node) Flip(axes ...int) *Node {
	y := lowered(x.flip(axes...), x)
	if trace.On() {
		trace.Record("Flip", []any{x, axes}, y)
	}
	return y
}

// Pad returns x with elements more at the ends of its last axes: widths has, for each of them in
// their order, how many before the first and how many behind the last, {before, behind}. Below 0,
// so many are cut off instead. Where one end is cut and the other padded, PadReflect and
// PadReplicate take elements of the whole axis, PadCircular those of what is left. PyTorch's pad
// does the same, and lists the last axis first. It panics with tensor.ErrShape for more widths than
// axes, if more is cut off than there is, or if the result has too many elements; for PadReflect
// unless widths are less than the dimension, for PadCircular unless they are at most what is left
// of it, and for PadReplicate if there is no element; with tensor.ErrType if the value is no number
// of x's type; and with tensor.ErrValue for another mode, or more than one PadOptions.
//
// Gradient: the sum of g over the places to which an element went; 0 for one that was cut off and
// stands for no other.
func (x *Node) Pad(widths [][2]int, opts ...tensor.PadOptions) *Node {
	y := lowered(x.pad(widths, opts...), x)
	if trace.On() {
		trace.Record("Pad", []any{x, widths, opts}, y)
	}
	return y
}

// PixelShuffle makes of channels r² more pixels: x [..., c·r², h, w] becomes [..., c, h·r, w·r], in
// a tensor of its own. It panics with tensor.ErrShape for less than three axes and channels that
// are no multiple of r², and with tensor.ErrValue for r below 1.
//
// Gradient: g, each to where it came from.
//
// Source: Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient
// Sub-Pixel Convolutional Neural Network", 2016.
func (x *Node) PixelShuffle(r int) *Node {
	y := lowered(composed("PixelShuffle", func() *Node { return compose.PixelShuffle(x, r) }, x), x)
	if trace.On() {
		trace.Record("PixelShuffle", []any{x, r}, y)
	}
	return y
}

// PixelUnshuffle undoes [Node.PixelShuffle]: x [..., c, h·r, w·r] becomes [..., c·r², h, w]. It
// panics as that does, and with tensor.ErrShape for rows or columns that are no multiple of r.
//
// Gradient: g, each to where it came from.
func (x *Node) PixelUnshuffle(r int) *Node {
	y := lowered(composed("PixelUnshuffle", func() *Node { return compose.PixelUnshuffle(x, r) }, x), x)
	if trace.On() {
		trace.Record("PixelUnshuffle", []any{x, r}, y)
	}
	return y
}

// Diff returns the differences of neighbours along an axis, each less the one before, n times over.
// Of Bool it is where neighbours differ. It panics with tensor.ErrAxis, and with tensor.ErrValue
// for n below 0.
//
// Gradient: to each element that of the difference before less that of the one after.
func (x *Node) Diff(n, axis int) *Node {
	y := lowered(composed("Diff", func() *Node { return compose.Diff(x, n, axis) }, x), x)
	if trace.On() {
		trace.Record("Diff", []any{x, n, axis}, y)
	}
	return y
}
