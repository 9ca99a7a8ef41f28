package tensor

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

// axisView is a contiguous tensor as [outer, n, inner]: what an operation along the middle axis
// works on.
type axisView struct {
	contiguousOperand
	outer, n, inner int
}

// asOuterNInner returns t, as a type, with sorted axes brought together: they are the middle axis,
// n elements in row-major order. Call release after the launch.
func (t *Tensor) asOuterNInner(typ Type, axes []int) axisView {
	c := t.as(typ)
	if len(axes) == 0 {
		return axisView{c.packed(), t.Len(), 1, 1}
	}
	first, last := axes[0], axes[len(axes)-1]
	if last-first+1 == len(axes) {
		return axisView{c.packed(), intmath.Product(t.shape[:first]), intmath.Product(t.shape[first : last+1]), intmath.Product(t.shape[last+1:])}
	}
	order, outer, n := []int{}, 1, 1
	for a, d := range t.shape {
		if slices.Contains(axes, a) {
			n = intmath.Product([]int{n, d})
		} else {
			order = append(order, a)
			outer = intmath.Product([]int{outer, d})
		}
	}
	moved := c.Transpose(append(order, axes...)...)
	defer moved.Free()
	defer c.release()
	return axisView{contiguousOperand{moved.Copy(), true}, outer, n, 1}
}

// packed returns a contiguous operand: itself, or a copy.
func (o contiguousOperand) packed() contiguousOperand {
	if o.IsContiguous() {
		return o
	}
	defer o.release()
	return contiguousOperand{o.Copy(), true}
}

// without returns t's shape without sorted axes.
func (t *Tensor) without(axes []int) []int {
	shape := []int{}
	for a, d := range t.shape {
		if !slices.Contains(axes, a) {
			shape = append(shape, d)
		}
	}
	return shape
}

// shaped gives y, the result of a reduction of t over sorted axes that nobody else has seen, its
// shape.
func (t *Tensor) shaped(y *Tensor, axes []int, keep bool) *Tensor {
	if keep {
		return t.keepDims(y, axes)
	}
	return y.reshaped(t.without(axes))
}

// mustHave panics with ErrShape if there is an axis without elements among those of a reduction
// that has no result then.
func (t *Tensor) mustHave(op string, axes []int) {
	for _, a := range axes {
		if t.shape[a] == 0 {
			misuse(op, ErrShape, "of no elements there is none", t)
		}
	}
}
