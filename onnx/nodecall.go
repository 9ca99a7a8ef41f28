package onnx

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// nodeCall is the node of a [Call] or of a [ShapeCall], and where the node is: its attributes and outputs.
type nodeCall struct {
	node  *node
	scope *scope
}

// Fail ends the call with an error.
func (c *nodeCall) Fail(format string, args ...any) { c.fail(tensor.ErrValue, format, args...) }

func (c *nodeCall) fail(kind error, format string, args ...any) {
	panic(&tensor.Error{Pkg: "onnx", Op: c.node.proto.Op, Kind: kind, Detail: fmt.Sprintf(format, args...)})
}

// Unsupported ends the call with an error of the kind ErrUnsupported.
func (c *nodeCall) Unsupported(format string, args ...any) { c.fail(ErrUnsupported, format, args...) }

// Version returns the version of the opset that the model imports for the node's domain.
func (c *nodeCall) Version() int { return c.node.version }

// Outputs returns how many outputs the node names, and Wants whether it names output i.
func (c *nodeCall) Outputs() int { return len(c.node.proto.Outputs) }

// Wants reports whether anybody asks for output i.
func (c *nodeCall) Wants(i int) bool {
	return i < len(c.node.proto.Outputs) && c.node.proto.Outputs[i] != ""
}

func (c *nodeCall) attribute(name string, typ onnxpb.AttributeType) *onnxpb.Attribute {
	a, _ := c.scope.attribute(c.node.attributes[name])
	if a == nil {
		return nil
	}
	if a.Type != typ && a.Type != onnxpb.AttrUndefined {
		c.Fail("attribute %s is %v, and should be %v", name, a.Type, typ)
	}
	return a
}

// HasAttribute reports whether the node has an attribute.
func (c *nodeCall) HasAttribute(name string) bool {
	a, _ := c.scope.attribute(c.node.attributes[name])
	return a != nil
}

// Int returns an attribute, or the number given if the node has none of the name. Float and String are alike.
func (c *nodeCall) Int(name string, or int) int {
	if a := c.attribute(name, onnxpb.AttrInt); a != nil {
		return clamped([]int64{a.Int})[0]
	}
	return or
}

// Bool returns whether an integer attribute is not 0.
func (c *nodeCall) Bool(name string, or bool) bool {
	if a := c.attribute(name, onnxpb.AttrInt); a != nil {
		return a.Int != 0
	}
	return or
}

// Float returns a float attribute.
func (c *nodeCall) Float(name string, or float64) float64 {
	if a := c.attribute(name, onnxpb.AttrFloat); a != nil {
		return float64(a.Float)
	}
	return or
}

// String returns a string attribute.
func (c *nodeCall) String(name, or string) string {
	if a := c.attribute(name, onnxpb.AttrString); a != nil {
		return a.String
	}
	return or
}

// IntList returns an attribute that is a list, nil if the node has none of the name. FloatList and StringList are alike.
func (c *nodeCall) IntList(name string) []int {
	a := c.attribute(name, onnxpb.AttrInts)
	if a == nil {
		return nil
	}
	return clamped(a.Ints)
}

// FloatList returns a list of floats.
func (c *nodeCall) FloatList(name string) []float64 {
	a := c.attribute(name, onnxpb.AttrFloats)
	if a == nil {
		return nil
	}
	list := make([]float64, len(a.Floats))
	for i, v := range a.Floats {
		list[i] = float64(v)
	}
	return list
}

// StringList returns a list of strings.
func (c *nodeCall) StringList(name string) []string {
	if a := c.attribute(name, onnxpb.AttrStrings); a != nil {
		return a.Strings
	}
	return nil
}

// axis returns an axis of a tensor of a rank, which may count from the end.
func (c *nodeCall) axis(axis, rank int) int {
	if axis < -rank || axis >= rank {
		c.Fail("axis %d of a tensor of rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

// axes returns the axes that a list names, in its order. It fails if one is named twice.
func (c *nodeCall) axes(list []int, rank int) []int {
	axes := make([]int, len(list))
	for i, a := range list {
		axes[i] = c.axis(a, rank)
		if slices.Contains(axes[:i], axes[i]) {
			c.Fail("axis %d is named twice", axes[i])
		}
	}
	return axes
}

// oneOf returns a string attribute, the first of values if it is left out. Others than these are not supported.
func (c *nodeCall) oneOf(attribute string, values ...string) string {
	v := c.String(attribute, values[0])
	if !slices.Contains(values, v) {
		c.Unsupported("attribute %s is %q", attribute, v)
	}
	return v
}

// flags returns a list of n numbers that are 0 or 1, all 0 if the node has none of the name.
func (c *nodeCall) flags(name string, n int) []int {
	list := c.listOf(name, n)
	for _, f := range list {
		if f != 0 && f != 1 {
			c.Fail("attribute %s is %v, and should be of 0 and 1", name, list)
		}
	}
	return list
}

// listOf returns a list of n integers, all 0 if the node has none of the name.
func (c *nodeCall) listOf(name string, n int) []int {
	list := c.IntList(name)
	if list == nil {
		list = make([]int, n)
	}
	if len(list) != n {
		c.Fail("attribute %s is %v, and should have %d elements", name, list, n)
	}
	return list
}
