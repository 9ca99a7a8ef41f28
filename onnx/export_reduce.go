package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// exportReductions are sums and others over axes, and what sorts along one.
var exportReductions = map[string]func(c *exportCall) []string{
	"Sum":       func(c *exportCall) []string { return c.reduced("ReduceSum", 1) },
	"Mean":      func(c *exportCall) []string { return c.reduced("ReduceMean", 1) },
	"Max":       func(c *exportCall) []string { return c.reduced("ReduceMax", 1) },
	"Min":       func(c *exportCall) []string { return c.reduced("ReduceMin", 1) },
	"Prod":      func(c *exportCall) []string { return c.reduced("ReduceProd", 1) },
	"LogSumExp": func(c *exportCall) []string { return c.reduced("ReduceLogSumExp", 1) },
	"SumTo": func(c *exportCall) []string {
		from, to := c.shape(0), shapeOf(c.result(0))
		var axes []int
		more := len(from) - len(to)
		for axis, s := range from {
			if axis < more || !s.equals(to[axis-more]) {
				axes = append(axes, axis)
			}
		}
		x := c.as(0, c.typ())
		if axes == nil {
			return []string{c.e.op("Identity", []string{x})}
		}
		return []string{c.e.squeeze(c.e.reduce("ReduceSum", x, axes, true), sequence(more)...)}
	},
	"Norm": func(c *exportCall) []string {
		p := c.runs[0].Args[1].(float64)
		axes, keep := c.axes(2)
		x := c.as(0, wideType(c.typ()))
		y := ""
		switch {
		case p == 1:
			y = c.e.reduce("ReduceL1", x, axes, keep)
		case p == 2:
			y = c.e.reduce("ReduceL2", x, axes, keep)
		case math.IsInf(p, 1):
			y = c.e.reduce("ReduceMax", c.e.op("Abs", []string{x}), axes, keep)
		case math.IsInf(p, -1):
			y = c.e.reduce("ReduceMin", c.e.op("Abs", []string{x}), axes, keep)
		case p == 0:
			some := c.e.op("Not", []string{c.e.op("Equal", []string{x, c.e.scalar(wideType(c.typ()), 0)})})
			y = c.e.reduce("ReduceSum", c.e.cast(some, tensor.Bool, wideType(c.typ())), axes, keep)
		default:
			power := c.e.op("Pow", []string{c.e.op("Abs", []string{x}), c.e.scalar(wideType(c.typ()), p)})
			y = c.e.op("Pow", []string{c.e.reduce("ReduceSum", power, axes, keep), c.e.scalar(wideType(c.typ()), 1/p)})
		}
		return []string{c.e.cast(y, wideType(c.typ()), c.typ())}
	},
	"Var": func(c *exportCall) []string { return []string{c.variance(false)} },
	"Std": func(c *exportCall) []string { return []string{c.variance(true)} },

	"MaxWithIndex": func(c *exportCall) []string { return c.withIndex("ReduceMax", "ArgMax") },
	"MinWithIndex": func(c *exportCall) []string { return c.withIndex("ReduceMin", "ArgMin") },
	"ArgMax":       func(c *exportCall) []string { return []string{c.argument("ArgMax")} },
	"ArgMin":       func(c *exportCall) []string { return []string{c.argument("ArgMin")} },

	"CumSum": func(c *exportCall) []string {
		x, axis := c.as(0, c.typ()), arg[int](c, 1)
		if c.rank(0) == 0 {
			return []string{c.e.op("Identity", []string{x})}
		}
		return []string{c.e.op("CumSum", []string{x, c.e.scalar(tensor.Int64, float64(axis))})}
	},
	"Sort": func(c *exportCall) []string {
		o := argOptions[tensor.SortOptions](c, 2)
		return c.top(c.axis(1, c.rank(0)), c.lengthOf(c.axis(1, c.rank(0))), o.Descending)
	},
	"ArgSort": func(c *exportCall) []string {
		o := argOptions[tensor.SortOptions](c, 2)
		return c.top(c.axis(1, c.rank(0)), c.lengthOf(c.axis(1, c.rank(0))), o.Descending)[1:]
	},
	"TopK": func(c *exportCall) []string {
		o := argOptions[tensor.TopKOptions](c, 3)
		return c.top(c.axis(2, c.rank(0)), c.e.list(arg[int](c, 1)), !o.Smallest)
	},
	"KeepTopK": func(c *exportCall) []string {
		axis := c.axis(2, c.rank(0))
		top := c.top(axis, c.e.list(arg[int](c, 1)), true)
		zeros := c.e.op("Expand", []string{c.e.scalar(c.typ(), 0), c.e.shape(c.shape(0), []value{c.value(0)})})
		return []string{c.e.op("ScatterElements", []string{zeros, top[1], top[0]}, integer("axis", axis))}
	},
	"Median": func(c *exportCall) []string {
		axes, keep := c.axes(1)
		x, axis, whole := c.joined(axes)
		k := (fixedSize(c.e.product(whole...)) + 1) / 2
		top := c.e.ops("TopK", 2, []string{x, c.e.list(k)}, integer("axis", axis), integer("largest", 0))
		for i, y := range top {
			y = c.e.slice(y, axis, c.e.list(-1), c.e.list(math.MaxInt), 1)
			top[i] = c.reshapedAs(i, c.e.squeeze(y, axis), keep)
		}
		return top
	},
	"CountNonzero": func(c *exportCall) []string {
		axes, keep := c.axes(1)
		return []string{c.e.cast(c.e.reduce("ReduceSum", c.e.cast(c.nonzero(), tensor.Bool, tensor.Int64), axes, keep),
			tensor.Int64, c.typ())}
	},
	"Any": func(c *exportCall) []string { return []string{c.e.cast(c.some(c.nonzero()), tensor.Bool, c.typ())} },
	"All": func(c *exportCall) []string {
		zero := c.some(c.e.op("Not", []string{c.nonzero()}))
		return []string{c.e.cast(c.e.op("Not", []string{zero}), tensor.Bool, c.typ())}
	},
}

