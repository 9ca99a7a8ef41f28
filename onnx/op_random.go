package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that draw random numbers: of the session, or of the node's seed.
func init() {
	Register(
		random("RandomNormal", "shape mean scale", randomShape, func(c *Call) []*Value {
			return c.normal(c.IntList("shape"), tensor.Float32)
		}),
		random("RandomNormalLike", "mean scale", randomLikeShape, func(c *Call) []*Value { return c.normal(c.dims(0), c.likeInput()) }),
		random("RandomUniform", "shape low high", randomShape, func(c *Call) []*Value {
			return c.uniform(c.IntList("shape"), tensor.Float32)
		}),
		random("RandomUniformLike", "low high", randomLikeShape, func(c *Call) []*Value { return c.uniform(c.dims(0), c.likeInput()) }),
		random("Bernoulli", "", eyeLikeShape, func(c *Call) []*Value {
			p := c.Tensor(0)
			if !p.Type().Float() {
				c.Fail("input 0 is %v, and should be of floats", c.Value(0))
			}
			return Out(autograd.Const(p.Bernoulli(c.RNG()).To(c.TypeAttribute("dtype", p.Type()))))
		}),
		random("Multinomial", "sample_size", multinomialShape, multinomial),
	)
}

// random returns an operator that draws numbers.
func random(name, attributes string, shape shapeRule, run func(c *Call) []*Value) Operator {
	return Operator{Name: name, Attributes: "dtype seed " + attributes, OnDevice: true, Run: run, Shape: shape}
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

func randomShape(c *ShapeCall) []Known {
	return []Known{{Type: c.typeAttribute("dtype", "float"), Dims: dimsOf(c.IntList("shape"))}}
}

func randomLikeShape(c *ShapeCall) []Known {
	typ := c.Type(0)
	switch typ {
	case "", "float", "double", "float16", "bfloat16":
	default:
		typ = "float"
	}
	return []Known{c.In(0).as(c.typeAttribute("dtype", typ))}
}

func multinomialShape(c *ShapeCall) []Known {
	out := ofRank(c.typeAttribute("dtype", "int32"), 2)
	if dims := c.Dims(0); len(dims) == 2 {
		out.Dims[0] = dims[0]
	}
	out.Dims[1] = NewDim(c.Int("sample_size", 1))
	return []Known{out}
}
