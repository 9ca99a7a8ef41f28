// Code generated from internal/operations/table/arrange.go by "make generate". DO NOT EDIT.

package tensor

import "github.com/clgrad/clgrad/internal/compose"

// Concat returns the tensors one after the other along an axis, in a tensor of its own: PyTorch's
// cat. Their other dimensions are equal. It is of their type, or of the highest of several. It
// panics with ErrValue if there are no tensors, with ErrAxis for an axis that they have not, and
// with ErrShape if another dimension differs.
func Concat(axis int, xs ...*Tensor) *Tensor { return lowered(concat(axis, xs...), xs...) }

// Stack returns tensors of one shape as the parts of a new axis, which gets the given place among
// the axes of the result. It is of their type, or of the highest of several. It panics with
// ErrValue if there are no tensors, with ErrAxis for a place that there is not, and with ErrShape
// if the shapes differ or there is no room for another axis.
func Stack(axis int, xs ...*Tensor) *Tensor { return lowered(stack(axis, xs...), xs...) }

// Split returns views of the parts of an axis that have a size, one after the other; the last may
// be smaller. An axis of dimension 0 is one part. It panics with ErrAxis, with ErrValue for a size
// below 1, and with ErrShape for 2³¹ parts or more, which only a tensor without elements has.
func (x *Tensor) Split(axis, size int) []*Tensor { return x.split(axis, size) }

// SplitWithSizes returns views of the parts of an axis that have the given sizes, one after the
// other. It panics with ErrAxis, and with ErrShape unless the sizes are 0 or more and their sum is
// the dimension.
func (x *Tensor) SplitWithSizes(axis int, sizes ...int) []*Tensor {
	return x.splitWithSizes(axis, sizes...)
}

// Chunk returns views of n parts of an axis, one after the other, that are as large as each other
// but for the last. There are fewer where the dimension is no multiple of what they hold: an axis
// of 5 has 3 chunks if 4 are asked for, of 2, 2 and 1. It panics with ErrAxis, with ErrValue for n
// below 1, and with ErrShape for 2³¹ parts or more, which only a tensor without elements has.
func (x *Tensor) Chunk(axis, n int) []*Tensor { return x.chunk(axis, n) }

// Unbind returns views of the elements of an axis, one for each index: what [Stack] puts together.
// It panics with ErrAxis, and with ErrShape as [Tensor.Split] does.
func (x *Tensor) Unbind(axis int) []*Tensor { return x.unbind(axis) }

// Squeeze returns a view without the given axes, as far as they are of dimension 1; without every
// axis of dimension 1 if none is given. As in PyTorch, an axis of another dimension stays, and a
// scalar has axis 0. It panics with ErrAxis for an axis that x has not, or that is named twice.
func (x *Tensor) Squeeze(axes ...int) *Tensor { return lowered(x.squeeze(axes...), x) }

// Unsqueeze returns a view with an axis of dimension 1 more, which gets the given place among the
// axes of the result. It panics with ErrAxis for a place that there is not, and with ErrShape if x
// has [MaxRank] axes.
func (x *Tensor) Unsqueeze(axis int) *Tensor { return lowered(x.unsqueeze(axis), x) }

// MoveDim returns a view with axis from in place to, and the others in their order. Several are
// moved by [Tensor.Transpose]. It panics with ErrAxis.
func (x *Tensor) MoveDim(from, to int) *Tensor { return lowered(x.moveDim(from, to), x) }

// Flatten returns x with the axes from the first given to the last given joined to one; all with
// Flatten(0, −1). A scalar becomes a vector of one element. It shares x's storage where
// [Tensor.Reshape] does. It panics with ErrAxis for axes that x has not, or that are not in order.
func (x *Tensor) Flatten(from, to int) *Tensor { return lowered(x.flatten(from, to), x) }

// Diagonal returns a view of the diagonals of the matrices that two axes make: of the elements
// whose index along the second is that along the first plus offset. The two axes disappear, and the
// diagonal is the last one. It panics with ErrAxis for axes that x has not, or that are the same.
func (x *Tensor) Diagonal(offset, first, second int) *Tensor {
	return lowered(x.diagonal(offset, first, second), x)
}