// axes returns argument i, axes from the front in order, all if none is named, and whether they stay at 1.
func (c *exportCall) axes(i int) (axes []int, keep bool) {
	for _, a := range argInts(c, i) {
		if a == tensor.Keepdims {
			keep = true
			continue
		}
		axes = append(axes, fromFront(a, c.rank(0)))
	}
	if axes == nil {
		axes = sequence(c.rank(0))
	}
	if c.rank(0) == 0 {
		axes = nil
	}
	slices.Sort(axes)
	return axes, keep
}

// reduced writes a reduction over the axes in argument i.
func (c *exportCall) reduced(op string, i int) []string {
	axes, keep := c.axes(i)
	typ := c.typ()
	if typ.Integer() {
		typ = computed(typ)
	}
	return []string{c.e.cast(c.e.reduce(op, c.as(0, typ), axes, keep), typ, c.typ())}
}

// reduce returns a reduction over axes: over none it changes nothing, but for the logarithm of one exponential.
func (e *exporter) reduce(op, x string, axes []int, keep bool) string {
	if len(axes) == 0 {
		if op == "ReduceL1" || op == "ReduceL2" {
			return e.op("Abs", []string{x})
		}
		return e.op("Identity", []string{x})
	}
	if op == "ReduceSum" || e.options.Opset >= 18 {
		return e.op(op, []string{x, e.list(axes...)}, boolean("keepdims", keep))
	}
	return e.op(op, []string{x}, ints("axes", axes...), boolean("keepdims", keep))
}

