package onnx

import (
	"github.com/clgrad/clgrad/autograd"
)

func init() {
	Register(
		Operator{Domain: training, Name: "Adagrad", Attributes: "decay_factor epsilon norm_coefficient",
			Run: optimizer(3, adagrad), Shape: optimizerShape(3)},
		Operator{Domain: training, Name: "Adam", Attributes: "alpha beta epsilon norm_coefficient norm_coefficient_post",
			Run: optimizer(4, adam), Shape: optimizerShape(4)},
		Operator{Domain: training, Name: "Momentum", Attributes: "alpha beta mode norm_coefficient",
			Run: optimizer(3, momentum), Shape: optimizerShape(3)},
	)
}

// optimizer returns the Run of a step for tensors x: inputs are the learning rate, the count of steps, all x, their
// gradients, and kinds−2 lists of what the optimizer remembers of each. step takes these of one x, the gradient with
// the penalty norm_coefficient·x, and returns x and what is remembered.
func optimizer(kinds int, step func(c *Call, rate, count *autograd.Node,
	of []*autograd.Node) []*autograd.Node) func(c *Call) []*Value {
	return func(c *Call) []*Value {
		n := (c.Len() - 2) / kinds
		if n < 1 || c.Len() != 2+kinds*n {
			c.Fail("%d inputs, and should be a rate, a count and %d for each tensor", c.Len(), kinds)
		}
		out := make([]*autograd.Node, (kinds-1)*n)
		for i := range n {
			of := make([]*autograd.Node, kinds)
			for k := range of {
				of[k] = c.Node(2 + k*n + i)
			}
			x := of[0]
			of[1] = of[1].Add(x.MulScalar(c.Float("norm_coefficient", 0)))
			rate, count := c.Node(0).Reshape().To(x.Type()), c.Node(1).Reshape().To(x.Type())
			for k, y := range step(c, rate, count, of) {
				out[k*n+i] = y
			}
		}
		return Out(out...)
	}
}

func adagrad(c *Call, rate, count *autograd.Node, of []*autograd.Node) []*autograd.Node {
	x, g, squares := of[0], of[1], of[2]
	rate = rate.Div(count.MulScalar(c.Float("decay_factor", 0)).AddScalar(1))
	squares = squares.Add(g.Square())
	return []*autograd.Node{x.Sub(rate.Mul(g).Div(squares.Sqrt().AddScalar(c.Float("epsilon", 1e-6)))), squares}
}

func adam(c *Call, rate, count *autograd.Node, of []*autograd.Node) []*autograd.Node {
	x, g, mean, squares := of[0], of[1], of[2], of[3]
	alpha, beta := c.Float("alpha", 0.9), c.Float("beta", 0.999)
	mean = mean.MulScalar(alpha).Add(g.MulScalar(1 - alpha))
	squares = squares.MulScalar(beta).Add(g.Square().MulScalar(1 - beta))
	// Since the first step has the count 0, what is divided by is 1 there.
	first := count.LeScalar(0)
	bias := func(decay float64) *autograd.Node {
		return newFloats(c, []float64{decay}, x.Type()).Reshape().PowTensor(count).RSubScalar(1).MaskedFill(first, 1)
	}
	rate = rate.Mul(bias(beta).Sqrt()).Div(bias(alpha))
	x = x.Sub(rate.Mul(mean).Div(squares.Sqrt().AddScalar(c.Float("epsilon", 1e-6))))
	return []*autograd.Node{x.MulScalar(1 - c.Float("norm_coefficient_post", 0)), mean, squares}
}

func momentum(c *Call, rate, count *autograd.Node, of []*autograd.Node) []*autograd.Node {
	x, g, v := of[0], of[1], of[2]
	alpha := c.Float("alpha", 0)
	beta := newFloats(c, []float64{c.Float("beta", 0)}, x.Type()).Reshape().MaskedFill(count.LeScalar(0), 1)
	v = v.MulScalar(alpha).Add(g.Mul(beta))
	switch mode := c.String("mode", ""); mode {
	case "standard":
		return []*autograd.Node{x.Sub(rate.Mul(v)), v}
	case "nesterov":
		return []*autograd.Node{x.Sub(rate.Mul(g.Add(v.MulScalar(alpha)))), v}
	default:
		c.Fail("mode is %q", mode)
		return nil
	}
}

// optimizerShape: outputs are all tensors, and what is remembered of them, as the inputs are.
func optimizerShape(kinds int) shapeRule {
	return func(c *ShapeCall) []Known {
		n := max((c.Len()-2)/kinds, 0)
		var inputs []int
		for k := range kinds {
			for i := range n {
				if k != 1 { // the gradients
					inputs = append(inputs, 2+k*n+i)
				}
			}
		}
		return sameAs(inputs...)(c)
	}
}
