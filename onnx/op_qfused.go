package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators of quantized numbers of the domain com.microsoft. They compute in float32 what the numbers stand for, and
// quantize that.
func init() {
	type node = autograd.Node
	unary := func(name, attributes string, shape shapeRule, f func(c *Call, x *node) *node) Operator {
		return Operator{Domain: microsoft, Name: name, Attributes: attributes, Shape: quantizedTo(shape, 4), Run: func(c *Call) []*Value {
			x := dequantized(c.Node(0), c.Node(1), c.NodeOr(2))
			return Out(requantized(c, f(c, x), 3))
		}}
	}
	binary := func(name string, f func(x, y *node) *node) Operator {
		return Operator{Domain: microsoft, Name: name, Shape: quantizedTo(broadcastOf(0, 3), 7), Run: func(c *Call) []*Value {
			x, y := dequantized(c.Node(0), c.Node(1), c.NodeOr(2)), dequantized(c.Node(3), c.Node(4), c.NodeOr(5))
			return Out(requantized(c, f(x, y), 6))
		}}
	}
	Register(
		binary("QLinearAdd", (*node).Add),
		binary("QLinearMul", (*node).Mul),
		unary("QLinearSigmoid", "", sameAs(0), func(_ *Call, x *node) *node { return x.Sigmoid() }),
		unary("QLinearLeakyRelu", "alpha", sameAs(0), func(c *Call, x *node) *node {
			return x.LeakyReLU(c.Float("alpha", 0.01))
		}),
		unary("QLinearGlobalAveragePool", "channels_last", globalAverageShape, globalAverage),
		unary("QLinearAveragePool", "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides",
			averageOfWindowsShape, averageOfWindows),
		Operator{Domain: microsoft, Name: "QLinearConcat", Attributes: "axis", Run: qLinearConcat, Shape: qLinearConcatShape},
		unary("QLinearSoftmax", "axis opset", sameAs(0), func(c *Call, x *node) *node {
			axis := c.axis(c.Int("axis", -1), x.Rank())
			if c.Int("opset", 13) < 13 { // over all axes from this one on
				return x.Flatten(axis, x.Rank()-1).Softmax(axis).Reshape(x.Shape()...)
			}
			return x.Softmax(axis)
		}),
		Operator{Domain: microsoft, Name: "QLinearWhere", Shape: typedOf(broadcastOf(0, 1, 4), 8), Run: func(c *Call) []*Value {
			x, y := dequantized(c.Node(1), c.Node(2), c.NodeOr(3)), dequantized(c.Node(4), c.Node(5), c.NodeOr(6))
			return Out(requantized(c, x.Where(c.Node(0), y), 7))
		}},
		Operator{Domain: microsoft, Name: "QGemm", Attributes: "alpha transA transB", Run: qGemm, Shape: qGemmShape},
		Operator{Domain: microsoft, Name: "DynamicQuantizeMatMul", Shape: typed(matMulShape(0, 1), "float"), Run: func(c *Call) []*Value {
			a, scale, zero := dynamicQuantized(c, c.Node(0))
			y := integerMatMul(c, a, c.Node(1), zero, c.NodeOr(3))
			return Out(rescaled(c, y, scale.Mul(c.Node(2)), 4))
		}},
		Operator{Domain: microsoft, Name: "MatMulIntegerToFloat", Shape: typedOf(matMulShape(0, 1), 3), Run: func(c *Call) []*Value {
			y := integerMatMul(c, c.Node(0), c.Node(1), c.NodeOr(4), c.NodeOr(5))
			return Out(rescaled(c, y, rowsOf(c.Node(2)).Mul(c.Node(3)), 6))
		}},
	)
}

// requantized quantizes x with the scale and the zero point of inputs from on, to the type of input 0 without one.
func requantized(c *Call, x *autograd.Node, from int) *autograd.Node {
	zero, typ := c.NodeOr(from+1), c.Type(0)
	if zero != nil {
		typ = zero.Type()
	}
	return quantized(c, x.Div(like(c.Node(from), tensor.Float32)), zero, typ, true)
}

// rescaled returns integers times a scale, of its type, with the bias of an input.
func rescaled(c *Call, y, scale *autograd.Node, bias int) *autograd.Node {
	x := like(like(y, tensor.Float32).Mul(like(scale, tensor.Float32)), scale.Type())
	if b := c.NodeOr(bias); b != nil {
		x = x.Add(b)
	}
	return x
}

