package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "Constant", Attributes: "value sparse_value value_float value_floats value_int value_ints value_string value_strings", Run: constant,
			Shape: constantShape},
		Operator{Name: "Identity", Run: func(c *Call) []*Value { return []*Value{c.Value(0)} },
			Shape: func(c *ShapeCall) []Known { return []Known{c.in[0]} }},
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

func constantShape(c *ShapeCall) []Known {
	if a := c.attribute("value", onnxpb.AttrTensor); a != nil && a.Tensor != nil {
		return []Known{constantOf(a.Tensor, "")}
	}
	if a := c.attribute("sparse_value", onnxpb.AttrSparseTensor); a != nil && a.Sparse != nil && a.Sparse.Values != nil {
		return []Known{sparseKnown(a.Sparse)}
	}
	list := func(name, typ string, n int) (Known, bool) {
		if c.HasAttribute(name) {
			return listOfType(typ, NewDim(n)), true
		}
		return scalarOf(typ), c.HasAttribute(name[:len(name)-1])
	}
	if k, ok := list("value_ints", "int64", len(c.IntList("value_ints"))); ok {
		ints := c.IntList("value_ints")
		if len(k.Dims) == 0 {
			ints = []int{c.Int("value_int", 0)}
		}
		if len(ints) <= mostElements {
			k.elements = numberElements(ints)
		}
		return []Known{k}
	}
	if k, ok := list("value_floats", "float", len(c.FloatList("value_floats"))); ok {
		floats := c.FloatList("value_floats")
		if len(k.Dims) == 0 {
			floats = []float64{c.Float("value_float", 0)}
		}
		for i := 0; i < len(floats) && len(floats) <= mostElements; i++ {
			k.elements = append(k.elements, elementOf(floats[i], "float"))
		}
		return []Known{k}
	}
	k, _ := list("value_strings", "string", len(c.StringList("value_strings")))
	return []Known{k}
}

// numberElements returns integers as elements.
func numberElements(ints []int) []element {
	list := make([]element, len(ints))
	for i, n := range ints {
		list[i].dim = NewDim(n)
	}
	return list
}
