package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that make tensors.
func init() {
	Register(
		Operator{Name: "ConstantOfShape", Attributes: "value", Shape: constantOfShapeShape, Run: func(c *Call) []*Value {
			shape := c.newShape(0)
			c.makes(shape)
			v := c.TensorAttribute("value")
			if v == nil {
				v = fromNode(autograd.Const(tensor.ZerosOf(c.dev, tensor.Float32, 1)))
				c.r.settle(v)
			}
			if v.any() == nil || v.any().Len() != 1 {
				c.Fail("attribute value is %v, and should have one element", v)
			}
			return Out(c.r.on(v, c.onHost).Reshape().Expand(shape...))
		}},
		Operator{Name: "Range", Attributes: "stash_type", Run: makeRange, Shape: rangeShape},
		Operator{Name: "EyeLike", Attributes: "dtype k", Shape: eyeLikeShape, Run: func(c *Call) []*Value {
			shape := c.dims(0)
			if len(shape) != 2 {
				c.Fail("input 0 is %v, and should be a matrix", c.Value(0))
			}
			c.makes(shape)
			k := min(max(c.Int("k", 0), -shape[0]), shape[1])
			rows, cols := alongAxis(c, shape[0], 0, 2).AddScalar(float64(k)), alongAxis(c, shape[1], 1, 2)
			return Out(autograd.Const(rows.Eq(cols).To(c.TypeAttribute("dtype", c.Type(0)))))
		}},
		Operator{Name: "OneHot", Attributes: "axis", Run: oneHot, Shape: oneHotShape},
	)
}

// manyNumbers is how many integers of a Range are written by the host.
const manyNumbers = 1 << 20

// makeRange is start, start + delta, … up to, but without, limit, in the arithmetic of the type, or of float32 for
// floats of 16 bits.
func makeRange(c *Call) []*Value {
	typ := c.Type(0)
	for i := range 3 {
		if c.Type(i) != typ || c.count(c.dims(i)) != 1 {
			c.Fail("inputs %v, %v and %v should be numbers of one type", c.Value(0), c.Value(1), c.Value(2))
		}
	}
	if typ.Integer() {
		start, limit, delta := c.Int64s(0)[0], c.Int64s(1)[0], c.Int64s(2)[0]
		var span, step uint64 // that are left to go
		switch {
		case delta > 0 && limit > start:
			span, step = uint64(limit)-uint64(start), uint64(delta)
		case delta < 0 && limit < start:
			span, step = uint64(start)-uint64(limit), -uint64(delta)
		case delta == 0:
			c.Fail("a step of 0")
		default:
			step = 1
		}
		n := span / step
		if span%step != 0 {
			n++
		}
		c.makes([]int{int(min(n, math.MaxInt))})
		if n > manyNumbers {
			if max(math.Abs(float64(start)), math.Abs(float64(limit))) > 1<<53 {
				c.Unsupported("%d numbers from %d to %d", n, start, limit)
			}
			return Out(autograd.Const(tensor.ArangeOf(c.dev, typ, float64(start), float64(limit), float64(delta))))
		}
		list := make([]int64, n)
		for i := range list {
			list[i] = start + int64(i)*delta
		}
		return Out(autograd.Const(tensor.NewOf(c.dev, typ, list)))
	}
	start, limit, delta := c.Floats(0)[0], c.Floats(1)[0], c.Floats(2)[0]
	span := limit - start
	if typ != tensor.Float64 {
		span = float64(float32(span))
	}
	n := math.Ceil(span / delta)
	if math.IsNaN(n) || delta == 0 || n > math.MaxInt32 {
		c.Fail("the numbers from %v to %v in steps of %v", start, limit, delta)
	}
	c.makes([]int{int(max(n, 0))})
	list := make([]float64, int(max(n, 0)))
	for i := range list {
		if list[i] = start + float64(i)*delta; typ != tensor.Float64 {
			list[i] = float64(float32(start) + float32(float32(i)*float32(delta)))
		}
	}
	return Out(autograd.Const(tensor.NewOf(c.dev, typ, list)))
}

// oneHot is the second of two values where the index along a new axis is that of input 0, which may count from the end,
// and the first elsewhere.
func oneHot(c *Call) []*Value {
	shape, depth := c.dims(0), c.IntOf(1, 0)
	axis := c.axis(c.Int("axis", -1), len(shape)+1)
	if depth < 0 || len(c.dims(2)) != 1 || c.dims(2)[0] != 2 {
		c.Fail("a depth of %d, and values that are %v", depth, c.Value(2))
	}
	c.makes([]int{c.count(shape), depth})
	at := c.Node(0).To(tensor.Int64).Unsqueeze(axis)
	at = at.AddScalar(float64(depth)).Where(at.LtScalar(0), at)
	m := moving(c, 2)
	values := m.node(2)
	places := autograd.Const(alongAxis(c, depth, axis, len(shape)+1))
	return m.out(values.Select(0, 1).Where(at.Eq(places), values.Select(0, 0)))
}

func constantOfShapeShape(c *ShapeCall) []Known {
	value := Known{Type: "float", elements: []element{{dim: NewDim(0)}}}
	if a := c.attribute("value", onnxpb.AttrTensor); a != nil && a.Tensor != nil {
		value = constantOf(a.Tensor, "")
	}
	out := Known{Type: value.Type}
	list, ok := c.Ints(0)
	if !ok {
		return []Known{out}
	}
	out.Dims = list
	if shape, ok := out.small(); ok && len(value.elements) == 1 {
		out.elements = slices.Repeat(value.elements, lenOf(shape))
	}
	return []Known{out}
}

func rangeShape(c *ShapeCall) []Known {
	typ := c.Type(0)
	out := ofRank(typ, 1)
	if typ != "int64" && typ != "int32" {
		start, okStart := c.In(0).numbers()
		limit, okLimit := c.In(1).numbers()
		delta, okDelta := c.In(2).numbers()
		if typ == "float" && okStart && okLimit && okDelta && len(start)+len(limit)+len(delta) == 3 && delta[0] != 0 {
			n := math.Ceil(float64(float32(limit[0]-start[0])) / delta[0])
			if n >= 0 && n <= math.MaxInt32 {
				out.Dims[0] = NewDim(int(n))
			}
		}
		return []Known{out}
	}
	start, limit, delta := c.dimOf(0), c.dimOf(1), c.dimOf(2)
	step, ok := delta.Number()
	switch {
	case ok && step > 0:
		out.Dims[0] = limit.Sub(start).Max(NewDim(0)).ceilDiv(delta)
	case ok && step < 0 && step > -math.MaxInt32:
		out.Dims[0] = start.Sub(limit).Max(NewDim(0)).ceilDiv(NewDim(-step))
	}
	if n, ok := out.Dims[0].Number(); ok && n <= mostElements {
		out.elements = make([]element, n)
		for i := range out.elements {
			out.elements[i].dim = start.Add(delta.Mul(NewDim(i)))
		}
	}
	return []Known{out}
}

func eyeLikeShape(c *ShapeCall) []Known {
	return []Known{c.In(0).as(c.typeAttribute("dtype", c.Type(0)))}
}

func oneHotShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: c.Type(2)}}
	}
	return []Known{{Type: c.Type(2), Dims: slices.Insert(dims, c.axis(c.Int("axis", -1), len(dims)+1), c.dimOf(1))}}
}
