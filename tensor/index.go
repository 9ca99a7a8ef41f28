package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

// End, as the end of a [Tensor.Slice], is the end of the axis.
const End = math.MaxInt

func (t *Tensor) slice(axis, from, to int) *Tensor {
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

func (t *Tensor) step(axis, step int) *Tensor {
	const op = "Step"
	check(op, t)
	a := axisOf(op, t, axis)
	if step == 0 || step == math.MinInt {
		misuse(op, ErrValue, fmt.Sprintf("a step of %d", step), t)
	}
	if step < 0 {
		y := t.flip(axis)
		defer y.Free()
		return y.step(axis, -step)
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

func (t *Tensor) selectIndex(axis, index int) *Tensor {
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
