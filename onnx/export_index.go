package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// exportIndices are operations that take or put elements by their indices.
var exportIndices = map[string]func(c *exportCall) []string{
	"GatherRows": func(c *exportCall) []string { return c.gathered(0, c.value(1)) },
	"Embedding":  func(c *exportCall) []string { return c.gathered(0, c.value(1)) },
	"IndexSelect": func(c *exportCall) []string {
		if c.rank(0) == 0 {
			fail("the operand is a scalar")
		}
		return c.gathered(c.axis(1, c.rank(0)), c.value(2))
	},
	"Gather": func(c *exportCall) []string {
		if c.rank(0) == 0 {
			return exportIdentity(c)
		}
		return []string{c.e.op("GatherElements", []string{c.in(0), c.e.index(c.value(2))},
			integer("axis", c.axis(1, c.rank(0))))}
	},
	"Scatter":    func(c *exportCall) []string { return []string{c.scatter(c.first(), "none")} },
	"ScatterAdd": func(c *exportCall) []string { return []string{c.scatter(c.first(), "add")} },
	"ScatterReduce": func(c *exportCall) []string {
		how, src := arg[tensor.ScatterReduction](c, 4), c.first()
		if argOptions[tensor.ScatterOptions](c, 5).ExcludeSelf || how == tensor.ScatterMean {
			return []string{c.scatterWithout(src, how)}
		}
		return []string{c.scatter(src, scatterReductions[how])}
	},
	"IndexAdd": func(c *exportCall) []string {
		src := c.as(3, c.typ())
		return []string{c.scatterAt(c.as(0, c.typ()), c.spreadIndex(c.shape(3)), src, "add")}
	},
	"IndexCopy": func(c *exportCall) []string {
		return []string{c.scatterAt(c.as(0, c.typ()), c.spreadIndex(c.shape(3)), c.as(3, c.typ()), "none")}
	},
	"IndexFill": func(c *exportCall) []string {
		if c.rank(0) == 0 {
			fail("the operand is a scalar")
		}
		shape := c.shape(0)
		n := c.value(2)
		shape[c.axis(1, c.rank(0))] = c.e.product(shapeOf(n)...)
		src := c.e.op("Expand", []string{c.e.scalar(c.typ(), c.runs[0].Args[3].(float64)),
			c.e.shape(shape, []value{c.value(0), n})})
		return []string{c.scatterAt(c.as(0, c.typ()), c.spreadIndex(shape), src, "none")}
	},
	"Index":    func(c *exportCall) []string { return []string{c.indexed()} },
	"IndexPut": func(c *exportCall) []string { return []string{c.put()} },
	"MaskedSelect": func(c *exportCall) []string {
		x, mask := c.value(0), c.value(1)
		shape := broadcast(shapeOf(x), shapeOf(mask))
		to := c.e.shape(shape, []value{x, mask})
		bits := c.e.cast(c.e.name(mask), typeIn(mask), tensor.Bool)
		flat := c.e.op("Reshape", []string{c.e.op("Expand", []string{bits, to}), c.e.list(-1)})
		return []string{c.e.op("Compress", []string{c.e.op("Expand", []string{c.in(0), to}), flat})}
	},
}

// broadcast returns the shape that two broadcast to.
func broadcast(a, b []size) []size {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape := slices.Clone(a)
	for i, s := range b {
		at := len(a) - len(b) + i
		if s.fixed() && s[0] == 1 {
			continue
		}
		if shape[at].fixed() && shape[at][0] == 1 {
			shape[at] = s
		}
	}
	return shape
}

// scatterReductions are the words of the specification.
var scatterReductions = map[tensor.ScatterReduction]string{tensor.ScatterSum: "add", tensor.ScatterProd: "mul",
	tensor.ScatterMax: "max", tensor.ScatterMin: "min"}

// index returns the name of indices, of a type that runtimes take.
func (e *exporter) index(v value) string {
	typ := typeIn(v)
	switch typ {
	case tensor.Bool:
		fail("its index is a mask: see MaskedSelect")
	case tensor.Int32, tensor.Int64:
		return e.name(v)
	}
	return e.cast(e.name(v), typ, tensor.Int64)
}

// gathered writes the parts of argument 0 that an index names.
func (c *exportCall) gathered(axis int, index value) []string {
	return []string{c.e.op("Gather", []string{c.in(0), c.e.index(index)}, integer("axis", axis))}
}

// first returns the elements of argument 3 that argument 2, the index, has places for.
func (c *exportCall) first() string {
	src, index := c.shape(3), c.shape(2)
	x := c.as(3, c.typ())
	for axis, s := range index {
		if !s.equals(src[axis]) {
			x = c.e.slice(x, axis, c.e.list(0), c.e.size(s, []value{c.value(2)}), 1)
		}
	}
	return x
}

// scatter writes argument 0 with elements put to the index of argument 2.
func (c *exportCall) scatter(src, how string) string {
	if c.rank(0) == 0 {
		fail("the operand is a scalar")
	}
	return c.scatterAt(c.as(0, c.typ()), c.e.index(c.value(2)), src, how)
}

// scatterAt writes x with elements put to an index along the axis of argument 1.
func (c *exportCall) scatterAt(x, index, src, how string) string {
	if (how == "max" || how == "min") && c.e.options.Opset < 18 {
		fail("opset 18 has the reduction %s", how)
	}
	axis := integer("axis", c.axis(1, c.rank(0)))
	if how == "none" {
		return c.e.op("ScatterElements", []string{x, index, src}, axis)
	}
	return c.e.op("ScatterElements", []string{x, index, src}, axis, word("reduction", how))
}

