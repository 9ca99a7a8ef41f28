package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

// End, as the end of a [Tensor.Slice], is the end of the axis.
const End = math.MaxInt

// Slice returns the view of elements [from, to) along an axis. Numbers below 0 count from the end,
// and to may be [End]:
//
//	t.Slice(0, 2, tensor.End)  // NumPy's t[2:]
//	t.Slice(-1, -3, -1)        // t[..., -3:-1]
//
// The axis may count from the end, too. It panics with ErrAxis, and with ErrIndex unless, counted
// from the start, 0 ≤ from ≤ to ≤ the dimension: NumPy would cut the rest off. For steps see
// [Tensor.Step].
func (t *Tensor) Slice(axis, from, to int) *Tensor {
	const op = "Slice"
	check(op, t)
	a := axisOf(op, t, axis)
	start, end := fromEnd(from, t.shape[a]), fromEnd(to, t.shape[a])
	if start < 0 || end < start || end > t.shape[a] {
		misuse(op, ErrIndex, fmt.Sprintf("[%s, %s) of axis %d", bound(from), bound(to), axis), t)
	}
	shape := slices.Clone(t.shape)
	shape[a] = end - start
	return t.view(shape, t.strides, t.skip(shape, a, start))
}

// fromEnd resolves an index that may count from the end of n elements.
func fromEnd(i, n int) int {
	switch {
	case i == End:
		return n
	case i < 0:
		return i + n
	}
	return i
}

// bound spells a bound of a slice.
func bound(i int) string {
	if i == End {
		return "End"
	}
	return fmt.Sprint(i)
}

// skip returns the offset of a view of the given shape that starts at index i of axis a. A view
// without elements has no place: its offset could lie past the storage.
func (t *Tensor) skip(shape []int, a, i int) int {
	if intmath.Product(shape) == 0 {
		return t.off
	}
	return t.off + i*t.strides[a]
}

// Step returns the view of every step-th element along an axis, which may count from the end,
// beginning with the first: NumPy's t[::step]. After [Tensor.Slice] it is t[from:to:step]. It
// panics with ErrAxis, and with ErrValue for a step below 1: the elements of a view lie forward
// from its first, as kernels read them, so none runs backwards.
func (t *Tensor) Step(axis, step int) *Tensor {
	const op = "Step"
	check(op, t)
	a := axisOf(op, t, axis)
	if step < 1 {
		misuse(op, ErrValue, fmt.Sprintf("a step of %d: it is 1 or more, as no view runs backwards", step), t)
	}
	shape, strides := slices.Clone(t.shape), slices.Clone(t.strides)
	if n := shape[a]; n > 0 {
		shape[a] = (n-1)/step + 1
	}
	if shape[a] > 1 { // a single element has no next, and the step to it might be no int
		strides[a] *= step
	}
	return t.view(shape, strides, t.off)
}

// Select returns the view of the elements with one index along an axis, which disappears: NumPy's
// t[i] for axis 0. Axis and index may count from the end. It panics with ErrAxis, and with ErrIndex
// for an index past either end.
func (t *Tensor) Select(axis, index int) *Tensor {
	const op = "Select"
	check(op, t)
	a := axisOf(op, t, axis)
	i := fromEnd(index, t.shape[a])
	if i < 0 || i >= t.shape[a] {
		misuse(op, ErrIndex, fmt.Sprintf("index %s of axis %d", bound(index), axis), t)
	}
	shape := slices.Delete(slices.Clone(t.shape), a, a+1)
	strides := slices.Delete(slices.Clone(t.strides), a, a+1)
	return t.view(shape, strides, t.skip(shape, a, i))
}
