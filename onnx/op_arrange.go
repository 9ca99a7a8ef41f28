package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that put parts of tensors elsewhere.
func init() {
	Register(
		Operator{Name: "Concat", Attributes: "axis", Run: func(c *Call) []*Value {
			axis := c.Int("axis", 1)
			if c.Version() >= 4 && !c.HasAttribute("axis") {
				c.Fail("attribute axis is missing")
			}
			m := moving(c, 0)
			list := make([]*autograd.Node, c.Len())
			for i := range list {
				list[i] = m.node(i)
			}
			return m.out(autograd.Concat(axis, list...))
		}},
		Operator{Name: "Split", Attributes: "axis split num_outputs", Run: split},
		mover("Slice", "starts ends axes", slice),
		Operator{Name: "Tile", Run: func(c *Call) []*Value {
			shape := c.dims(0)
			var counts []int
			if c.Version() < 6 { // a count and an axis
				counts = slices.Repeat([]int{1}, len(shape))
				counts[c.axis(c.IntOf(2, 0), len(shape))] = c.IntOf(1, 1)
			} else if counts = c.Ints(1); len(counts) != len(shape) {
				c.Fail("%d repeats of a tensor of rank %d", len(counts), len(shape))
			}
			for i, n := range counts {
				if n < 0 || n >= math.MaxInt32 {
					c.Fail("repeats %v", counts)
				}
				shape[i] = c.count([]int{shape[i], n})
			}
			c.makes(shape)
			m := moving(c, 0)
			return m.out(m.node(0).Tile(counts...))
		}},
		mover("DepthToSpace", "blocksize mode", func(c *Call, x *autograd.Node) *autograd.Node {
			n, ch, h, w, b := blocks(c, x)
			if ch%(b*b) != 0 {
				c.Fail("%d channels for blocks of %d×%d", ch, b, b)
			}
			if c.oneOf("mode", "DCR", "CRD") == "CRD" {
				x = x.Reshape(n, ch/(b*b), b, b, h, w).Transpose(0, 1, 4, 2, 5, 3)
			} else {
				x = x.Reshape(n, b, b, ch/(b*b), h, w).Transpose(0, 3, 4, 1, 5, 2)
			}
			return x.Reshape(n, ch/(b*b), h*b, w*b)
		}),
		mover("SpaceToDepth", "blocksize mode", func(c *Call, x *autograd.Node) *autograd.Node {
			n, ch, h, w, b := blocks(c, x)
			if h%b != 0 || w%b != 0 {
				c.Fail("%d×%d pixels in blocks of %d×%d", h, w, b, b)
			}
			x = x.Reshape(n, ch, h/b, b, w/b, b)
			if c.oneOf("mode", "DCR", "CRD") == "CRD" {
				x = x.Transpose(0, 1, 3, 5, 2, 4)
			} else {
				x = x.Transpose(0, 3, 5, 1, 2, 4)
			}
			return x.Reshape(n, ch*b*b, h/b, w/b)
		}),
		mover("ReverseSequence", "batch_axis time_axis", reverseSequence),
		mover("Trilu", "upper", func(c *Call, x *autograd.Node) *autograd.Node {
			shape := x.Shape()
			if len(shape) < 2 {
				c.Fail("a tensor of rank %d has no matrices", len(shape))
			}
			rows, cols := shape[len(shape)-2], shape[len(shape)-1]
			k := min(max(c.IntOf(1, 0), -rows-1), cols+1)
			if c.Bool("upper", true) {
				return x.Triu(k)
			}
			return x.Tril(k)
		}),
	)
}

