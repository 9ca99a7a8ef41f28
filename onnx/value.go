package onnx

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Value is what a model takes and gives: a tensor, an array of strings, a sequence of values, an optional value, or a
// map. It does not change.
type Value struct {
	kind    valueKind
	node    *autograd.Node // a tensor, on the session's device, or nil
	host    *autograd.Node // the same on the session's host device, or nil: see runner.place
	shape   []int          // of strings
	strings []string
	list    []*Value // of a sequence; of an optional, the value or nothing; of a map, keys and values
	kept    bool     // it lives as long as the session: an initializer
}

type valueKind uint8

const (
	tensorValue valueKind = iota
	stringsValue
	sequenceValue
	optionalValue
	mapValue
)

// FromTensor returns a tensor as a value.
func FromTensor(t *tensor.Tensor) *Value { return fromNode(autograd.Const(t)) }

func fromNode(n *autograd.Node) *Value { return &Value{node: n} }

// FromStrings returns an array of strings as a value. A shape that is left out is that of a list; []int{}... is that of a
// scalar. It panics with tensor.ErrShape if there are not as many strings as the shape says.
func FromStrings(s []string, shape ...int) *Value {
	if shape == nil {
		shape = []int{len(s)}
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	if n != len(s) {
		panic(&tensor.Error{Pkg: "onnx", Op: "FromStrings", Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: fmt.Sprintf("there are %d strings", len(s))})
	}
	return &Value{kind: stringsValue, strings: s, shape: shape}
}

// ofStrings returns strings of a shape.
func ofStrings(s []string, shape []int) *Value {
	return &Value{kind: stringsValue, strings: s, shape: shape}
}

// FromSequence returns a sequence of values.
func FromSequence(values ...*Value) *Value { return &Value{kind: sequenceValue, list: values} }

// FromOptional returns an optional value: v, or nothing if v is nil.
func FromOptional(v *Value) *Value {
	if v == nil {
		return &Value{kind: optionalValue}
	}
	return &Value{kind: optionalValue, list: []*Value{v}}
}

// FromMap returns a map of keys to values, two lists of the same length: tensors or strings. Only operators of the domain
// ai.onnx.ml have maps.
func FromMap(keys, values *Value) *Value { return &Value{kind: mapValue, list: []*Value{keys, values}} }

// Tensor returns the tensor of an output, on the session's device, or nil if v is none.
func (v *Value) Tensor() *tensor.Tensor {
	if v == nil || v.any() == nil {
		return nil
	}
	return v.any().Value()
}

// Node returns the tensor of v with its graph, or nil if v is no tensor.
func (v *Value) Node() *autograd.Node {
	if v == nil {
		return nil
	}
	return v.any()
}

// any returns the tensor where it is.
func (v *Value) any() *autograd.Node {
	if v.node != nil {
		return v.node
	}
	return v.host
}

// Strings returns the strings, or nil if v has none.
func (v *Value) Strings() []string { return v.strings }

// Shape returns the shape of a tensor or of an array of strings, the caller's own, and nil of other values.
func (v *Value) Shape() []int {
	if n := v.any(); n != nil {
		return slices.Clone(n.Shape())
	}
	return slices.Clone(v.shape)
}

// Sequence returns the values of a sequence, or the one of an optional that has one.
func (v *Value) Sequence() []*Value {
	if v.kind == mapValue {
		return nil
	}
	return v.list
}

// Map returns the keys and values of a map, or nil.
func (v *Value) Map() (keys, values *Value) {
	if v.kind != mapValue {
		return nil, nil
	}
	return v.list[0], v.list[1]
}

// IsStrings reports whether v is an array of strings.
func (v *Value) IsStrings() bool { return v.kind == stringsValue }

// IsSequence reports whether v is a sequence.
func (v *Value) IsSequence() bool { return v.kind == sequenceValue }

// IsMap reports whether v is a map.
func (v *Value) IsMap() bool { return v.kind == mapValue }

// IsOptional reports whether v is an optional.
func (v *Value) IsOptional() bool { return v.kind == optionalValue }

// Free releases the tensors of a value that a run returned, and of what it holds, as [tensor.Tensor.Free] does: the caller
// owns them. Values that a run was given are freed by who made them. A value without tensors, nil too, has nothing to free.
func (v *Value) Free() {
	if v == nil {
		return
	}
	if v.node != nil {
		v.node.Value().Free()
	}
	for _, e := range v.list {
		e.Free()
	}
}

// String says what v is: "float32 [2 3]", "2 strings", "a sequence of 3".
func (v *Value) String() string {
	switch {
	case v == nil:
		return "nothing"
	case v.kind == stringsValue:
		return fmt.Sprintf("strings %v", v.shape)
	case v.kind == sequenceValue:
		return fmt.Sprintf("a sequence of %d", len(v.list))
	case v.kind == optionalValue && len(v.list) == 0:
		return "an empty optional"
	case v.kind == optionalValue:
		return "an optional of " + v.list[0].String()
	case v.kind == mapValue:
		return fmt.Sprintf("a map of %v to %v", v.list[0], v.list[1])
	case v.any() == nil:
		return "nothing"
	}
	return fmt.Sprintf("%v %v", v.any().Type(), v.any().Shape())
}
