package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// movement is a call of an operator that moves elements and does not compute with them. Strings are moved as Int64
// numbers: equal strings have equal numbers, and "" is 0.
type movement struct {
	c       *Call
	strings []string // by number, nil of tensors
	numbers map[string]int64
}

// moving returns the movement of a call whose input i has the elements.
func moving(c *Call, i int) *movement { return movingLike(c, c.Value(i)) }

// movingLike returns the movement of elements of the kind of a value's.
func movingLike(c *Call, v *Value) *movement {
	m := &movement{c: c}
	if v.kind == stringsValue {
		m.strings, m.numbers = []string{""}, map[string]int64{"": 0}
	}
	return m
}

// node returns input i, which has elements of the same kind.
func (m *movement) node(i int) *autograd.Node {
	v := m.c.Value(i)
	if m.strings == nil || v.kind != stringsValue {
		if m.strings != nil || v.kind == stringsValue {
			m.c.Fail("input %d is %v, and strings and tensors do not mix", i, v)
		}
		return m.c.Node(i)
	}
	return m.numbered(v)
}

// numbered returns the numbers of strings.
func (m *movement) numbered(v *Value) *autograd.Node {
	numbers := make([]int64, len(v.strings))
	for k, s := range v.strings {
		n, ok := m.numbers[s]
		if !ok {
			n = int64(len(m.strings))
			m.strings, m.numbers[s] = append(m.strings, s), n
		}
		numbers[k] = n
	}
	return newOfShape(m.c, numbers, v.shape)
}

// out returns outputs that have elements of the inputs.
func (m *movement) out(nodes ...*autograd.Node) []*Value {
	values := Out(nodes...)
	if m.strings == nil {
		return values
	}
	for i, n := range nodes {
		numbers := m.c.read(n)
		v := &Value{kind: stringsValue, shape: n.Shape(), strings: make([]string, len(numbers))}
		for k, number := range numbers {
			v.strings[k] = m.strings[number]
		}
		values[i] = v
	}
	return values
}

// mover returns an operator whose output is f of input 0, tensors or strings.
func mover(name, attributes string, shape shapeRule, f func(c *Call, x *autograd.Node) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: attributes, Shape: shape, Run: func(c *Call) []*Value {
		m := moving(c, 0)
		return m.out(f(c, m.node(0)))
	}}
}

// read returns the integers of a tensor that the call has computed, and waits for them if a device has.
func (c *Call) read(n *autograd.Node) []int64 {
	if n.Device() != c.r.s.host {
		c.r.downloads = true
	}
	x, err := n.Int64s()
	if err != nil {
		panic(deviceError{err})
	}
	return x
}

// newOfShape is New with a shape that may be that of a scalar.
func newOfShape[T tensor.Element](c *Call, data []T, shape []int) *autograd.Node {
	return autograd.Const(tensor.New(c.dev, data, append([]int{}, shape...)...))
}

// dims returns a copy of the shape of input i, a tensor or an array of strings.
func (c *Call) dims(i int) []int {
	v := c.Value(i)
	if v.kind == optionalValue && len(v.list) == 1 {
		v = v.list[0]
	}
	if v.kind != stringsValue && v.any() == nil {
		c.Fail("input %d is %v, and should be a tensor", i, v)
	}
	return slices.Clone(v.Shape())
}

// makes says the shape of the result before anything is computed. It fails for one that no tensor has, and moves the
// call to the session's device if the result has more elements than the host computes.
func (c *Call) makes(shape []int) {
	n := c.count(shape)
	if c.onHost && n > hostLimit {
		c.onHost, c.dev = false, c.r.s.dev
	}
}

// count returns the number of elements of a shape. It fails for one that no tensor has.
func (c *Call) count(shape []int) int {
	n := 1
	for _, d := range shape {
		if d < 0 {
			c.Fail("shape %v", shape)
		}
		// Where an int has 32 bits, MaxInt stands for all that is above it.
		if d == math.MaxInt || d > 0 && n > math.MaxInt32/d {
			c.Fail("shape %v has too many elements", shape)
		}
		n *= d
	}
	return n
}

// axesOf returns the axes that an attribute, or in later versions input i, lists. ok says that there is a list.
func (c *Call) axesOf(i, rank int) (axes []int, ok bool) {
	if c.HasAttribute("axes") {
		return c.axes(c.IntList("axes"), rank), true
	}
	if c.Has(i) {
		return c.axes(c.Ints(i), rank), true
	}
	return nil, false
}

// upTo returns [0, 1, …, n).
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// alongAxis returns [0, 1, …, n) along an axis of a rank, and 1 along the others: [1, 1, n, 1].
func alongAxis(c *Call, n, axis, rank int) *tensor.Tensor {
	shape := slices.Repeat([]int{1}, rank)
	shape[axis] = n
	return tensor.ArangeOf(c.dev, tensor.Int64, 0, float64(n), 1).Reshape(shape...)
}
