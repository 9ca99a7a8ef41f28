package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators of shapes: what they return has the elements of the input.
func init() {
	Register(
		Operator{Name: "Shape", Attributes: "start end", Run: func(c *Call) []*Value {
			shape := c.dims(0)
			from, to := within(c.Int("start", 0), len(shape)), within(c.Int("end", len(shape)), len(shape))
			return hostInts(c, shape[from:max(from, to)], []int{max(0, to-from)})
		}},
		Operator{Name: "Size", Run: func(c *Call) []*Value {
			return hostInts(c, []int{c.count(c.dims(0))}, []int{})
		}},
		mover("Reshape", "shape consumed_inputs allowzero", reshape),
		mover("Transpose", "perm", func(c *Call, x *autograd.Node) *autograd.Node {
			if perm := c.IntList("perm"); len(perm) > 0 {
				return x.Transpose(perm...)
			}
			return x.Transpose()
		}),
		mover("Squeeze", "axes", squeeze),
		mover("Unsqueeze", "axes", unsqueeze),
		mover("Flatten", "axis", func(c *Call, x *autograd.Node) *autograd.Node {
			shape, axis := x.Shape(), c.Int("axis", 1)
			if axis < -len(shape) || axis > len(shape) {
				c.Fail("axis %d of a tensor of rank %d", axis, len(shape))
			}
			if axis < 0 {
				axis += len(shape)
			}
			return x.Reshape(c.count(shape[:axis]), c.count(shape[axis:]))
		}),
		Operator{Name: "Expand", Run: func(c *Call) []*Value {
			shape, ok := tensor.Broadcast(c.dims(0), c.newShape(1))
			if !ok {
				c.Fail("shapes %v and %v do not broadcast", c.dims(0), c.Ints(1))
			}
			c.makes(shape)
			m := moving(c, 0)
			return m.out(m.node(0).Expand(shape...))
		}},
	)
}

// hostInts returns integers that the host knows, where it knows them.
func hostInts(c *Call, list, shape []int) []*Value {
	return Out(autograd.Const(tensor.New(c.r.s.host, list, shape...)))
}

// within returns a place in a list of n, from its end below 0, and the nearest end if there is none.
func within(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// newShape returns the shape that input i holds.
func (c *Call) newShape(i int) []int {
	if len(c.dims(i)) > 1 {
		c.Fail("input %d is %v, and should be a list", i, c.Value(i))
	}
	shape := c.Ints(i)
	if len(shape) > 64 {
		c.Fail("a shape of %d axes", len(shape))
	}
	for _, d := range shape {
		if d < -1 {
			c.Fail("shape %v", shape)
		}
	}
	return shape
}

// reshape has the new shape as an attribute before opset 5. A 0 is the dimension that was there, −1 is inferred.
func reshape(c *Call, x *autograd.Node) *autograd.Node {
	var shape []int
	if c.Version() < 5 {
		shape = c.IntList("shape")
	} else {
		shape = c.newShape(1)
	}
	old, infer, rest := x.Shape(), -1, 1
	for i, d := range shape {
		switch {
		case d == 0 && !c.Bool("allowzero", false):
			if i >= len(old) {
				c.Fail("shape %v: there is no dimension %d in %v", shape, i, old)
			}
			shape[i] = old[i]
		case d == -1 && infer >= 0:
			c.Fail("shape %v: more than one dimension is −1", shape)
		case d == -1:
			infer = i
			continue
		}
		rest = c.count([]int{rest, shape[i]})
	}
	if infer >= 0 {
		if rest == 0 || x.Len()%rest != 0 {
			c.Fail("shape %v for the elements of %v", shape, old)
		}
		shape[infer] = x.Len() / rest
	}
	return x.Reshape(shape...)
}

// squeeze leaves out axes of dimension 1: all, or those listed.
func squeeze(c *Call, x *autograd.Node) *autograd.Node {
	axes, ok := c.axesOf(1, x.Rank())
	if !ok {
		return x.Squeeze()
	}
	var shape []int
	for i, d := range x.Shape() {
		switch {
		case !slices.Contains(axes, i):
			shape = append(shape, d)
		case d != 1:
			c.Fail("axis %d of %v is not of dimension 1", i, x.Shape())
		}
	}
	return x.Reshape(shape...)
}

// unsqueeze puts in axes of dimension 1, which are listed by their places in the result.
func unsqueeze(c *Call, x *autograd.Node) *autograd.Node {
	list := c.IntList("axes")
	if c.Version() >= 13 {
		list = c.Ints(1)
	}
	rank := x.Rank() + len(list)
	axes := c.axes(list, rank)
	shape, old := make([]int, rank), x.Shape()
	for i := range shape {
		if slices.Contains(axes, i) {
			shape[i] = 1
		} else {
			shape[i], old = old[0], old[1:]
		}
	}
	return x.Reshape(shape...)
}
