package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "ConvInteger", Since: 10, Attributes: convAttributes, Shape: typed(convShape(0, 1), "int32"), Run: func(c *Call) []*Value {
			return Out(integerConv(c, c.Node(0), c.Node(1), c.NodeOr(2), c.NodeOr(3)))
		}},
		Operator{Name: "QLinearConv", Since: 10, Attributes: convAttributes, Run: qLinearConv,
			Shape: quantizedTo(convShape(0, 3), 7)},
	)
}

// integerConv is the convolution of x less zx and w less zw, of integers of 8 bits, to Int32. Zero points may be nil;
// that of w may be one for each output channel.
func integerConv(c *Call, x, w, zx, zw *autograd.Node) *autograd.Node {
	checkConv(c, x, w)
	x, o := convOptions(c, x, w)
	return autograd.Const(tensor.ConvInteger(x.Value(), w.Value(), tensor.ConvIntegerOptions{ConvOptions: o, ZeroX: vectorOf(zx), ZeroW: vectorOf(zw)}))
}

// qLinearConv is a convolution of numbers with scales and zero points: those of the weights may be one for each output
// channel. The bias has the scale of x times that of w.
func qLinearConv(c *Call) []*Value {
	zero := c.NodeOr(7)
	y := integerConv(c, c.Node(0), c.Node(3), c.NodeOr(2), c.NodeOr(5))
	if bias := c.NodeOr(8); bias != nil {
		y = y.Add(perChannel(bias, y.Rank()))
	}
	typ := c.Type(0)
	if zero != nil {
		typ = zero.Type()
	}
	scale := c.Node(1).Mul(c.Node(4)).Div(c.Node(6))
	if scale.Len() > 1 {
		scale = perChannel(scale, y.Rank())
	}
	return Out(quantized(c, y.To(tensor.Float32).Mul(scale), zero, typ, true))
}

// quantizedTo returns a rule whose output has the type of a zero point, or of input 0 where that is left out.
func quantizedTo(rule shapeRule, zero int) shapeRule {
	return func(c *ShapeCall) []Known {
		typ := c.Type(0)
		if c.Has(zero) {
			typ = c.Type(zero)
		}
		return typed(rule, typ)(c)
	}
}
