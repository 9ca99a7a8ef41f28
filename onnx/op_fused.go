package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
)

// microsoft is the domain of the operators that ONNX Runtime adds, and that exporters for it write.
const microsoft = "com.microsoft"

// Operators of the domain com.microsoft that are several of ONNX in one.
func init() {
	type node = autograd.Node
	activation := func(name, attributes string, f func(c *Call, x *node) *node) Operator {
		return Operator{Domain: microsoft, Name: name, Attributes: attributes, Shape: sameAs(0), Run: func(c *Call) []*Value {
			x := c.Node(0)
			if bias := c.NodeOr(1); bias != nil {
				x = x.Add(bias)
			}
			return Out(f(c, x))
		}}
	}
	Register(
		Operator{Domain: microsoft, Name: "FusedConv", Attributes: convAttributes + " activation activation_params",
			Run: fusedConv, Shape: convShape(0, 1)},
		activation("Gelu", "", func(_ *Call, x *node) *node { return x.GELU() }),
		activation("BiasGelu", "", func(_ *Call, x *node) *node { return x.GELU() }),
		activation("FastGelu", "", func(_ *Call, x *node) *node { return x.GELUTanh() }),
		activation("QuickGelu", "alpha", func(c *Call, x *node) *node {
			return x.Mul(x.MulScalar(c.Float("alpha", 1.702)).Sigmoid())
		}),
		Operator{Domain: microsoft, Name: "FusedMatMul", Attributes: "alpha transA transB transBatchA transBatchB",
			Run: fusedMatMul, Shape: fusedMatMulShape},
		Operator{Domain: microsoft, Name: "FusedGemm", Attributes: "activation activation_alpha activation_beta " +
			"activation_gamma alpha beta transA transB", Run: fusedGemm, Shape: gemmShape(0, 1)},
	)
}

// fusedMatMul is alpha·a·b of operands that are transposed before.
func fusedMatMul(c *Call) []*Value {
	operand := func(i int, name string) *autograd.Node {
		x := c.Node(i)
		if x.Rank() < 2 {
			return x
		}
		if c.Bool("transBatch"+name, false) { // the rows are the first axis
			x = x.MoveDim(0, x.Rank()-2)
		}
		if c.Bool("trans"+name, false) {
			x = x.MoveDim(x.Rank()-1, x.Rank()-2)
		}
		return x
	}
	return Out(scaled(product(c, operand(0, "A"), operand(1, "B")), c.Float("alpha", 1)))
}

// fusedGemm is Gemm and a function.
func fusedGemm(c *Call) []*Value {
	var numbers []float64
	for _, name := range []string{"activation_alpha", "activation_beta"} {
		if c.HasAttribute(name) {
			numbers = append(numbers, c.Float(name, 0))
		}
	}
	return Out(activated(c, gemm(c)[0].any(), numbers))
}

// fusedConv is Conv, the sum with another tensor, and a function.
func fusedConv(c *Call) []*Value {
	y := conv(c)[0].any()
	if z := c.NodeOr(3); z != nil {
		y = y.Add(z)
	}
	return Out(activated(c, y, c.FloatList("activation_params")))
}

// activated returns the function of x that attribute activation names, with its numbers: those that are left out are
// ONNX's.
func activated(c *Call, x *autograd.Node, numbers []float64) *autograd.Node {
	number := func(i int, or float64) float64 {
		if i < len(numbers) {
			return numbers[i]
		}
		return or
	}
	switch name := c.String("activation", ""); name {
	case "":
		return x
	case "Relu":
		return x.ReLU()
	case "Tanh":
		return x.Tanh()
	case "Sigmoid":
		return x.Sigmoid()
	case "Softplus":
		return x.Softplus()
	case "Softsign":
		return x.Softsign()
	case "LeakyRelu":
		return x.LeakyReLU(number(0, 0.01))
	case "Elu":
		return x.ELU(number(0, 1))
	case "Clip":
		if len(numbers) != 2 {
			c.Fail("Clip has %d numbers, and should have two", len(numbers))
		}
		return x.MaxScalar(numbers[0]).MinScalar(numbers[1])
	case "HardSigmoid":
		return x.MulScalar(number(0, 0.2)).AddScalar(number(1, 0.5)).Clamp(0, 1)
	default:
		c.Unsupported("activation %q", name)
	}
	return nil
}

func fusedMatMulShape(c *ShapeCall) []Known {
	operand := func(i int, name string) []Dim {
		dims := c.Dims(i)
		n := len(dims)
		if n < 2 {
			return dims
		}
		if c.Bool("transBatch"+name, false) {
			dims = slices.Insert(slices.Clone(dims[1:]), n-2, dims[0])
		}
		if c.Bool("trans"+name, false) {
			dims[n-1], dims[n-2] = dims[n-2], dims[n-1]
		}
		return dims
	}
	return []Known{{Type: c.Type(0), Dims: c.matMul(operand(0, "A"), operand(1, "B"))}}
}
