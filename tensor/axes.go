package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

// Squeeze returns a view without the given axes, as far as they are of dimension 1; without every
// axis of dimension 1 if none is given. As in PyTorch, an axis of another dimension stays. It
// panics with ErrAxis for an axis that t has not, or that is named twice.
func (t *Tensor) Squeeze(axes ...int) *Tensor {
	const op = "Squeeze"
	check(op, t)
	drop := make([]bool, t.Rank())
	for _, axis := range axes {
		a := axisOf(op, t, axis)
		if drop[a] {
			misuse(op, ErrAxis, fmt.Sprintf("axis %d is named twice", axis), t)
		}
		drop[a] = true
	}
	shape, strides := []int{}, []int{}
	for a, n := range t.shape {
		if n == 1 && (drop[a] || len(axes) == 0) {
			continue
		}
		shape, strides = append(shape, n), append(strides, t.strides[a])
	}
	return t.view(shape, strides, t.off)
}

// Unsqueeze returns a view with an axis of dimension 1 more, which gets the given place among the
// axes of the result. It panics with ErrAxis for a place that there is not, and with ErrShape if t
// has [MaxRank] axes.
func (t *Tensor) Unsqueeze(axis int) *Tensor {
	const op = "Unsqueeze"
	check(op, t)
	a := placeOf(op, t, axis)
	stride := 1
	if a < t.Rank() {
		stride = t.strides[a] * max(t.shape[a], 1)
	}
	return t.view(slices.Insert(slices.Clone(t.shape), a, 1), slices.Insert(slices.Clone(t.strides), a, stride), t.off)
}

// placeOf resolves the place of an axis that op adds to those of t.
func placeOf(op string, t *Tensor, axis int) int {
	a := axis
	if a < 0 {
		a += t.Rank() + 1
	}
	if a < 0 || a > t.Rank() {
		misuse(op, ErrAxis, fmt.Sprintf("axis %d of a result of rank %d", axis, t.Rank()+1), t)
	}
	if t.Rank() == MaxRank {
		misuse(op, ErrShape, fmt.Sprintf("there is no room for another axis: a tensor has %d at most", MaxRank), t)
	}
	return a
}

// MoveDim returns a view with axis from in place to, and the others in their order. Several are
// moved by [Tensor.Transpose]. It panics with ErrAxis.
func (t *Tensor) MoveDim(from, to int) *Tensor {
	const op = "MoveDim"
	check(op, t)
	a, b := axisOf(op, t, from), axisOf(op, t, to)
	order := slices.Delete(sequence(0, t.Rank()), a, a+1)
	return t.Transpose(slices.Insert(order, b, a)...)
}

// Flatten returns t with the axes from the first given to the last given joined to one; all with
// Flatten(0, −1). A scalar becomes a vector of one element. It shares t's storage where
// [Tensor.Reshape] does. It panics with ErrAxis for axes that t has not, or that are not in order.
func (t *Tensor) Flatten(from, to int) *Tensor {
	const op = "Flatten"
	check(op, t)
	if t.Rank() == 0 && (from == 0 || from == -1) && (to == 0 || to == -1) {
		return t.Reshape(1)
	}
	a, b := axisOf(op, t, from), axisOf(op, t, to)
	if a > b {
		misuse(op, ErrAxis, fmt.Sprintf("axis %d is behind axis %d", from, to), t)
	}
	joined := intmath.Product(t.shape[a : b+1])
	return t.Reshape(slices.Replace(slices.Clone(t.shape), a, b+1, joined)...)
}

// Diagonal returns a view of the diagonals of the matrices that two axes make: of the elements
// whose index along the second is that along the first plus offset. The two axes disappear, and the
// diagonal is the last one. It panics with ErrAxis for axes that t has not, or that are the same.
func (t *Tensor) Diagonal(offset, first, second int) *Tensor {
	const op = "Diagonal"
	check(op, t)
	a, b := axisOf(op, t, first), axisOf(op, t, second)
	if a == b {
		misuse(op, ErrAxis, "a diagonal is of two axes", t)
	}
	row, col := 0, 0 // where it begins
	if offset < 0 {
		row = -max(offset, -t.shape[a])
	} else {
		col = min(offset, t.shape[b])
	}
	n := max(0, min(t.shape[a]-row, t.shape[b]-col))
	shape, strides := []int{}, []int{}
	for axis, dim := range t.shape {
		if axis != a && axis != b {
			shape, strides = append(shape, dim), append(strides, t.strides[axis])
		}
	}
	shape, strides = append(shape, n), append(strides, t.strides[a]+t.strides[b])
	off := t.off
	if intmath.Product(shape) > 0 {
		off += row*t.strides[a] + col*t.strides[b]
	}
	return t.view(shape, strides, off)
}

// Unfold returns the view of all windows of neighbours along an axis: of size elements each, every
// window beginning step elements after the one before. The axis counts the windows, ⌊(n −
// size)/step⌋ + 1 of them, and a new last axis the elements of each. Windows share elements where
// step is less than size, and no operation writes through such a view. It panics with ErrAxis, with
// ErrValue for a step below 1, and with ErrShape for a size that is negative or larger than the
// dimension, or if the result would have too many axes or elements.
func (t *Tensor) Unfold(axis, size, step int) *Tensor {
	const op = "Unfold"
	check(op, t)
	a := axisOf(op, t, axis)
	if step < 1 {
		misuse(op, ErrValue, fmt.Sprintf("a step of %d: it is 1 or more", step), t)
	}
	if size < 0 || size > t.shape[a] {
		misuse(op, ErrShape, fmt.Sprintf("a window of %d along axis %d, which has %d", size, axis, t.shape[a]), t)
	}
	shape, strides := slices.Clone(t.shape), slices.Clone(t.strides)
	shape[a] = (shape[a]-size)/step + 1
	if shape[a] > 1 { // a single window has no next, and the step to it might be no int
		strides[a] *= step
	}
	shape, strides = append(shape, size), append(strides, t.strides[a])
	checkShape(op, shape)
	return t.view(shape, strides, t.off)
}
