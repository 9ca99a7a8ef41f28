package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators of shapes: what they return has the elements of the input.
func init() {
	Register(
		Operator{Name: "Shape", Attributes: "start end", Shape: shapeShape, Run: func(c *Call) []*Value {
			shape := c.dims(0)
			from, to := within(c.Int("start", 0), len(shape)), within(c.Int("end", len(shape)), len(shape))
			return hostInts(c, shape[from:max(from, to)], []int{max(0, to-from)})
		}},
		Operator{Name: "Size", Shape: sizeShape, Run: func(c *Call) []*Value {
			return hostInts(c, []int{c.count(c.dims(0))}, []int{})
		}},
		mover("Reshape", "shape consumed_inputs allowzero", reshapeShape, reshape),
		mover("Transpose", "perm", transposeShape, func(c *Call, x *autograd.Node) *autograd.Node {
			if perm := c.IntList("perm"); len(perm) > 0 {
				return x.Transpose(perm...)
			}
			return x.Transpose()
		}),
		mover("Squeeze", "axes", squeezeShape, squeeze),
		mover("Unsqueeze", "axes", unsqueezeShape, unsqueeze),
		mover("Flatten", "axis", flattenShape, func(c *Call, x *autograd.Node) *autograd.Node {
			shape, axis := x.Shape(), c.Int("axis", 1)
			if axis < -len(shape) || axis > len(shape) {
				c.Fail("axis %d of a tensor of rank %d", axis, len(shape))
			}
			if axis < 0 {
				axis += len(shape)
			}
			return x.Reshape(c.count(shape[:axis]), c.count(shape[axis:]))
		}),
		Operator{Name: "Expand", Shape: expandShape, Run: func(c *Call) []*Value {
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

func shapeShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{ofRank("int64", 1)}
	}
	from, to := within(c.Int("start", 0), len(dims)), within(c.Int("end", len(dims)), len(dims))
	dims = dims[from:max(from, to)]
	k := listOfType("int64", NewDim(len(dims)))
	for _, d := range dims {
		k.elements = append(k.elements, element{dim: d})
	}
	return []Known{k}
}

func sizeShape(c *ShapeCall) []Known {
	k := scalarOf("int64")
	k.elements = []element{{dim: c.In(0).count()}}
	return []Known{k}
}

// reshapeShape keeps a size that is not known where all others are the same before and after it.
func reshapeShape(c *ShapeCall) []Known {
	in := c.In(0)
	var list []Dim
	if c.Version() < 5 {
		for _, n := range c.IntList("shape") {
			list = append(list, NewDim(n))
		}
	} else {
		var ok bool
		if list, ok = c.Ints(1); !ok {
			return []Known{{Type: in.Type}}
		}
	}
	dims, infer, rest := make([]Dim, len(list)), -1, NewDim(1)
	for i, d := range list {
		n, number := d.Number()
		switch {
		case !d.known || !number && !d.atLeast(1): // which may be 0 or −1
		case number && n == 0 && !c.Bool("allowzero", false):
			if in.Dims != nil && i >= len(in.Dims) {
				c.Fail("shape %v: there is no dimension %d in %v", list, i, in.Info("it"))
			}
			if in.Dims != nil {
				dims[i] = in.Dims[i]
			}
		case number && n == -1:
			infer = i
			continue
		default:
			dims[i] = d
		}
		rest = rest.Mul(dims[i])
	}
	total := in.count()
	if infer >= 0 {
		if n, ok := rest.Number(); !ok || n > 0 {
			dims[infer], _ = total.exactly(rest)
			if all, ok := total.Number(); ok && n > 0 && all%n != 0 {
				c.Fail("shape %v for the elements of %v", list, in.Info("it"))
			}
			if !dims[infer].known && in.Dims != nil {
				dims[infer] = leftOf(in.Dims, dims, infer)
			}
		}
	} else if n, ok := rest.Number(); ok {
		if all, ok := total.Number(); ok && all != n {
			c.Fail("shape %v for the elements of %v", list, in.Info("it"))
		}
	}
	return []Known{in.reshaped(dims)}
}

// leftOf returns the one of to that is inferred, where from and to have the same sizes but for one of from: it is that.
func leftOf(from, to []Dim, infer int) Dim {
	rest := slices.Clone(from)
	one, other := NewDim(1), NewDim(1)
	for i, d := range to {
		if i == infer {
			continue
		}
		at := slices.IndexFunc(rest, d.Equal)
		if at >= 0 {
			rest = slices.Delete(rest, at, at+1)
			continue
		}
		one = one.Mul(d)
	}
	for _, d := range rest {
		other = other.Mul(d)
	}
	q, _ := other.exactly(one)
	return q
}

func transposeShape(c *ShapeCall) []Known {
	in := c.In(0)
	if in.Dims == nil {
		return []Known{{Type: in.Type}}
	}
	perm := c.IntList("perm")
	if len(perm) == 0 {
		perm = upTo(len(in.Dims))
		slices.Reverse(perm)
	}
	if len(perm) != len(in.Dims) {
		c.Fail("perm %v of %v", perm, in.Info("it"))
	}
	perm = c.axes(perm, len(in.Dims))
	dims := make([]Dim, len(perm))
	for i, a := range perm {
		dims[i] = in.Dims[a]
	}
	return []Known{in.moved(dims, func(at, shape []int) int {
		from := make([]int, len(at))
		for i, a := range perm {
			from[a] = at[i]
		}
		return placeOf(from, shape)
	})}
}

func squeezeShape(c *ShapeCall) []Known {
	in := c.In(0)
	if in.Dims == nil {
		return []Known{{Type: in.Type}}
	}
	axes, given, ok := c.axesOf(1, len(in.Dims))
	dims := []Dim{}
	for i, d := range in.Dims {
		n, number := d.Number()
		switch {
		case !ok || !given && !number && !d.atLeast(2):
			return []Known{{Type: in.Type}}
		case !given && number && n == 1:
		case !given || !slices.Contains(axes, i):
			dims = append(dims, d)
		case number && n != 1:
			c.Fail("axis %d of %v is not of dimension 1", i, in.Info("it"))
		}
	}
	return []Known{in.reshaped(dims)}
}

func unsqueezeShape(c *ShapeCall) []Known {
	in := c.In(0)
	list, ok := c.IntList("axes"), true
	if c.Version() >= 13 {
		list, ok = c.numbersOf(1)
	}
	if in.Dims == nil || !ok {
		return []Known{{Type: in.Type}}
	}
	axes := c.axes(list, len(in.Dims)+len(list))
	dims, old := make([]Dim, len(in.Dims)+len(list)), in.Dims
	for i := range dims {
		if slices.Contains(axes, i) {
			dims[i] = NewDim(1)
		} else {
			dims[i], old = old[0], old[1:]
		}
	}
	return []Known{in.reshaped(dims)}
}

func flattenShape(c *ShapeCall) []Known {
	in := c.In(0)
	if in.Dims == nil {
		return []Known{ofRank(in.Type, 2)}
	}
	axis := c.Int("axis", 1)
	if axis < -len(in.Dims) || axis > len(in.Dims) {
		c.Fail("axis %d of %v", axis, in.Info("it"))
	}
	if axis < 0 {
		axis += len(in.Dims)
	}
	return []Known{in.reshaped([]Dim{countOf(in.Dims[:axis]), countOf(in.Dims[axis:])})}
}

func expandShape(c *ShapeCall) []Known {
	in := c.In(0)
	to, ok := c.Ints(1)
	if !ok || in.Dims == nil {
		return []Known{{Type: in.Type}}
	}
	out := Known{Type: in.Type, Dims: c.broadcast(in.Dims, to)}
	if shape, ok := out.small(); ok && in.elements != nil {
		out.elements, _ = in.spread(shape)
	}
	return []Known{out}
}
