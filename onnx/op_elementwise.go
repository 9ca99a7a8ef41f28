package onnx

import (
	"math"
	"slices"

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
		Operator{Name: "Pow", Attributes: "broadcast axis", Run: power},
		binary("And", (*node).LogicalAnd),
		binary("Or", (*node).LogicalOr),
		binary("Xor", (*node).LogicalXor),
		Operator{Name: "Equal", Attributes: "broadcast axis", Run: func(c *Call) []*Value {
			m := moving(c, 0)
			return Out(m.node(0).Eq(aligned(c, m.node(0), m.node(1))))
		}},
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
		Operator{Name: "Where", Run: func(c *Call) []*Value {
			m := moving(c, 1)
			return m.out(m.node(1).Where(c.Node(0), m.node(2)))
		}},
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

// binary returns an operator of two inputs that broadcast.
func binary(name string, f func(x, y *autograd.Node) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: "broadcast axis consumed_inputs", Run: func(c *Call) []*Value {
		x := c.Node(0)
		return Out(f(x, aligned(c, x, c.Node(1))))
	}}
}

// aligned returns y as it broadcasts with x. Before opset 7 its axes are those of x from the attribute axis on.
func aligned(c *Call, x, y *autograd.Node) *autograd.Node {
	axis := c.Int("axis", -1)
	if c.Version() >= 7 || axis < 0 || y.Rank()+axis >= x.Rank() {
		return y
	}
	return y.Reshape(slices.Concat(y.Shape(), slices.Repeat([]int{1}, x.Rank()-axis-y.Rank()))...)
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
	if x.Type().Integer() {
		return x.TruncDivide(y)
	}
	return x.Div(y)
}

// power is x to the y, of the type of x. Powers of integers to floats are computed in floats, and what is not whole is cut
// off.
func power(c *Call) []*Value {
	x := c.Node(0)
	typ := x.Type()
	var p float64
	if typ.Float() && c.known(1, &p) && len(c.dims(1)) <= x.Rank() {
		return Out(x.Pow(p))
	}
	y := aligned(c, x, c.Node(1))
	if typ.Integer() && y.Type().Integer() {
		return Out(like(x.PowTensor(y), typ))
	}
	if typ.Float() {
		if y.Type().Integer() {
			y = y.To(typ.Computed())
		}
		return Out(like(x.PowTensor(y), typ))
	}
	z := inFloats(x).PowTensor(inFloats(y))
	whole, near := z.Round(), 1e-6
	if z.Type() == tensor.Float64 {
		near = 1e-12
	}
	return Out(whole.Where(z.IsClose(whole, near, 0), z.Trunc()).To(typ))
}

// known stores the one number of input i if the host knows it, and reports whether it does.
func (c *Call) known(i int, number *float64) bool {
	if v := c.Value(i); v.host == nil || v.host.Len() != 1 {
		return false
	}
	*number = c.Floats(i)[0]
	return !math.IsNaN(*number)
}

func modulo(c *Call) []*Value {
	if c.Bool("fmod", false) {
		return Out(c.Node(0).Fmod(c.Node(1)))
	}
	return Out(c.Node(0).Remainder(c.Node(1)))
}

// clip keeps numbers between a lowest and a highest, which are attributes before opset 11. All become the highest
// where the lowest is above it.
func clip(c *Call) []*Value {
	x := c.Node(0)
	low, high := c.Float("min", math.Inf(-1)), c.Float("max", math.Inf(1))
	if c.Version() < 11 {
		return Out(x.Clamp(low, high))
	}
	if x.Type().Float() && (!c.Has(1) || c.known(1, &low)) && (!c.Has(2) || c.known(2, &high)) {
		return Out(x.Clamp(low, high))
	}
	if min := c.NodeOr(1); min != nil {
		x = x.Maximum(min)
	}
	if max := c.NodeOr(2); max != nil {
		x = x.Minimum(max)
	}
	return Out(x)
}
