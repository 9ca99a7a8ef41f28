package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(Operator{Name: "Dropout", Attributes: "consumed_inputs is_test ratio seed", Run: dropout, OnDevice: true,
		Shape: dropoutShape})
}

// dropout sets random elements to 0 in training: that of the session, or what an input says from opset 12 on, and an
// attribute before opset 7. The second output is a mask of what is left.
func dropout(c *Call) []*Value {
	x, p := floatsOf(c, 0), c.Float("ratio", 0.5)
	training := c.Training()
	switch v := c.Version(); {
	case v >= 12:
		p = c.FloatOf(1, 0.5)
		training = training || c.FloatOf(2, 0) != 0
	case v < 7:
		training = training || !c.Bool("is_test", false)
	}
	if p < 0 || p > 1 || p != p {
		c.Fail("the ratio is %v, and should be from 0 to 1", p)
	}
	ones := func() *autograd.Node {
		return autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), x.Shape()...)).AddScalar(1)
	}
	mask := func(of *autograd.Node) *autograd.Node {
		if c.Version() < 10 { // of the type of x
			return of.NeScalar(0).To(x.Type())
		}
		return of.NeScalar(0)
	}
	switch {
	case (!training || p == 0) && !c.Wants(1):
		return Out(x)
	case !training || p == 0:
		return Out(x, mask(ones()))
	case !c.Wants(1):
		return Out(x.Dropout(p, c.RNG(), true))
	}
	factors := ones().Dropout(p, c.RNG(), true)
	return Out(x.Mul(factors), mask(factors))
}

func dropoutShape(c *ShapeCall) []Known {
	in := c.In(0)
	mask := in.as("bool")
	if c.Version() < 10 {
		mask.Type = in.Type
	}
	return []Known{in.as(in.Type), mask}
}
