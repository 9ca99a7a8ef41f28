package onnx

import "github.com/clgrad/clgrad/autograd"

func init() {
	type node = autograd.Node
	Register(
		activation("LeakyRelu", "alpha", func(c *Call, x *node) *node { return x.LeakyReLU(c.Float("alpha", 0.01)) }),
		activation("Elu", "alpha", func(c *Call, x *node) *node { return x.ELU(c.Float("alpha", 1)) }),
		activation("Selu", "alpha gamma", selu),
		activation("Celu", "alpha", func(c *Call, x *node) *node { return celu(x, c.Float("alpha", 1)) }),
		activation("ThresholdedRelu", "alpha", func(c *Call, x *node) *node {
			return thresholded(x, c.Float("alpha", 1))
		}),
		activation("HardSigmoid", "alpha beta", func(c *Call, x *node) *node {
			return hardSigmoid(x, c.Float("alpha", 0.2), c.Float("beta", 0.5))
		}),
		activation("HardSwish", "", func(_ *Call, x *node) *node { return x.Hardswish() }),
		activation("Softplus", "", func(_ *Call, x *node) *node { return x.Softplus() }),
		activation("Softsign", "", func(_ *Call, x *node) *node { return x.Softsign() }),
		activation("Mish", "", func(_ *Call, x *node) *node { return x.Mish() }),
		activation("Swish", "alpha", func(c *Call, x *node) *node { return swish(x, c.Float("alpha", 1)) }),
		activation("Gelu", "approximate", gelu),
		Operator{Name: "Shrink", Attributes: "bias lambd", Shape: sameAs(0), Run: shrink},
		Operator{Name: "PRelu", Attributes: "consumed_inputs", Shape: sameAs(0), Run: prelu},
		Operator{Name: "Softmax", Attributes: "axis", Shape: sameAs(0), Run: func(c *Call) []*Value {
			return linewise(c, (*node).Softmax)
		}},
		Operator{Name: "LogSoftmax", Attributes: "axis", Shape: sameAs(0), Run: func(c *Call) []*Value {
			return linewise(c, (*node).LogSoftmax)
		}},
	)
}

// activation returns an operator of one input of floats.
func activation(name, attributes string, f func(c *Call, x *autograd.Node) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: attributes + " consumed_inputs", Shape: sameAs(0), Run: func(c *Call) []*Value {
		return Out(f(c, floatsOf(c, 0)))
	}}
}

// floatsOf returns input i, a tensor of floats.
func floatsOf(c *Call, i int) *autograd.Node {
	x := c.Node(i)
	if !x.Type().Float() {
		c.Fail("input %d is of %v, and should be of floats", i, x.Type())
	}
	return x
}

// selu is gamma·elu(x, alpha). Before opset 6 the numbers that stand for those left out had fewer digits.
func selu(c *Call, x *autograd.Node) *autograd.Node {
	alpha, gamma := 1.67326319217681884765625, 1.05070102214813232421875
	if c.Version() < 6 {
		alpha, gamma = 1.6732, 1.0507
	}
	return x.ELU(c.Float("alpha", alpha)).MulScalar(c.Float("gamma", gamma))
}

// celu is max(0, x) + min(0, alpha·(exp(x/alpha) − 1)), also where alpha is negative.
func celu(x *autograd.Node, alpha float64) *autograd.Node {
	if alpha > 0 {
		return x.CELU(alpha)
	}
	return x.ReLU().Add(x.DivScalar(alpha).Expm1().MulScalar(alpha).MinScalar(0))
}

// thresholded is x above alpha, else 0.
func thresholded(x *autograd.Node, alpha float64) *autograd.Node {
	return x.MaskedFill(x.GtScalar(alpha).LogicalNot(), 0)
}

func hardSigmoid(x *autograd.Node, alpha, beta float64) *autograd.Node {
	return x.MulScalar(alpha).AddScalar(beta).Clamp(0, 1)
}

func swish(x *autograd.Node, alpha float64) *autograd.Node {
	if alpha == 1 {
		return x.SiLU()
	}
	return x.Mul(x.MulScalar(alpha).Sigmoid())
}

func gelu(c *Call, x *autograd.Node) *autograd.Node {
	if c.oneOf("approximate", "none", "tanh") == "tanh" {
		return x.GELUTanh()
	}
	return x.GELU()
}

// shrink is x + bias below −lambd, x − bias above lambd, and else 0.
func shrink(c *Call) []*Value {
	x, typ := inFloats(c.Node(0)), c.Type(0)
	bias, lambd := c.Float("bias", 0), c.Float("lambd", 0.5)
	y := x.SubScalar(bias).Where(x.GtScalar(lambd), x.AddScalar(bias))
	return Out(like(y.MaskedFill(x.GtScalar(lambd).LogicalOr(x.LtScalar(-lambd)).LogicalNot(), 0), typ))
}

// prelu is x, times a slope where x is negative. Before opset 7 the slope was one number, or one for each channel.
func prelu(c *Call) []*Value {
	x, slope := c.Node(0), c.Node(1)
	if c.Version() < 7 && slope.Rank() == 1 && x.Rank() > 1 && slope.Len() > 1 {
		slope = perChannel(slope, x.Rank())
	}
	return Out(like(x.PReLU(slope), x.Type()))
}

// perChannel returns b [channels] so that it broadcasts to [batch, channels, …] of a rank.
func perChannel(b *autograd.Node, rank int) *autograd.Node {
	shape := make([]int, max(rank-1, 1))
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = b.Len()
	return b.Reshape(shape...)
}

// linewise returns an operator along an axis. Before opset 13 it is along this axis and all after it, as one.
func linewise(c *Call, f func(x *autograd.Node, axis int) *autograd.Node) []*Value {
	x := floatsOf(c, 0)
	if c.Version() >= 13 {
		return Out(f(x, c.Int("axis", -1)))
	}
	axis := c.Int("axis", 1)
	if axis == x.Rank() { // rows of one element
		return Out(f(x.Reshape(x.Len(), 1), 1).Reshape(x.Shape()...))
	}
	axis = c.axis(axis, x.Rank())
	return Out(f(flatAt(x, axis), 1).Reshape(x.Shape()...))
}

// flatAt returns x as a matrix, whose rows are the axes from one on.
func flatAt(x *autograd.Node, axis int) *autograd.Node {
	rows := 1
	for _, n := range x.Shape()[:axis] {
		rows *= n
	}
	columns := 1
	for _, n := range x.Shape()[axis:] {
		columns *= n
	}
	return x.Reshape(rows, columns)
}
