package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that draw random numbers: of the session, or of the node's seed.
func init() {
	Register(
		random("RandomNormal", "shape mean scale", func(c *Call) []*Value {
			return c.normal(c.IntList("shape"), tensor.Float32)
		}),
		random("RandomNormalLike", "mean scale", func(c *Call) []*Value { return c.normal(c.dims(0), c.likeInput()) }),
		random("RandomUniform", "shape low high", func(c *Call) []*Value {
			return c.uniform(c.IntList("shape"), tensor.Float32)
		}),
		random("RandomUniformLike", "low high", func(c *Call) []*Value { return c.uniform(c.dims(0), c.likeInput()) }),
		random("Bernoulli", "", func(c *Call) []*Value {
			p := c.Tensor(0)
			if !p.Type().Float() {
				c.Fail("input 0 is %v, and should be of floats", c.Value(0))
			}
			return Out(autograd.Const(p.Bernoulli(c.RNG()).To(c.TypeAttribute("dtype", p.Type()))))
		}),
		random("Multinomial", "sample_size", multinomial),
	)
}

// random returns an operator that draws numbers.
func random(name, attributes string, run func(c *Call) []*Value) Operator {
	return Operator{Name: name, Attributes: "dtype seed " + attributes, OnDevice: true, Run: run}
}

func (c *Call) normal(shape []int, typ tensor.Type) []*Value {
	x := c.RNG().Normal(c.dev, c.Float("mean", 0), c.Float("scale", 1), shape...)
	return Out(autograd.Const(x.To(c.TypeAttribute("dtype", typ))))
}

func (c *Call) uniform(shape []int, typ tensor.Type) []*Value {
	x := c.RNG().Uniform(c.dev, c.Float("low", 0), c.Float("high", 1), shape...)
	return Out(autograd.Const(x.To(c.TypeAttribute("dtype", typ))))
}

// likeInput returns the type of input 0, and float32 if that is not of floats.
func (c *Call) likeInput() tensor.Type {
	if n := c.Value(0).any(); n != nil && n.Type().Float() {
		return n.Type()
	}
	return tensor.Float32
}

// multinomial draws classes by their unnormalized log-probabilities.
func multinomial(c *Call) []*Value {
	x, n := c.Tensor(0), c.Int("sample_size", 1)
	if shape := x.Shape(); len(shape) != 2 || shape[1] == 0 || n < 0 {
		c.Fail("%d samples of %v", n, c.Value(0))
	}
	at := x.Softmax(-1).Multinomial(n, true, c.RNG())
	return Out(autograd.Const(at.To(c.TypeAttribute("dtype", tensor.Int32))))
}
