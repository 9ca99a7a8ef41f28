package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// linewise returns the result of an operation on the lines of inputs along an axis, with its numbers. What has
// every element is of the first input's shape.
func linewise(op string, l *ops.Lines, axis int, numbers []float64, inputs ...*Tensor) *Tensor {
	var y [1]*Tensor
	launchLines(op, l, inputs[0], axis, numbers, inputs, y[:])
	return y[0]
}

func (api) Lines(op string, l *ops.Lines, like *Tensor, axis int, numbers []float64, inputs ...*Tensor) []*Tensor {
	results := make([]*Tensor, len(l.Shape().Results))
	launchLines(op, l, like, axis, numbers, inputs, results)
	return results
}

// launchLines sets results to those of an operation on the lines of inputs along an axis. What has every
// element is of like's shape; what has one for each line is of that without the axis. They are of the type of
// floats that the inputs give.
func launchLines(op string, l *ops.Lines, like *Tensor, axis int, numbers []float64, inputs, results []*Tensor) {
	outer, n, inner := lineOf(op, like, axis)
	d, shape := check(op, inputs...), l.Shape()
	var few [8]contiguousOperand
	operands := few[:0]
	list, some, typ := d.core().list(), false, floatsOf(inputs...)
	args := list.args
	for _, x := range inputs {
		c := x.stored(typ.Computed())
		operands, args = append(operands, c), append(args, c.arg())
	}
	for k, elements := range shape.Results {
		if elements {
			results[k] = alloc(op, d, typ, like.shape)
		} else {
			results[k] = alloc(op, d, typ, like.shapeWithout(axis))
		}
		args = append(args, results[k].arg())
		some = some || results[k].Len() > 0
	}
	if some {
		args = append(args, kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner))
		for _, v := range numbers {
			args = append(args, kernels.FloatArg(v))
		}
		list.launch(d, l.Of(args...).For(n, inner, d.Target()), args)
	}
	for _, c := range operands {
		c.release()
	}
}

// shapeWithout returns the shape without an axis, which may count from the end.
func (t *Tensor) shapeWithout(axis int) []int {
	if len(t.shape) == 0 {
		return nil
	}
	if axis < 0 {
		axis += len(t.shape)
	}
	return append(append(make([]int, 0, len(t.shape)-1), t.shape[:axis]...), t.shape[axis+1:]...)
}

// lineOf returns the shape [outer, n, inner] of t around an axis. A scalar has one, of one element.
func lineOf(op string, t *Tensor, axis int) (outer, n, inner int) {
	check(op, t)
	if scalarAxis(t, axis) {
		return 1, 1, 1
	}
	a := axisOf(op, t, axis)
	return intmath.Product(t.shape[:a]), t.shape[a], intmath.Product(t.shape[a+1:])
}
