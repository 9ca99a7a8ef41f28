package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// unary returns an operator of one input, in every version alike. known is what is known of an element of the output,
// nil for nothing.
func unary(name string, f func(x *autograd.Node) *autograd.Node, known func(x element, typ string) element) Operator {
	return Operator{Name: name, Attributes: "consumed_inputs", Shape: eachElement("", known),
		Run: func(c *Call) []*Value { return Out(f(c.Node(0))) }}
}

func init() {
	type node = autograd.Node
	Register(
		unary("Abs", (*node).Abs, ofNumber(math.Abs)),
		unary("Acos", (*node).Acos, nil),
		unary("Acosh", (*node).Acosh, nil),
		unary("Asin", (*node).Asin, nil),
		unary("Asinh", (*node).Asinh, nil),
		unary("Atan", (*node).Atan, nil),
		unary("Atanh", (*node).Atanh, nil),
		unary("BitwiseNot", (*node).BitwiseNot, nil),
		unary("Ceil", (*node).Ceil, rounding(math.Ceil)),
		unary("Cos", (*node).Cos, nil),
		unary("Cosh", (*node).Cosh, nil),
		unary("Erf", (*node).Erf, nil),
		unary("Exp", (*node).Exp, nil),
		unary("Floor", (*node).Floor, rounding(math.Floor)),
		typedOperator(unary("IsNaN", (*node).IsNaN, nil), "bool"),
		unary("Log", (*node).Log, nil),
		unary("Neg", (*node).Neg, negated),
		unary("Not", (*node).LogicalNot, ofNumber(func(x float64) float64 { return 1 - x })),
		unary("Reciprocal", (*node).Reciprocal, nil),
		unary("Relu", (*node).ReLU, nil),
		unary("Round", (*node).Round, rounding(math.RoundToEven)),
		unary("Sigmoid", (*node).Sigmoid, nil),
		unary("Sign", (*node).Sign, nil),
		unary("Sin", (*node).Sin, nil),
		unary("Sinh", (*node).Sinh, nil),
		unary("Sqrt", (*node).Sqrt, ofNumber(math.Sqrt)),
		unary("Tan", (*node).Tan, nil),
		unary("Tanh", (*node).Tanh, nil),

		binary("Add", (*node).Add, broadcasting("", added)),
		binary("Sub", (*node).Sub, broadcasting("", subtracted)),
		binary("Mul", (*node).Mul, broadcasting("", multiplied)),
		binary("Div", divide, broadcasting("", divided)),
		Operator{Name: "Pow", Attributes: "broadcast axis", Run: power, Shape: broadcasting("", nil)},
		binary("And", (*node).LogicalAnd, broadcasting("bool", multiplied)),
		binary("Or", (*node).LogicalOr, broadcasting("bool", greater)),
		binary("Xor", (*node).LogicalXor, broadcasting("bool", comparing(opposite(isZero)))),
		Operator{Name: "Equal", Attributes: "broadcast axis", Shape: broadcasting("bool", comparing(isZero)), Run: func(c *Call) []*Value {
			m := moving(c, 0)
			return Out(m.node(0).Eq(aligned(c, m.node(0), m.node(1))))
		}},
		binary("Less", (*node).Lt, broadcasting("bool", comparing(isNegative))),
		binary("LessOrEqual", (*node).Le, broadcasting("bool", comparing(opposite(isPositive)))),
		binary("Greater", (*node).Gt, broadcasting("bool", comparing(isPositive))),
		binary("GreaterOrEqual", (*node).Ge, broadcasting("bool", comparing(opposite(isNegative)))),
		binary("BitwiseAnd", (*node).BitwiseAnd, broadcasting("", nil)),
		binary("BitwiseOr", (*node).BitwiseOr, broadcasting("", nil)),
		binary("BitwiseXor", (*node).BitwiseXor, broadcasting("", nil)),

		variadic("Max", (*node).Maximum, greater),
		variadic("Min", (*node).Minimum, lesser),
		variadic("Sum", (*node).Add, added),
		Operator{Name: "Mean", Attributes: "consumed_inputs", Shape: broadcasting("", nil), Run: func(c *Call) []*Value {
			return Out(folded(c, (*node).Add).DivScalar(float64(c.Len())))
		}},
		Operator{Name: "Where", Shape: whereShape, Run: func(c *Call) []*Value {
			m := moving(c, 1)
			return m.out(m.node(1).Where(c.Node(0), m.node(2)))
		}},
		Operator{Name: "Mod", Attributes: "fmod", Run: modulo, Shape: broadcasting("", remaining)},
		Operator{Name: "BitShift", Attributes: "direction", Shape: broadcasting("", nil), Run: func(c *Call) []*Value {
			if c.String("direction", "") == "LEFT" {
				return Out(c.Node(0).BitwiseLeftShift(c.Node(1)))
			}
			return Out(c.Node(0).BitwiseRightShift(c.Node(1)))
		}},
		Operator{Name: "IsInf", Attributes: "detect_negative detect_positive", Shape: sameOf("bool"), Run: func(c *Call) []*Value {
			x, inf := c.Node(0), c.Node(0).IsInf()
			if !c.Bool("detect_negative", true) {
				inf = inf.LogicalAnd(x.GtScalar(0))
			}
			if !c.Bool("detect_positive", true) {
				inf = inf.LogicalAnd(x.LtScalar(0))
			}
			return Out(inf)
		}},
		Operator{Name: "Clip", Attributes: "min max consumed_inputs", Run: clip, Shape: sameAs(0)},
	)
}

// binary returns an operator of two inputs that broadcast.
func binary(name string, f func(x, y *autograd.Node) *autograd.Node, shape shapeRule) Operator {
	return Operator{Name: name, Attributes: "broadcast axis consumed_inputs", Shape: shape, Run: func(c *Call) []*Value {
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
func variadic(name string, f func(x, y *autograd.Node) *autograd.Node, known func(x, y element, typ string) element) Operator {
	return Operator{Name: name, Attributes: "consumed_inputs", Shape: broadcasting("", known), Run: func(c *Call) []*Value { return Out(folded(c, f)) }}
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

// typedOperator returns an operator whose first output is of a type.
func typedOperator(o Operator, typ string) Operator {
	o.Shape = typed(o.Shape, typ)
	return o
}

func negated(x element, typ string) element {
	return subtracted(element{dim: NewDim(0)}, x, typ)
}

func whereShape(c *ShapeCall) []Known {
	cond, x, y := c.In(0), c.In(1), c.In(2)
	out := Known{Type: x.Type, Dims: c.broadcast(cond.Dims, x.Dims, y.Dims)}
	if shape, ok := out.small(); ok && (x.elements != nil || y.elements != nil) {
		a, okA := x.spread(shape)
		b, okB := y.spread(shape)
		if holds, ok := cond.spread(shape); ok && okA && okB {
			out.elements = make([]element, len(holds))
			for i, h := range holds {
				switch n, ok := h.dim.Number(); {
				case ok && n == 0:
					out.elements[i] = b[i]
				case ok:
					out.elements[i] = a[i]
				}
			}
		}
	}
	return []Known{out}
}