// split has the sizes of the parts as an attribute before opset 13, which opset 1 also took as an input.
func split(c *Call) []*Value {
	m := moving(c, 0)
	x := m.node(0)
	axis := c.axis(c.Int("axis", 0), x.Rank())
	n := x.Shape()[axis]
	sizes := c.IntList("split")
	if c.Has(1) {
		sizes = c.Ints(1)
	}
	if sizes == nil {
		parts := c.Int("num_outputs", c.Outputs())
		if parts < 1 || parts > max(c.Outputs(), 1) {
			c.Fail("%d parts for %d outputs", parts, c.Outputs())
		}
		size := (n + parts - 1) / parts
		if n%parts != 0 && c.Version() < 18 {
			c.Fail("axis %d of %v in %d equal parts", axis, x.Shape(), parts)
		}
		for rest := n; len(sizes) < parts; rest -= sizes[len(sizes)-1] {
			sizes = append(sizes, min(size, rest))
		}
	}
	sum := 0
	for _, size := range sizes {
		if size < 0 || size > n-sum {
			c.Fail("parts of %v of axis %d of %v", sizes, axis, x.Shape())
		}
		sum += size
	}
	if sum != n {
		c.Fail("parts of %v of axis %d of %v", sizes, axis, x.Shape())
	}
	return m.out(x.SplitWithSizes(axis, sizes...)...)
}

// slice has its numbers as attributes before opset 10, and as inputs from there on, with steps.
func slice(c *Call, x *autograd.Node) *autograd.Node {
	starts, ends, axes := c.IntList("starts"), c.IntList("ends"), c.IntList("axes")
	var steps []int
	if c.Version() >= 10 {
		starts, ends, axes = c.Ints(1), c.Ints(2), nil
		if c.Has(3) {
			axes = c.Ints(3)
		}
		if c.Has(4) {
			steps = c.Ints(4)
		}
	}
	if axes == nil {
		axes = upTo(len(starts))
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.Fail("%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	for i, axis := range c.axes(axes, x.Rank()) {
		x = c.stride(x, axis, starts[i], ends[i], steps[i])
	}
	return x
}

// stride is NumPy's x[start:end:step] along an axis.
func (c *Call) stride(x *autograd.Node, axis, start, end, step int) *autograd.Node {
	n := x.Shape()[axis]
	if step == 0 {
		c.Fail("a step of 0")
	}
	step = min(max(step, -n-1), n+1)
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if step > 0 {
		start, end = min(max(start, 0), n), min(max(end, 0), n)
		x = x.Slice(axis, start, max(start, end))
		if step > 1 {
			x = x.Step(axis, step)
		}
		return x
	}
	start, end = min(max(start, 0), n-1), min(max(end, -1), n-1)
	if start <= end {
		return x.Slice(axis, 0, 0)
	}
	last := start - (start-end-1)/-step*-step
	x = x.Slice(axis, last, start+1).Flip(axis)
	if step < -1 {
		x = x.Step(axis, -step)
	}
	return x
}

// blocks returns the dimensions of images, and the size of their blocks.
func blocks(c *Call, x *autograd.Node) (n, ch, h, w, b int) {
	s := x.Shape()
	if len(s) != 4 {
		c.Fail("input 0 has rank %d, and should have 4", len(s))
	}
	if b = c.Int("blocksize", 0); b < 1 || b > math.MaxInt16 {
		c.Fail("attribute blocksize is %d", b)
	}
	return s[0], s[1], s[2], s[3], b
}

// reverseSequence reverses the beginnings of sequences, each of its length.
func reverseSequence(c *Call, x *autograd.Node) *autograd.Node {
	batch, time := c.Int("batch_axis", 1), c.Int("time_axis", 0)
	if x.Rank() < 2 || batch+time != 1 || batch*time != 0 {
		c.Fail("batch_axis %d and time_axis %d of a tensor of rank %d", batch, time, x.Rank())
	}
	steps, lengths := x.Shape()[time], c.Ints(1)
	if len(lengths) != x.Shape()[batch] {
		c.Fail("%d lengths of %d sequences", len(lengths), x.Shape()[batch])
	}
	if x.Len() == 0 {
		return x
	}
	from := make([]int64, 0, steps*len(lengths)) // [sequence, step]
	for _, n := range lengths {
		if n < 0 || n > steps {
			c.Fail("a length of %d in %d steps", n, steps)
		}
		for t := range steps {
			if t < n {
				t = n - 1 - t
			}
			from = append(from, int64(t))
		}
	}
	index := tensor.New(c.dev, from, len(lengths), steps)
	if batch == 0 {
		return x.Index(alongAxis(c, len(lengths), 0, 2), index)
	}
	return x.Index(index.T(), alongAxis(c, len(lengths), 1, 2))
}
