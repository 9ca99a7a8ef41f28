package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// exportShapes are views, and operations that put elements elsewhere.
var exportShapes = map[string]func(c *exportCall) []string{
	"Reshape": exportReshape, "Flatten": exportReshape,
	"Copy": exportIdentity, "Detach": exportIdentity,
	"Squeeze": func(c *exportCall) []string {
		axes := argInts(c, 1)
		var gone []int
		for axis, s := range c.shape(0) {
			named := len(axes) == 0 || slices.ContainsFunc(axes, func(a int) bool { return fromFront(a, c.rank(0)) == axis })
			if named && s.fixed() && s[0] == 1 {
				gone = append(gone, axis)
			}
		}
		if len(gone) == 0 {
			return exportIdentity(c)
		}
		return []string{c.e.squeeze(c.in(0), gone...)}
	},
	"Unsqueeze": func(c *exportCall) []string { return []string{c.e.unsqueeze(c.in(0), c.axis(1, c.rank(0)+1))} },
	"Transpose": func(c *exportCall) []string {
		perm := slices.Clone(argInts(c, 1))
		for i, a := range perm {
			perm[i] = fromFront(a, c.rank(0))
		}
		return []string{c.e.op("Transpose", []string{c.in(0)}, ints("perm", perm...))}
	},
	"T": func(c *exportCall) []string {
		perm := sequence(c.rank(0))
		slices.Reverse(perm)
		return []string{c.e.op("Transpose", []string{c.in(0)}, ints("perm", perm...))}
	},
	"MoveDim": func(c *exportCall) []string {
		from, to := c.axis(1, c.rank(0)), c.axis(2, c.rank(0))
		perm := slices.Insert(slices.Delete(sequence(c.rank(0)), from, from+1), to, from)
		return []string{c.e.op("Transpose", []string{c.in(0)}, ints("perm", perm...))}
	},
	"Slice": func(c *exportCall) []string {
		from, to := c.sizeArg(2), c.sizeArg(3)
		return []string{c.e.slice(c.in(0), c.axis(1, c.rank(0)), c.place(from), c.place(to), 1)}
	},
	"Step": func(c *exportCall) []string {
		step, from, to := arg[int](c, 2), 0, math.MaxInt
		if step < 0 {
			from, to = -1, math.MinInt
		}
		return []string{c.e.slice(c.in(0), c.axis(1, c.rank(0)), c.e.list(from), c.e.list(to), step)}
	},
	"Select": func(c *exportCall) []string {
		axis, at := c.axis(1, c.rank(0)), c.sizeArg(2)
		return []string{c.e.op("Gather", []string{c.in(0), c.e.numberOf(at, tensor.Int64, c.value(0))},
			integer("axis", axis))}
	},
	"Expand": func(c *exportCall) []string {
		return []string{c.e.op("Expand", []string{c.in(0), c.e.shape(shapeOf(c.result(0)), []value{c.value(0)})})}
	},
	"To": func(c *exportCall) []string {
		return []string{c.e.op("Cast", []string{c.in(0)}, integer("to", int(dataTypeOf(c.typ()))))}
	},
	"autograd.Concat": exportConcat, "Concat": exportConcat,
	"Stack": func(c *exportCall) []string {
		var parts []string
		axis := c.axis(0, tensorIn(c.runs[0].Results[0]).Rank())
		for _, v := range listOf[*autograd.Node](c, 1) {
			parts = append(parts, c.e.unsqueeze(c.e.as(v, c.typ()), axis))
		}
		return []string{c.e.op("Concat", parts, integer("axis", axis))}
	},
	"Diagonal": func(c *exportCall) []string {
		offset, a, b := arg[int](c, 1), c.axis(2, c.rank(0)), c.axis(3, c.rank(0))
		shape := c.shape(0)
		rows, columns := fixedSize(shape[a]), fixedSize(shape[b])
		var at []int
		for i := range rows {
			if k := i + offset; k >= 0 && k < columns {
				at = append(at, i*columns+k)
			}
		}
		x, rest := c.e.behind(c.in(0), shape, a, b)
		flat := append(slices.Clone(rest), c.e.constantSize(rows*columns))
		x = c.e.reshape(x, append(rest, shape[a], shape[b]), flat, c.value(0))
		return []string{c.e.op("Gather", []string{x, c.e.list(at...)}, integer("axis", len(rest)))}
	},
	"Unfold": func(c *exportCall) []string {
		axis, width, step := c.axis(1, c.rank(0)), arg[int](c, 2), arg[int](c, 3)
		n := fixedSize(shapeOf(c.result(0))[axis])
		var at []int
		for i := range n {
			for k := range width {
				at = append(at, i*step+k)
			}
		}
		index := c.e.op("Reshape", []string{c.e.list(at...), c.e.list(n, width)}, integer("allowzero", 1))
		y := c.e.op("Gather", []string{c.in(0), index}, integer("axis", axis))
		rank := c.rank(0) + 1
		perm := append(slices.Delete(sequence(rank), axis+1, axis+2), axis+1)
		return []string{c.e.transpose(y, perm)}
	},
	"Tile": func(c *exportCall) []string {
		counts := argInts(c, 1)
		rank := tensorIn(c.runs[0].Results[0]).Rank()
		counts = append(slices.Repeat([]int{1}, rank-len(counts)), counts...)
		x := c.e.unsqueeze(c.in(0), sequence(rank-c.rank(0))...)
		return []string{c.e.op("Tile", []string{x, c.e.list(counts...)})}
	},
	"RepeatInterleave": func(c *exportCall) []string {
		count, axis := arg[int](c, 1), c.axis(2, c.rank(0))
		shape := c.shape(0)
		counts := slices.Repeat([]int{1}, len(shape)+1)
		counts[axis+1] = count
		x := c.e.op("Tile", []string{c.e.unsqueeze(c.in(0), axis+1), c.e.list(counts...)})
		return []string{c.e.reshape(x, shape[:axis], shapeOf(c.result(0)), c.value(0))}
	},
	"Roll": func(c *exportCall) []string {
		shift, axis := arg[int](c, 1), c.axis(2, c.rank(0))
		if c.rank(0) == 0 {
			return exportIdentity(c)
		}
		if n := c.shape(0)[axis]; n.fixed() {
			if n[0] == 0 {
				return exportIdentity(c)
			}
			shift %= n[0]
		} else if slices.ContainsFunc(n, func(n int) bool { return n < max(shift, -shift) }) {
			fail("it rolls further than a dynamic axis is long")
		}
		if shift == 0 {
			return exportIdentity(c)
		}
		x, at := c.in(0), c.e.list(-shift)
		parts := []string{c.e.slice(x, axis, at, c.e.list(math.MaxInt), 1), c.e.slice(x, axis, c.e.list(0), at, 1)}
		return []string{c.e.op("Concat", parts, integer("axis", axis))}
	},
	"Flip": func(c *exportCall) []string {
		axes := slices.Clone(argInts(c, 1))
		if len(axes) == 0 {
			return exportIdentity(c)
		}
		from, to := make([]int, len(axes)), make([]int, len(axes))
		for i, a := range axes {
			axes[i], from[i], to[i] = fromFront(a, c.rank(0)), -1, math.MinInt
		}
		return []string{c.e.op("Slice", []string{c.in(0), c.e.list(from...), c.e.list(to...), c.e.list(axes...),
			c.e.list(from...)})}
	},
	"Pad": exportPad,
	"Tril": func(c *exportCall) []string {
		return []string{c.e.op("Trilu", []string{c.in(0), c.e.scalar(tensor.Int64, float64(arg[int](c, 1)))},
			integer("upper", 0))}
	},
	"Triu": func(c *exportCall) []string {
		return []string{c.e.op("Trilu", []string{c.in(0), c.e.scalar(tensor.Int64, float64(arg[int](c, 1)))},
			integer("upper", 1))}
	},
}

