package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// unary returns an operator of one input, in every version alike.
func unary(name string, f func(x *autograd.Node) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: "consumed_inputs", Run: func(c *Call) []*Value { return Out(f(c.Node(0))) }}
}

func init() {
	type node = autograd.Node
	Register(
		unary("Abs", (*node).Abs),
		unary("Acos", (*node).Acos),
		unary("Acosh", (*node).Acosh),
		unary("Asin", (*node).Asin),
		unary("Asinh", (*node).Asinh),
		unary("Atan", (*node).Atan),
		unary("Atanh", (*node).Atanh),
		unary("BitwiseNot", (*node).BitwiseNot),
		unary("Ceil", (*node).Ceil),
		unary("Cos", (*node).Cos),
		unary("Cosh", (*node).Cosh),
		unary("Erf", (*node).Erf),
		unary("Exp", (*node).Exp),
		unary("Floor", (*node).Floor),
		unary("IsNaN", (*node).IsNaN),
		unary("Log", (*node).Log),
		unary("Neg", (*node).Neg),
		unary("Not", (*node).LogicalNot),
		unary("Reciprocal", (*node).Reciprocal),
		unary("Relu", (*node).ReLU),
		unary("Round", (*node).Round),
		unary("Sigmoid", (*node).Sigmoid),
		unary("Sign", (*node).Sign),
		unary("Sin", (*node).Sin),
		unary("Sinh", (*node).Sinh),
		unary("Sqrt", (*node).Sqrt),
		unary("Tan", (*node).Tan),
		unary("Tanh", (*node).Tanh),

		binary("Add", (*node).Add),
		binary("Sub", (*node).Sub),
		binary("Mul", (*node).Mul),
		binary("Div", divide),
		binary("Pow", power),
		binary("And", (*node).LogicalAnd),
		binary("Or", (*node).LogicalOr),
		binary("Xor", (*node).LogicalXor),
		binary("Equal", (*node).Eq),
		binary("Less", (*node).Lt),
		binary("LessOrEqual", (*node).Le),
		binary("Greater", (*node).Gt),
		binary("GreaterOrEqual", (*node).Ge),
		binary("BitwiseAnd", (*node).BitwiseAnd),
		binary("BitwiseOr", (*node).BitwiseOr),
		binary("BitwiseXor", (*node).BitwiseXor),

		variadic("Max", (*node).Maximum),
		variadic("Min", (*node).Minimum),
		variadic("Sum", (*node).Add),
		Operator{Name: "Mean", Attributes: "consumed_inputs", Run: func(c *Call) []*Value {
			return Out(folded(c, (*node).Add).DivScalar(float64(c.Len())))
		}},
		Operator{Name: "Where", Run: func(c *Call) []*Value { return Out(c.Node(1).Where(c.Node(0), c.Node(2))) }},
		Operator{Name: "Mod", Attributes: "fmod", Run: modulo},
		Operator{Name: "BitShift", Attributes: "direction", Run: func(c *Call) []*Value {
			if c.String("direction", "") == "LEFT" {
				return Out(c.Node(0).BitwiseLeftShift(c.Node(1)))
			}
			return Out(c.Node(0).BitwiseRightShift(c.Node(1)))
		}},
		Operator{Name: "IsInf", Attributes: "detect_negative detect_positive", Run: func(c *Call) []*Value {
			x, inf := c.Node(0), c.Node(0).IsInf()
			if !c.Bool("detect_negative", true) {
				inf = inf.LogicalAnd(x.GtScalar(0))
			}
			if !c.Bool("detect_positive", true) {
				inf = inf.LogicalAnd(x.LtScalar(0))
			}
			return Out(inf)
		}},
		Operator{Name: "Clip", Attributes: "min max consumed_inputs", Run: clip},
	)
}

// binary returns an operator of two inputs that broadcast. Before opset 7 the second was laid along the axes of the
// first, as attributes say.
func binary(name string, f func(x, y *autograd.Node) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: "broadcast axis consumed_inputs", Run: func(c *Call) []*Value {
		x, y := c.Node(0), c.Node(1)
		if axis := c.Int("axis", -1); c.Version() < 7 && axis >= 0 {
			shape := y.Shape()
			for len(shape)+axis < x.Rank() {
				shape = append(shape, 1)
			}
			y = y.Reshape(shape...)
		}
		return Out(f(x, y))
	}}
}

// variadic returns an operator that is f of all inputs.
func variadic(name string, f func(x, y *autograd.Node) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: "consumed_inputs", Run: func(c *Call) []*Value { return Out(folded(c, f)) }}
}

func folded(c *Call, f func(x, y *autograd.Node) *autograd.Node) *autograd.Node {
	x := c.Node(0)
	for i := 1; i < c.Len(); i++ {
		x = f(x, c.Node(i))
	}
	return x
}

// divide is x/y, of integers rounded towards 0.
func divide(x, y *autograd.Node) *autograd.Node {
	if !x.Type().Integer() {
		return x.Div(y)
	}
	// ⌊x/y⌋, and one more where that is below an inexact quotient that is negative.
	q := x.FloorDivide(y)
	if !x.Type().Signed() {
		return q
	}
	inexact := x.Sub(q.Mul(y)).NeScalar(0)
	negative := x.LtScalar(0).LogicalXor(y.LtScalar(0))
	return q.Add(inexact.LogicalAnd(negative).To(x.Type()))
}

// power is x to the y, of the type of x.
func power(x, y *autograd.Node) *autograd.Node {
	typ := x.Type()
	if typ.Integer() {
		x = x.To(tensor.Float32)
	}
	return x.PowTensor(y.To(x.Type())).To(typ)
}

func modulo(c *Call) []*Value {
	if c.Bool("fmod", false) {
		return Out(c.Node(0).Fmod(c.Node(1)))
	}
	return Out(c.Node(0).Remainder(c.Node(1)))
}

// clip keeps numbers between a lowest and a highest, which are attributes before opset 11.
func clip(c *Call) []*Value {
	x := c.Node(0)
	if c.Version() < 11 {
		if c.HasAttribute("min") {
			x = x.MaxScalar(c.Float("min", 0))
		}
		if c.HasAttribute("max") {
			x = x.MinScalar(c.Float("max", 0))
		}
		return Out(x)
	}
	if low := c.NodeOr(1); low != nil {
		x = x.Maximum(low)
	}
	if high := c.NodeOr(2); high != nil {
		x = x.Minimum(high)
	}
	return Out(x)
}
