package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "MatMulInteger", Since: 10, Shape: typed(matMulShape(0, 1), "int32"), Run: func(c *Call) []*Value {
			return Out(integerMatMul(c, c.Node(0), c.Node(1), c.NodeOr(2), c.NodeOr(3)))
		}},
		Operator{Name: "QLinearMatMul", Since: 10, Run: qLinearMatMul, Shape: quantizedTo(matMulShape(0, 3), 7)},
	)
}

// integerMatMul is the product of a less za and b less zb, of integers of 8 bits, to Int32. Zero points may be nil, one
// number, or one for each row of a and each column of b: [m] or […, m, 1], and [n] or […, 1, n].
func integerMatMul(c *Call, a, b, za, zb *autograd.Node) *autograd.Node {
	column, row := a.Rank() == 1, b.Rank() == 1 // axes that the product has not
	if column {
		a = a.Unsqueeze(0)
	}
	if row {
		b = b.Unsqueeze(1)
	}
	if a.Rank() < 2 || b.Rank() < 2 {
		c.Fail("a product of shapes %v and %v", c.Shape(0), c.Shape(1))
	}
	y := centeredProduct(a.Value(), b.Value(), vectorOf(za), vectorOf(zb))
	shape := slices.Clone(y.Shape())
	if row {
		shape = shape[:len(shape)-1]
	}
	if column {
		at := y.Rank() - 2
		shape = slices.Delete(shape, at, at+1)
	}
	return autograd.Const(y.Reshape(shape...))
}

// vectorOf returns zero points of one axis, where all others are 1, or as they are. It is nil of nil.
func vectorOf(z *autograd.Node) *tensor.Tensor {
	if z == nil {
		return nil
	}
	if z.Rank() > 1 && slices.Max(z.Shape()) == z.Len() {
		return z.Value().Reshape(-1)
	}
	return z.Value()
}

// centeredProduct is tensor.MatMulInteger, with zero points of any shape that matrices have.
func centeredProduct(a, b, za, zb *tensor.Tensor) *tensor.Tensor {
	if (za == nil || za.Rank() < 2) && (zb == nil || zb.Rank() < 2) {
		return tensor.MatMulInteger(a, b, tensor.MatMulIntegerOptions{ZeroA: za, ZeroB: zb})
	}
	// Σ (a − za)·(b − zb) = Σ ab − za·Σ b − zb·Σ a + k·za·zb
	int32s := func(t *tensor.Tensor) *tensor.Tensor { return t.To(tensor.Int32) }
	y := tensor.MatMulInteger(a, b)
	wide := func(z *tensor.Tensor, axis int) *tensor.Tensor {
		if z.Rank() == 1 {
			z = z.Unsqueeze(axis)
		}
		return int32s(z)
	}
	if za != nil {
		za = wide(za, 1)
		y = y.Sub(za.Mul(int32s(b.Sum(-2, tensor.Keepdims))))
	}
	if zb != nil {
		zb = wide(zb, 0)
		y = y.Sub(zb.Mul(int32s(a.Sum(-1, tensor.Keepdims))))
		if za != nil {
			y = y.Add(za.Mul(zb).MulScalar(float64(a.Shape()[a.Rank()-1])))
		}
	}
	return y
}

// qLinearMatMul multiplies numbers with scales and zero points of rows of a, of columns of b, and of the output.
func qLinearMatMul(c *Call) []*Value {
	a, b, zero := c.Node(0), c.Node(3), c.NodeOr(7)
	var y *autograd.Node
	if a.Type().Storage() || b.Type().Storage() { // floats of 8 bits
		one := autograd.Const(tensor.FullOf(c.Device(), tensor.Float32, 1, []int{}...))
		y = dequantized(a, one, rowsOf(c.NodeOr(2))).MatMul(dequantized(b, one, c.NodeOr(5)))
	} else {
		y = integerMatMul(c, a, b, c.NodeOr(2), c.NodeOr(5))
	}
	typ := a.Type()
	if zero != nil {
		typ = zero.Type()
	}
	single := func(x *autograd.Node) *autograd.Node { return like(x, tensor.Float32) }
	scale := single(rowsOf(c.Node(1))).Mul(single(c.Node(4))).Div(single(c.Node(6)))
	return Out(quantized(c, single(y).Mul(scale), zero, typ, true))
}

// rowsOf returns numbers [m] of rows so that they broadcast to a matrix [m, n]. It is nil of nil.
func rowsOf(s *autograd.Node) *autograd.Node {
	if s != nil && s.Rank() == 1 && s.Len() > 1 {
		return s.Unsqueeze(1)
	}
	return s
}