// qGemm is alpha·a·b + a bias of the scale of the product, quantized if there is a scale for that. b may have a scale for
// each column.
func qGemm(c *Call) []*Value {
	a, b := c.Node(0), c.Node(3)
	if a.Rank() != 2 || b.Rank() != 2 {
		c.Fail("a product of shapes %v and %v", a.Shape(), b.Shape())
	}
	if c.Bool("transA", false) {
		a = a.T()
	}
	if c.Bool("transB", false) {
		b = b.T()
	}
	y := integerMatMul(c, a, b, c.NodeOr(2), c.NodeOr(5))
	if bias := c.NodeOr(6); bias != nil {
		y = y.Add(bias)
	}
	x := like(y, tensor.Float32).Mul(c.Node(1).Mul(c.Node(4)).MulScalar(c.Float("alpha", 1)))
	if !c.Has(7) {
		return Out(x)
	}
	return Out(requantized(c, x, 7))
}

// globalAverage is the mean over the spatial axes, which become 1.
func globalAverage(c *Call, x *autograd.Node) *autograd.Node {
	from, to := 2, x.Rank()
	if c.Bool("channels_last", false) {
		from, to = 1, x.Rank()-1
	}
	if x.Rank() < 3 {
		c.Fail("the input is %v: it has spatial axes behind batch and channels", x.Shape())
	}
	axes := []int{tensor.Keepdims}
	for a := from; a < to; a++ {
		axes = append(axes, a)
	}
	return x.Mean(axes...)
}

// averageOfWindows is AveragePool, of which channels may be the last axis.
func averageOfWindows(c *Call, x *autograd.Node) *autograd.Node {
	last := c.Bool("channels_last", false) && x.Rank() > 2
	if last {
		x = x.MoveDim(x.Rank()-1, 1)
	}
	y := poolWindows(c, x).means(c, x)
	if last {
		y = y.MoveDim(1, y.Rank()-1)
	}
	return y
}

// qLinearConcat concatenates numbers of scales and zero points of their own: inputs 2 and on, three for each.
func qLinearConcat(c *Call) []*Value {
	if c.Len() < 5 || (c.Len()-2)%3 != 0 {
		c.Fail("%d inputs, and should be two, and three for each part", c.Len())
	}
	var parts []*autograd.Node
	for i := 2; i < c.Len(); i += 3 {
		parts = append(parts, dequantized(c.Node(i), c.Node(i+1), c.NodeOr(i+2)))
	}
	x := autograd.Concat(c.axis(c.Int("axis", 0), parts[0].Rank()), parts...)
	return Out(quantized(c, x.Div(like(c.Node(0), tensor.Float32)), c.Node(1), c.Type(1), true))
}

// broadcastOf returns the rule of the shape that inputs are broadcast to.
func broadcastOf(inputs ...int) shapeRule {
	return func(c *ShapeCall) []Known {
		shapes := make([][]Dim, len(inputs))
		for k, i := range inputs {
			shapes[k] = c.Dims(i)
		}
		return []Known{{Dims: c.broadcast(shapes...)}}
	}
}

// typedOf returns a rule whose first output has the type of input i.
func typedOf(rule shapeRule, i int) shapeRule {
	return func(c *ShapeCall) []Known { return typed(rule, c.Type(i))(c) }
}

func globalAverageShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	from, to := 2, len(dims)
	if c.Bool("channels_last", false) {
		from, to = 1, len(dims)-1
	}
	for a := from; a < to; a++ {
		dims[a] = NewDim(1)
	}
	return []Known{{Dims: dims}}
}

func averageOfWindowsShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if len(dims) < 3 {
		return nil
	}
	from := 2
	if c.Bool("channels_last", false) {
		from = 1
	}
	spatial := dims[from : len(dims)-2+from]
	copy(spatial, c.windowDims(slices.Clone(spatial), nil, c.Bool("ceil_mode", false)))
	return []Known{{Dims: dims}}
}

func qLinearConcatShape(c *ShapeCall) []Known {
	var parts []Known
	for i := 2; i < c.Len(); i += 3 {
		parts = append(parts, c.In(i).as(c.Type(1)))
	}
	if len(parts) == 0 {
		return nil
	}
	return []Known{c.concat(c.Int("axis", 0), parts)}
}

func qGemmShape(c *ShapeCall) []Known {
	if !c.Has(7) {
		return typed(gemmShape(0, 3), "float")(c)
	}
	return quantizedTo(gemmShape(0, 3), 8)(c)
}
