package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// PadMode says what [Tensor.Pad] puts around a tensor.
type PadMode uint8

// The modes, for an axis of 1 2 3 with 2 elements more at each end.
const (
	PadConstant  PadMode = iota // 0 0 1 2 3 0 0: PadOptions.Value
	PadReflect                  // 3 2 1 2 3 2 1: mirrored in the first and last element
	PadReplicate                // 1 1 1 2 3 3 3: the nearest element
	PadCircular                 // 2 3 1 2 3 1 2: the axis again
)

// PadOptions is what may be said to [Tensor.Pad].
type PadOptions struct {
	Mode  PadMode // PadConstant if nothing is said
	Value float64 // what PadConstant puts there
}

// Pad returns t with elements more at the ends of its last axes: widths has, for each of them in their order, how many
// before the first and how many behind the last, {before, behind}. Below 0, so many are cut off instead. PyTorch's pad lists
// the last axis first. It panics with ErrShape for more widths than axes, if more is cut off than there is, or if the result
// has too many elements; for PadReflect unless widths are less than the dimension, for PadCircular unless they are at most
// that, and for PadReplicate if there is no element; with ErrType if the value is no number of t's type; and with ErrValue
// for another mode, or more than one PadOptions.
func (t *Tensor) Pad(widths [][2]int, opts ...PadOptions) *Tensor {
	const op = "Pad"
	check(op, t)
	var o PadOptions
	switch {
	case len(opts) > 1:
		misuse(op, ErrValue, "pass one PadOptions", t)
	case len(opts) == 1:
		o = opts[0]
	}
	if o.Mode > PadCircular {
		misuse(op, ErrValue, fmt.Sprintf("there is no mode %d: see PadConstant", o.Mode), t)
	}
	t.typ.must(op, o.Value)
	if len(widths) > t.Rank() {
		misuse(op, ErrShape, fmt.Sprintf("widths of %d axes", len(widths)), t)
	}
	mode := [...]ops.PadMode{PadConstant: ops.PadValue, PadReflect: ops.PadReflect, PadReplicate: ops.PadNearest, PadCircular: ops.PadCircular}[o.Mode]
	axes := t.whole()
	for i, w := range widths {
		a := t.Rank() - len(widths) + i
		n, limit := t.shape[a], math.MaxInt32
		switch {
		case o.Mode == PadReflect:
			limit = n - 1
		case o.Mode == PadCircular:
			limit = n
		case o.Mode == PadReplicate && n == 0:
			limit = 0
		}
		for _, side := range w {
			if side > max(limit, 0) || side < -n {
				misuse(op, ErrShape, fmt.Sprintf("%d elements at an end of axis %d, which has %d", side, a, n), t)
			}
		}
		if n+w[0]+w[1] < 0 {
			misuse(op, ErrShape, fmt.Sprintf("%d and %d elements are cut off from axis %d, which has %d", -w[0], -w[1], a, n), t)
		}
		if w != [2]int{} {
			axes[a] = ops.PadAxis{M: n + w[0] + w[1], N: n, Before: w[0], Mode: mode}
		}
	}
	return t.pad(op, axes, o.Value)
}

// Flip returns t with the elements along the given axes in the opposite order, in a tensor of its own: no view runs
// backwards. It panics with ErrAxis for an axis that t has not, or that is named twice.
func (t *Tensor) Flip(axes ...int) *Tensor {
	const op = "Flip"
	check(op, t)
	list := t.whole()
	for _, axis := range axes {
		a := axisOf(op, t, axis)
		if list[a].Mode == ops.PadMirrored {
			misuse(op, ErrAxis, fmt.Sprintf("axis %d is named twice", axis), t)
		}
		list[a].Mode = ops.PadMirrored
	}
	return t.pad(op, list, 0)
}

// whole returns the axes of t as they are.
func (t *Tensor) whole() []ops.PadAxis {
	axes := make([]ops.PadAxis, t.Rank())
	for a, n := range t.shape {
		axes[a] = ops.PadAxis{M: n, N: n}
	}
	return axes
}

// pad returns t with its axes changed. Neighbours that stay as they are count as one: where there are still more than the
// kernel has, it runs several times.
func (t *Tensor) pad(op string, axes []ops.PadAxis, value float64) *Tensor {
	shape := make([]int, len(axes))
	var changed []int
	for a, axis := range axes {
		shape[a] = axis.M
		if axis != (ops.PadAxis{M: axis.N, N: axis.N}) {
			changed = append(changed, a)
		}
	}
	checkShape(op, shape)
	if len(changed) == 0 {
		return t.Copy()
	}
	d := t.Device()
	cur := t.contiguous()
	for len(changed) > 0 {
		var list []ops.PadAxis
		now := len(changed)
		for ; ; now-- {
			if list = joinedAxes(cur.shape, axes, changed[:now]); len(list) <= ops.PadAxes {
				break
			}
		}
		next := slices.Clone(cur.shape)
		for _, a := range changed[:now] {
			next[a] = axes[a].M
		}
		checkShape(op, next)
		y := allocOf(op, d, t.typ, next)
		if y.Len() > 0 {
			launchPad(y, cur.Tensor, list, value)
		}
		cur.done()
		cur = operand{y, true}
		changed = changed[now:]
	}
	return cur.Tensor
}

// joinedAxes returns the axes of a shape of which some change, and neighbours that do not are one.
func joinedAxes(shape []int, axes []ops.PadAxis, changed []int) (list []ops.PadAxis) {
	joins := false
	for a, n := range shape {
		switch {
		case slices.Contains(changed, a):
			list, joins = append(list, axes[a]), false
		case joins:
			last := &list[len(list)-1]
			last.M, last.N = last.M*n, last.N*n
		default:
			list, joins = append(list, ops.PadAxis{M: n, N: n}), true
		}
	}
	return list
}

func launchPad(y, x *Tensor, axes []ops.PadAxis, value float64) {
	d := y.Device()
	var args [3 + 4*ops.PadAxes]kernels.Arg
	args[0], args[1], args[2] = x.arg(), y.arg(), y.typ.number(value)
	missing := ops.PadAxes - len(axes)
	for a := range ops.PadAxes {
		axis := ops.PadAxis{M: 1, N: 1}
		if a >= missing {
			axis = axes[a-missing]
		}
		at := 3 + 4*a
		args[at], args[at+1], args[at+2], args[at+3] = kernels.I(axis.M), kernels.I(axis.N), kernels.I(axis.Before), kernels.I(int(axis.Mode))
	}
	launch(d, ops.Pad.Of(y.typ.On(d)), args[:]...)
}