// scatterWithout writes a reduction whose own elements do not count, or a mean.
func (c *exportCall) scatterWithout(src string, how tensor.ScatterReduction) string {
	typ := c.typ()
	exclude := argOptions[tensor.ScatterOptions](c, 5).ExcludeSelf
	index, to := c.e.index(c.value(2)), c.e.shape(c.shape(2), []value{c.value(2)})
	fill := func(v float64) string { return c.e.op("Expand", []string{c.e.scalar(typ, v), to}) }
	x := c.as(0, typ)
	if exclude {
		neutral := map[tensor.ScatterReduction]float64{tensor.ScatterProd: 1, tensor.ScatterMax: math.Inf(-1),
			tensor.ScatterMin: math.Inf(1)}[how]
		x = c.scatterAt(x, index, fill(neutral), "none")
	}
	if how != tensor.ScatterMean {
		return c.scatterAt(x, index, src, scatterReductions[how])
	}
	if typ.Integer() {
		fail("means of integers")
	}
	counts := c.e.op("Expand", []string{c.e.scalar(typ, 1), c.e.shape(c.shape(0), []value{c.value(0)})})
	if exclude {
		counts = c.scatterAt(counts, index, fill(0), "none")
	}
	counts = c.scatterAt(counts, index, fill(1), "add")
	one := c.e.scalar(typ, 1)
	return c.e.op("Div", []string{c.scatterAt(x, index, src, "add"), c.e.op("Max", []string{counts, one})})
}

// spreadIndex returns argument 2, indices along the axis of argument 1, as those of every element of a shape.
func (c *exportCall) spreadIndex(shape []size) string {
	if c.rank(0) == 0 {
		fail("the operand is a scalar")
	}
	axis := c.axis(1, c.rank(0))
	line := slices.Repeat([]int{1}, len(shape))
	line[axis] = -1
	x := c.e.op("Reshape", []string{c.e.index(c.value(2)), c.e.list(line...)})
	return c.e.op("Expand", []string{x, c.e.shape(shape, []value{c.value(0)})})
}

// indices returns the axes that have an index in argument 1, all indices as one tensor with those of an element on its
// last axis, and the shape of the indices.
func (c *exportCall) indices() (axes []int, index string, shape []size) {
	var given []value
	for axis, v := range listOf[*tensor.Tensor](c, 1) {
		if v.absent() {
			continue
		}
		axes, given = append(axes, axis), append(given, v)
		if len(given) == 1 {
			shape = shapeOf(v)
		} else {
			shape = broadcast(shape, shapeOf(v))
		}
	}
	to := c.e.shape(shape, given)
	var parts []string
	for _, v := range given {
		x := c.e.cast(c.e.index(v), typeIn(v), tensor.Int64)
		if typ := typeIn(v); typ != tensor.Int32 && typ != tensor.Int64 { // which index has converted
			x = c.e.index(v)
		}
		parts = append(parts, c.e.unsqueeze(c.e.op("Expand", []string{x, to}), len(shape)))
	}
	index = parts[0]
	if len(parts) > 1 {
		index = c.e.op("Concat", parts, integer("axis", len(shape)))
	}
	return axes, index, shape
}

// indexed writes x[i, j]: GatherND of x with the indexed axes in front.
func (c *exportCall) indexed() string {
	axes, index, shape := c.indices()
	rank := c.rank(0)
	var rest []int
	for axis := range rank {
		if !slices.Contains(axes, axis) {
			rest = append(rest, axis)
		}
	}
	x := c.e.transpose(c.in(0), append(slices.Clone(axes), rest...))
	y := c.e.op("GatherND", []string{x, index})
	return c.e.transpose(y, placed(axes, len(shape), len(rest)))
}

// placed returns the order of the axes of a result of indices, which has their n axes first, that puts these where the
// indexed axes were; they stay in front if other axes lie between those.
func placed(axes []int, n, rest int) []int {
	at := axes[0]
	if axes[len(axes)-1]-axes[0] != len(axes)-1 {
		at = 0
	}
	perm := sequence(n + rest)
	return append(append(slices.Clone(perm[n:n+at]), perm[:n]...), perm[n+at:]...)
}

// put writes argument 0 with values in the places of indices: ScatterND on the indexed axes in front.
func (c *exportCall) put() string {
	axes, index, shape := c.indices()
	rank := c.rank(0)
	order := slices.Clone(axes)
	var rest []size
	for axis, s := range c.shape(0) {
		if !slices.Contains(axes, axis) {
			order, rest = append(order, axis), append(rest, s)
		}
	}
	// The values broadcast to the shape of the result of Index, and their axes go to the front from there.
	back := placed(axes, len(shape), len(rest))
	front := append(slices.Clone(shape), rest...)
	whole := make([]size, len(front))
	inverse := make([]int, len(front))
	for to, from := range back {
		whole[to], inverse[from] = front[from], to
	}
	values := c.e.op("Expand", []string{c.as(2, c.typ()), c.e.shape(whole, []value{c.value(0)})})
	values = c.e.transpose(values, inverse)
	x := c.e.transpose(c.as(0, c.typ()), order)
	how := "none"
	if argOptions[tensor.IndexPutOptions](c, 3).Accumulate {
		how = "add"
	}
	y := c.e.op("ScatterND", []string{x, index, values}, word("reduction", how))
	undo := make([]int, rank)
	for to, from := range order {
		undo[from] = to
	}
	return c.e.transpose(y, undo)
}
