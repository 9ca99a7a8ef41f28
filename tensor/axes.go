package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/intmath"
)

func (t *Tensor) squeeze(axes ...int) *Tensor {
	const op = "Squeeze"
	check(op, t)
	drop := make([]bool, max(t.Rank(), 1))
	for _, axis := range axes {
		a := 0
		if !scalarAxis(t, axis) {
			a = axisOf(op, t, axis)
		}
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

func (t *Tensor) unsqueeze(axis int) *Tensor {
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

func (t *Tensor) moveDim(from, to int) *Tensor {
	const op = "MoveDim"
	check(op, t)
	a, b := axisOf(op, t, from), axisOf(op, t, to)
	order := slices.Delete(sequence(0, t.Rank()), a, a+1)
	return t.Transpose(slices.Insert(order, b, a)...)
}

func (t *Tensor) flatten(from, to int) *Tensor {
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

func (t *Tensor) diag(offset int) *Tensor {
	return composed("Diag", func() *Tensor {
		return compose.Diag(t, offset, func(x *Tensor, before, after int) *Tensor { return x.Pad([][2]int{{before, after}}) })
	}, t)
}

func (t *Tensor) diagonal(offset, first, second int) *Tensor {
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

func (t *Tensor) unfold(axis, size, step int) *Tensor {
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