func exportIdentity(c *exportCall) []string { return []string{c.e.op("Identity", []string{c.in(0)})} }

func exportReshape(c *exportCall) []string {
	return []string{c.e.reshape(c.in(0), c.shape(0), shapeOf(c.result(0)), c.value(0))}
}

func exportConcat(c *exportCall) []string {
	var parts []string
	for _, v := range listOf[*autograd.Node](c, 1) {
		parts = append(parts, c.e.as(v, c.typ()))
	}
	return []string{c.e.op("Concat", parts, integer("axis", c.axis(0, tensorIn(c.runs[0].Results[0]).Rank())))}
}

// sizeArg returns argument i, a number that may follow from dynamic sizes.
func (c *exportCall) sizeArg(i int) size {
	s := make(size, len(c.runs))
	for r, run := range c.runs {
		s[r] = run.Args[i].(int)
	}
	return s
}

// place returns the name of a vector with a place of argument 0: one end of a slice.
func (c *exportCall) place(s size) string { return c.e.size(s, []value{c.value(0)}) }

// behind returns a value with axes behind the others, and the sizes of these.
func (e *exporter) behind(name string, shape []size, axes ...int) (moved string, rest []size) {
	var perm []int
	for axis, s := range shape {
		if !slices.Contains(axes, axis) {
			perm, rest = append(perm, axis), append(rest, s)
		}
	}
	return e.transpose(name, append(perm, axes...)), rest
}

func exportPad(c *exportCall) []string {
	widths, o := c.runs[0].Args[1].([][2]int), argOptions[tensor.PadOptions](c, 2)
	for _, run := range c.runs[1:] {
		if !slices.Equal(run.Args[1].([][2]int), widths) {
			fail("its widths %v follow from the inputs", widths)
		}
	}
	rank := c.rank(0)
	pads := make([]int, 2*rank)
	cut := false
	for i, w := range widths {
		axis := rank - len(widths) + i
		pads[axis], pads[rank+axis] = w[0], w[1]
		cut = cut || w[0] < 0 || w[1] < 0
	}
	in := []string{c.in(0), c.e.list(pads...)}
	mode := map[tensor.PadMode]string{tensor.PadConstant: "constant", tensor.PadReflect: "reflect",
		tensor.PadReplicate: "edge", tensor.PadCircular: "wrap"}[o.Mode]
	switch {
	case cut && o.Mode != tensor.PadConstant:
		fail("elements are cut off")
	case mode == "wrap" && c.e.options.Opset < 19:
		return []string{c.wrap(widths)}
	case o.Mode == tensor.PadConstant:
		in = append(in, c.e.scalar(c.typ(), o.Value))
	}
	return []string{c.e.op("Pad", in, word("mode", mode))}
}

// wrap writes a circular padding: the ends of each axis beside it.
func (c *exportCall) wrap(widths [][2]int) string {
	x := c.in(0)
	for i, w := range widths {
		axis := c.rank(0) - len(widths) + i
		var parts []string
		if w[0] > 0 {
			parts = append(parts, c.e.slice(x, axis, c.e.list(-w[0]), c.e.list(math.MaxInt), 1))
		}
		parts = append(parts, x)
		if w[1] > 0 {
			parts = append(parts, c.e.slice(x, axis, c.e.list(0), c.e.list(w[1]), 1))
		}
		if len(parts) > 1 {
			x = c.e.op("Concat", parts, integer("axis", axis))
		}
	}
	return x
}
