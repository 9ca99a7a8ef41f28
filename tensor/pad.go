package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
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

func (t *Tensor) pad(widths [][2]int, opts ...PadOptions) *Tensor {
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
	mustFit(op, t.typ, o.Value)
	if len(widths) > t.Rank() {
		misuse(op, ErrShape, fmt.Sprintf("widths of %d axes", len(widths)), t)
	}
	whole := t
	if o.Mode == PadCircular {
		cut := t.cut(op, widths)
		defer cut.Free()
		t, widths = cut, slices.Clone(widths)
		for i, w := range widths {
			widths[i] = [2]int{max(w[0], 0), max(w[1], 0)}
		}
	}
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
			if side > max(limit, 0) {
				misuse(op, ErrShape, fmt.Sprintf("%d elements more at an end of axis %d, of which %d are there", side, a, n), whole)
			}
		}
		t.checkCut(op, a, w)
	}
	return t.padAxes(op, paddedAxes(t.shape, widths, o.Mode), o.Value)
}

// paddedAxes returns the axes of a shape of which the last have such widths.
func paddedAxes(shape []int, widths [][2]int, mode PadMode) []ops.PadAxis {
	axes := wholeAxes(shape)
	kind := [...]ops.PadMode{PadConstant: ops.PadValue, PadReflect: ops.PadReflect, PadReplicate: ops.PadNearest, PadCircular: ops.PadCircular}[mode]
	for i, w := range widths {
		if a := len(shape) - len(widths) + i; w != [2]int{} {
			axes[a] = ops.PadAxis{M: shape[a] + w[0] + w[1], N: shape[a], Before: w[0], Mode: kind}
		}
	}
	return axes
}

func (api) PadGrad(op string, g *Tensor, shape []int, widths [][2]int, mode PadMode) *Tensor {
	d := check(op, g)
	most := math.MaxInt
	if mode == PadReplicate && !d.Target().CPU {
		most = 64 // elements that a work-item of a GPU adds up
	}
	steps := padSteps(op, shape, paddedAxes(shape, widths, mode), most)
	if len(steps) == 0 {
		return g.Copy()
	}
	cur := g.dense(floats(g))
	for _, s := range slices.Backward(steps) {
		y := alloc(op, d, cur.typ, s.from)
		if cur.Len() == 0 {
			y.zero()
		} else if y.Len() > 0 {
			launch(d, ops.PadGrad, padArgs([]kernels.Arg{cur.arg(), y.arg()}, s.axes)...)
		}
		cur.release()
		cur = contiguousOperand{y, true}
	}
	return cur.Tensor
}

// checkCut panics unless the axis has the elements that widths below 0 cut off.
func (t *Tensor) checkCut(op string, axis int, w [2]int) {
	n := t.shape[axis]
	if w[0] < -n || w[1] < -n || n+w[0]+w[1] < 0 {
		misuse(op, ErrShape, fmt.Sprintf("%d and %d elements are cut off from axis %d, which has %d", -min(w[0], 0), -min(w[1], 0), axis, n), t)
	}
}

// cut returns the view of t without what widths below 0 cut off its last axes.
func (t *Tensor) cut(op string, widths [][2]int) *Tensor {
	v := t.View()
	for i, w := range widths {
		a := t.Rank() - len(widths) + i
		t.checkCut(op, a, w)
		whole := v
		v = whole.Slice(a, -min(w[0], 0), t.shape[a]+min(w[1], 0))
		whole.Free()
	}
	return v
}

func (t *Tensor) flip(axes ...int) *Tensor {
	const op = "Flip"
	check(op, t)
	list := wholeAxes(t.shape)
	for _, axis := range axes {
		a := axisOf(op, t, axis)
		if list[a].Mode == ops.PadMirrored {
			misuse(op, ErrAxis, fmt.Sprintf("axis %d is named twice", axis), t)
		}
		list[a].Mode = ops.PadMirrored
	}
	return t.padAxes(op, list, 0)
}

// wholeAxes returns the axes of a shape as they are.
func wholeAxes(shape []int) []ops.PadAxis {
	axes := make([]ops.PadAxis, len(shape))
	for a, n := range shape {
		axes[a] = ops.PadAxis{M: n, N: n}
	}
	return axes
}

// padAxes returns t with its axes changed.
func (t *Tensor) padAxes(op string, axes []ops.PadAxis, value float64) *Tensor {
	shape := make([]int, len(axes))
	for a, axis := range axes {
		shape[a] = axis.M
	}
	checkShape(op, shape)
	steps := padSteps(op, t.shape, axes, math.MaxInt)
	if len(steps) == 0 {
		return t.Copy()
	}
	d := t.Device()
	cur := t.contiguous()
	for _, s := range steps {
		y := alloc(op, d, t.typ, s.to)
		if y.Len() > 0 {
			launch(d, ops.Pad.Of(t.typ), padArgs([]kernels.Arg{cur.arg(), y.arg(), numberOf(t.typ, value)}, s.axes)...)
		}
		cur.release()
		cur = contiguousOperand{y, true}
	}
	return cur.Tensor
}

// padStep is a launch that changes axes of a shape.
type padStep struct {
	from, to []int
	axes     []ops.PadAxis
}

// padSteps returns the launches that change axes of a shape. Neighbours that stay as they are count
// as one: where there are still more than the kernel has, it runs several times. So it does where
// more than so many elements would come from one.
func padSteps(op string, shape []int, axes []ops.PadAxis, most int) (steps []padStep) {
	var changed []int
	for a, axis := range axes {
		if axis != (ops.PadAxis{M: axis.N, N: axis.N}) {
			changed = append(changed, a)
		}
	}
	for len(changed) > 0 {
		s := padStep{from: shape}
		now := len(changed)
		for ; ; now-- {
			more := 1
			for _, a := range changed[:now] {
				more = intmath.Product([]int{more, max(axes[a].M-axes[a].N, 0) + 1})
			}
			if s.axes = joinedAxes(shape, axes, changed[:now]); len(s.axes) <= ops.PadAxes && more <= most || now == 1 {
				break
			}
		}
		shape = slices.Clone(shape)
		for _, a := range changed[:now] {
			shape[a] = axes[a].M
		}
		checkShape(op, shape)
		s.to = shape
		steps, changed = append(steps, s), changed[now:]
	}
	return steps
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

// padArgs appends the numbers of axes to the arguments of a launch.
func padArgs(args []kernels.Arg, axes []ops.PadAxis) []kernels.Arg {
	for a := range ops.PadAxes {
		axis := ops.PadAxis{M: 1, N: 1}
		if missing := ops.PadAxes - len(axes); a >= missing {
			axis = axes[a-missing]
		}
		args = append(args, kernels.IntArg(axis.M), kernels.IntArg(axis.N), kernels.IntArg(axis.Before), kernels.IntArg(int(axis.Mode)))
	}
	return args
}
