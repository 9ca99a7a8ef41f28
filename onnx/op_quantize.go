package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	for _, domain := range []string{"", microsoft} {
		Register(
			Operator{Domain: domain, Name: "QuantizeLinear",
				Attributes: "axis block_size output_dtype precision saturate", Run: quantizeLinear, Shape: quantizeShape},
			Operator{Domain: domain, Name: "DequantizeLinear", Attributes: "axis block_size output_dtype",
				Run: dequantizeLinear, Shape: dequantizeShape},
		)
	}
	Register(Operator{Name: "DynamicQuantizeLinear", Since: 11, Run: dynamicQuantizeLinear,
		Shape: func(c *ShapeCall) []Known { return []Known{c.In(0).as("uint8"), scalarOf("float"), scalarOf("uint8")} }})
}

// quantizedRange is the numbers that a type of integers has: what is beyond becomes the end.
type quantizedRange struct{ low, high float64 }

// quantizedInts are the types of integers that numbers are quantized to.
var quantizedInts = map[tensor.Type]quantizedRange{
	tensor.Int8: {-128, 127}, tensor.Uint8: {0, 255}, tensor.Int16: {-32768, 32767}, tensor.Uint16: {0, 65535},
	tensor.Int4: {-8, 7}, tensor.Uint4: {0, 15}, tensor.Int2: {-2, 1}, tensor.Uint2: {0, 3},
}

// quantizedFloats are the types of floats.
var quantizedFloats = []tensor.Type{
	tensor.Float8E4M3FN, tensor.Float8E4M3FNUZ, tensor.Float8E5M2, tensor.Float8E5M2FNUZ, tensor.Float4E2M1,
}

// quantized returns x + zero as a type, where x are numbers that were divided by their scale. Integers are the nearest,
// the even one of two. zero may be nil.
func quantized(c *Call, x, zero *autograd.Node, typ tensor.Type, saturate bool) *autograd.Node {
	x = inSingle(x)
	if r, ok := quantizedInts[typ]; ok {
		x = x.Round()
		if zero != nil {
			x = x.Add(like(zero, x.Type()))
		}
		return x.Clamp(r.low, r.high).To(typ)
	}
	if !slices.Contains(quantizedFloats, typ) {
		c.Unsupported("quantization to %v", typ)
	}
	if zero != nil {
		x = x.Add(like(zero, x.Type()))
	}
	return autograd.Const(tensor.Cast(x.Value(), typ, tensor.CastOptions{NoSaturation: !saturate}))
}

// dequantized returns (x − zero)·scale in the type of the scale, in float32 at least. zero may be nil.
func dequantized(x, scale, zero *autograd.Node) *autograd.Node {
	scale = inSingle(scale)
	x = like(x, scale.Type())
	if zero != nil {
		x = x.Sub(like(zero, scale.Type()))
	}
	return x.Mul(scale)
}

// scaleOf returns scales or zero points so that they broadcast to x: one number, one for each position along an axis,
// or one for each block of positions along it; in float32 if they are no floats to compute with. It is nil of nil.
func scaleOf(c *Call, s *autograd.Node, x []int) *autograd.Node {
	if s == nil {
		return nil
	}
	if !computes(s.Type()) {
		s = s.To(tensor.Float32)
	}
	if s.Rank() < 2 && s.Len() == 1 {
		return s.Reshape([]int{}...)
	}
	axis := 0
	if len(x) != 1 {
		axis = c.axis(c.Int("axis", 1), len(x))
	}
	shape := s.Shape()
	block := c.Int("block_size", 0)
	if block == 0 {
		if len(shape) != 1 || shape[0] != x[axis] {
			c.Fail("scales or zero points %v along axis %d of %v", shape, axis, x)
		}
		wide := slices.Repeat([]int{1}, len(x))
		wide[axis] = x[axis]
		return s.Reshape(wide...)
	}
	want := slices.Clone(x)
	if block > 0 {
		want[axis] = (x[axis]-1)/block + 1
	}
	if block < 0 || !slices.Equal(shape, want) {
		c.Fail("scales or zero points %v of blocks of %d along axis %d of %v", shape, block, axis, x)
	}
	if block >= x[axis] {
		return s
	}
	return s.RepeatInterleave(block, axis).Slice(axis, 0, x[axis])
}

// computes reports whether a type is of floats that operations take: not one for storage.
func computes(typ tensor.Type) bool { return typ.Float() && !typ.Storage() }

func quantizeLinear(c *Call) []*Value {
	x, scale, zero := c.Node(0), c.Node(1), c.NodeOr(2)
	typ := tensor.Uint8
	if zero != nil {
		typ = zero.Type()
	}
	if typ = c.TypeAttribute("output_dtype", typ); zero != nil && typ != zero.Type() {
		c.Fail("output_dtype is %v, and the zero point of %v", typ, zero.Type())
	}
	precision := c.TypeAttribute("precision", scale.Type())
	if !computes(precision) { // scales of integers, and powers of two
		precision = tensor.Float32
	}
	scale, zero = scaleOf(c, scale, x.Shape()), scaleOf(c, zero, x.Shape())
	x = like(x, precision).Div(like(scale, precision))
	return Out(quantized(c, x, zero, typ, c.Bool("saturate", true)))
}

func dequantizeLinear(c *Call) []*Value {
	x, scale, zero := c.Node(0), c.Node(1), c.NodeOr(2)
	typ := scale.Type()
	if !computes(typ) {
		typ = tensor.Float32
	}
	typ = c.TypeAttribute("output_dtype", typ)
	if zero != nil && zero.Type() != x.Type() {
		c.Fail("numbers of %v with a zero point of %v", x.Type(), zero.Type())
	}
	y := dequantized(x, scaleOf(c, scale, x.Shape()), scaleOf(c, zero, x.Shape()))
	return Out(like(y, typ))
}

// dynamicQuantizeLinear quantizes to Uint8 with the range of the numbers, which 0 is part of.
func dynamicQuantizeLinear(c *Call) []*Value {
	y, scale, zero := dynamicQuantized(c, c.Node(0))
	return Out(y, scale, zero)
}

func dynamicQuantized(c *Call, x *autograd.Node) (y, scale, zero *autograd.Node) {
	x = like(x, tensor.Float32)
	low := autograd.Const(tensor.ZerosOf(c.Device(), tensor.Float32))
	high := low
	if x.Len() > 0 {
		low, high = x.Min().MinScalar(0), x.Max().MaxScalar(0)
	}
	scale = high.Sub(low).DivScalar(255)
	scale = scale.MaskedFill(scale.EqScalar(0), 1)
	zero = low.Div(scale).Neg().Clamp(0, 255).Round()
	y = quantized(c, x.Div(scale), zero, tensor.Uint8, true)
	return y, scale, zero.To(tensor.Uint8)
}

func quantizeShape(c *ShapeCall) []Known {
	typ := "uint8"
	if c.Has(2) {
		typ = c.Type(2)
	}
	return []Known{c.In(0).as(c.typeAttribute("output_dtype", typ))}
}

func dequantizeShape(c *ShapeCall) []Known {
	typ := c.Type(1)
	switch typ {
	case "", "float", "double", "float16", "bfloat16":
	default:
		typ = "float"
	}
	return []Known{c.In(0).as(c.typeAttribute("output_dtype", typ))}
}
