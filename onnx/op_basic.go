package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "Constant", Attributes: "value sparse_value value_float value_floats value_int value_ints value_string value_strings", Run: constant},
		Operator{Name: "Identity", Run: func(c *Call) []*Value { return []*Value{c.Value(0)} }},
	)
}

func constant(c *Call) []*Value {
	switch {
	case c.HasAttribute("value"):
		return []*Value{c.TensorAttribute("value")}
	case c.HasAttribute("sparse_value"):
		v, err := c.r.s.sparse(c.attribute("sparse_value", onnxpb.AttrSparseTensor).Sparse)
		if err != nil {
			panic(deviceError{err})
		}
		return []*Value{v}
	case c.HasAttribute("value_float"):
		return Out(New(c, []float32{float32(c.Float("value_float", 0))}).Reshape())
	case c.HasAttribute("value_floats"):
		return Out(New(c, c.attribute("value_floats", onnxpb.AttrFloats).Floats))
	case c.HasAttribute("value_int"):
		return Out(New(c, []int64{int64(c.Int("value_int", 0))}).Reshape())
	case c.HasAttribute("value_ints"):
		return Out(New(c, c.attribute("value_ints", onnxpb.AttrInts).Ints))
	case c.HasAttribute("value_string"):
		return []*Value{{kind: stringsValue, strings: []string{c.String("value_string", "")}, shape: []int{}}}
	case c.HasAttribute("value_strings"):
		s := c.StringList("value_strings")
		return []*Value{{kind: stringsValue, strings: s, shape: []int{len(s)}}}
	}
	c.Fail("it has no value")
	return nil
}

// like returns x as the type of y: of integers that an operator computes in floats.
func like(x *autograd.Node, typ tensor.Type) *autograd.Node {
	if x.Type() == typ {
		return x
	}
	return x.To(typ)
}