// variance writes Var, or its root.
func (c *exportCall) variance(root bool) string {
	correction := arg[int](c, 1)
	axes, keep := c.axes(2)
	typ := wideType(c.typ())
	x := c.as(0, typ)
	d := c.e.op("Sub", []string{x, c.e.reduce("ReduceMean", x, axes, true)})
	var sizes []size
	for _, a := range axes {
		sizes = append(sizes, c.shape(0)[a])
	}
	n := c.e.product(sizes...)
	for r := range n {
		n[r] = max(n[r]-correction, 0)
	}
	y := c.e.op("Div", []string{c.e.reduce("ReduceSum", c.e.op("Mul", []string{d, d}), axes, keep),
		c.e.numberOf(n, typ, c.value(0))})
	if root {
		y = c.e.op("Sqrt", []string{y})
	}
	return c.e.cast(y, typ, c.typ())
}

// joined returns argument 0 with axes made one, the last, which axis is.
func (c *exportCall) joined(axes []int) (x string, axis int, whole []size) {
	shape := c.shape(0)
	for _, a := range axes {
		whole = append(whole, shape[a])
	}
	if len(axes) == 1 {
		return c.in(0), axes[0], whole
	}
	x, rest := c.e.behind(c.in(0), shape, axes...)
	return c.e.reshape(x, append(slices.Clone(rest), whole...), append(slices.Clone(rest), c.e.product(whole...)),
		c.value(0)), len(rest), whole
}

// reshapedAs returns a value, of the shape without the reduced axes, as result i.
func (c *exportCall) reshapedAs(i int, name string, keep bool) string {
	if !keep {
		return name
	}
	return c.e.reshape(name, nil, shapeOf(c.result(i)), c.value(0))
}

// argument writes ArgMax or ArgMin.
func (c *exportCall) argument(op string) string {
	axes, keep := c.axes(1)
	x, axis, _ := c.joined(axes)
	at := c.e.op(op, []string{x}, integer("axis", axis), integer("keepdims", 0))
	return c.reshapedAs(len(c.runs[0].Results)-1, at, keep)
}

func (c *exportCall) withIndex(op, argument string) []string {
	axes, keep := c.axes(1)
	return []string{c.e.reduce(op, c.in(0), axes, keep), c.argument(argument)}
}

// lengthOf returns the size of an axis of argument 0 as a vector of one element.
func (c *exportCall) lengthOf(axis int) string {
	if c.rank(0) == 0 {
		return c.e.list(1)
	}
	return c.e.size(c.shape(0)[axis], []value{c.value(0)})
}

// top writes the greatest or least elements of an axis, in order, and their indices.
func (c *exportCall) top(axis int, k string, largest bool) []string {
	x := c.as(0, c.valueType())
	if c.rank(0) == 0 {
		x = c.e.unsqueeze(x, 0)
	}
	out := c.e.ops("TopK", 2, []string{x, k}, integer("axis", axis), boolean("largest", largest))
	if c.rank(0) == 0 {
		out[0], out[1] = c.e.squeeze(out[0], 0), c.e.squeeze(out[1], 0)
	}
	return out
}

// valueType returns the type of a result's values, or of argument 0 where indices are all that is asked for.
func (c *exportCall) valueType() tensor.Type {
	if len(c.runs[0].Results) == 1 && c.typ() == tensor.Int64 {
		return typeIn(c.value(0))
	}
	return c.typ()
}

// nonzero returns where argument 0 is not 0, a value of Bool.
func (c *exportCall) nonzero() string {
	typ := typeIn(c.value(0))
	if typ == tensor.Bool {
		return c.in(0)
	}
	work := computed(typ)
	return c.e.op("Not", []string{c.e.op("Equal", []string{c.as(0, work), c.e.scalar(work, 0)})})
}

// some returns whether a bit is set along the axes of argument 1.
func (c *exportCall) some(bits string) string {
	axes, keep := c.axes(1)
	n := c.e.reduce("ReduceSum", c.e.cast(bits, tensor.Bool, tensor.Int64), axes, keep)
	return c.e.op("Greater", []string{n, c.e.scalar(tensor.Int64, 0)})
}