// Diag returns the matrix with a vector on its diagonal, offset columns to the right of the main
// one, or rows below it if negative, and 0 elsewhere; of a matrix it is a copy of
// [Tensor.Diagonal]. It panics with ErrShape for another rank, or if the result would have too many
// elements.
func (x *Tensor) Diag(offset int) *Tensor { return lowered(x.diag(offset), x) }

// Unfold returns the view of all windows of neighbours along an axis: of size elements each, every
// window beginning step elements after the one before. The axis counts the windows, ⌊(n −
// size)/step⌋ + 1 of them, and a new last axis the elements of each. Windows share elements where
// step is less than size, and no operation writes through such a view. It panics with ErrAxis, with
// ErrValue for a step below 1, and with ErrShape for a size that is negative or larger than the
// dimension, or if the result would have too many axes or elements.
func (x *Tensor) Unfold(axis, size, step int) *Tensor {
	return lowered(x.unfold(axis, size, step), x)
}

// Tile returns x several times over along each axis, in a tensor of its own: PyTorch's tile, and
// its repeat. Counts are those of the last axes; where there are more than x has axes, it gets axes
// of dimension 1 in front. It panics with ErrValue for a count below 0, and with ErrShape if the
// result would have too many axes or elements.
func (x *Tensor) Tile(counts ...int) *Tensor { return lowered(x.tile(counts...), x) }

// RepeatInterleave returns every element along an axis count times, one after the other, in a
// tensor of its own. It panics with ErrAxis, with ErrValue for a count below 0, and with ErrShape
// if the result would have too many elements. Counts that differ from element to element are those
// of an [Tensor.IndexSelect].
func (x *Tensor) RepeatInterleave(count, axis int) *Tensor {
	return lowered(x.repeatInterleave(count, axis), x)
}

// Roll returns x with the elements of an axis moved on by shift places; those that leave one end
// come in at the other. It panics with ErrAxis.
func (x *Tensor) Roll(shift, axis int) *Tensor { return lowered(x.roll(shift, axis), x) }

// Flip returns x with the elements along the given axes in the opposite order, in a tensor of its
// own: no view runs backwards. It panics with ErrAxis for an axis that x has not, or that is named
// twice.
func (x *Tensor) Flip(axes ...int) *Tensor { return lowered(x.flip(axes...), x) }

// Pad returns x with elements more at the ends of its last axes: widths has, for each of them in
// their order, how many before the first and how many behind the last, {before, behind}. Below 0,
// so many are cut off instead. Where one end is cut and the other padded, PadReflect and
// PadReplicate take elements of the whole axis, PadCircular those of what is left. PyTorch's pad
// does the same, and lists the last axis first. It panics with ErrShape for more widths than axes,
// if more is cut off than there is, or if the result has too many elements; for PadReflect unless
// widths are less than the dimension, for PadCircular unless they are at most what is left of it,
// and for PadReplicate if there is no element; with ErrType if the value is no number of x's type;
// and with ErrValue for another mode, or more than one PadOptions.
func (x *Tensor) Pad(widths [][2]int, opts ...PadOptions) *Tensor {
	return lowered(x.pad(widths, opts...), x)
}

// PixelShuffle makes of channels r² more pixels: x [..., c·r², h, w] becomes [..., c, h·r, w·r], in
// a tensor of its own. It panics with ErrShape for less than three axes and channels that are no
// multiple of r², and with ErrValue for r below 1.
//
// Source: Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient
// Sub-Pixel Convolutional Neural Network", 2016.
func (x *Tensor) PixelShuffle(r int) *Tensor {
	return lowered(composed("PixelShuffle", func() *Tensor { return compose.PixelShuffle(x, r) }, x), x)
}

// PixelUnshuffle undoes [Tensor.PixelShuffle]: x [..., c, h·r, w·r] becomes [..., c·r², h, w]. It
// panics as that does, and with ErrShape for rows or columns that are no multiple of r.
func (x *Tensor) PixelUnshuffle(r int) *Tensor {
	return lowered(composed("PixelUnshuffle", func() *Tensor { return compose.PixelUnshuffle(x, r) }, x), x)
}

// Diff returns the differences of neighbours along an axis, each less the one before, n times over.
// Of Bool it is where neighbours differ. It panics with ErrAxis, and with ErrValue for n below 0.
func (x *Tensor) Diff(n, axis int) *Tensor {
	return lowered(composed("Diff", func() *Tensor { return compose.Diff(x, n, axis) }, x), x)
}
