package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// Call is one run of an operator's node: what Run of an [Operator] gets. Its methods panic with an error that names
// the node where something is not as they need it.
type Call struct {
	nodeCall
	r      *runner
	in     []*Value
	onHost bool
	dev    tensor.Device
}

// Device returns the device that the call computes on: the session's, or that of the host for small integers.
func (c *Call) Device() tensor.Device { return c.dev }

// Training reports whether the session is in training: see [Session.SetTraining].
func (c *Call) Training() bool { return c.r.s.training }

// RNG returns the session's random numbers, or those of the node's attribute seed.
func (c *Call) RNG() *tensor.RNG { return c.r.s.rng(c.node) }

// Len returns the number of inputs, those that are left out in the middle counted.
func (c *Call) Len() int { return len(c.in) }

// Has reports whether input i is there.
func (c *Call) Has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// Value returns input i.
func (c *Call) Value(i int) *Value {
	if !c.Has(i) {
		c.Fail("input %d is missing", i)
	}
	return c.in[i]
}

// Node returns input i, a tensor, on the device of the call.
func (c *Call) Node(i int) *autograd.Node {
	v := c.Value(i)
	if v.kind == optionalValue && len(v.list) == 1 {
		v = v.list[0]
	}
	if v.any() == nil {
		c.Fail("input %d is %v, and should be a tensor", i, v)
	}
	return c.r.on(v, c.onHost)
}

// NodeOr returns input i, or nil if it is left out.
func (c *Call) NodeOr(i int) *autograd.Node {
	if !c.Has(i) {
		return nil
	}
	return c.Node(i)
}

// Tensor is Node without a graph: the tensor of indices, for example.
func (c *Call) Tensor(i int) *tensor.Tensor { return c.Node(i).Value() }

// Shape returns the shape of input i.
func (c *Call) Shape(i int) []int { return c.Value(i).Shape() }

// Type returns the type of input i.
func (c *Call) Type(i int) tensor.Type {
	v := c.Value(i)
	if v.any() == nil {
		c.Fail("input %d is %v, and should be a tensor", i, v)
	}
	return v.any().Type()
}

// Ints returns the integers of input i: a shape, or axes. Where a device has computed them the call waits for it, and
// the run is not recorded.
func (c *Call) Ints(i int) []int { return clamped(c.Int64s(i)) }

// Int64s is Ints where an int of 32 bits would not do.
func (c *Call) Int64s(i int) []int64 {
	t := c.hostTensor(i)
	if t.Type() != tensor.Int64 {
		t = t.To(tensor.Int64)
	}
	long, err := t.Int64s()
	if err != nil {
		panic(deviceError{err})
	}
	return long
}

// clamped returns integers as ints: where those have 32 bits, what is beyond them is the end of their range.
func clamped(long []int64) []int {
	ints := make([]int, len(long))
	for i, v := range long {
		ints[i] = int(max(math.MinInt, min(v, math.MaxInt)))
	}
	return ints
}

// Floats returns the numbers of input i, as Ints does.
func (c *Call) Floats(i int) []float64 {
	x, err := c.hostTensor(i).Float64s()
	if err != nil {
		panic(deviceError{err})
	}
	return x
}

// Bytes returns the elements of input i, of Uint8, as Ints does.
func (c *Call) Bytes(i int) []byte {
	if c.Type(i) != tensor.Uint8 {
		c.Fail("input %d is %v, and should be of uint8", i, c.Value(i))
	}
	x, err := c.hostTensor(i).Uint8s()
	if err != nil {
		panic(deviceError{err})
	}
	return x
}

// IntOf returns the one integer of input i, or else if it is left out.
func (c *Call) IntOf(i, or int) int {
	if !c.Has(i) {
		return or
	}
	x := c.Ints(i)
	if len(x) != 1 {
		c.Fail("input %d has %d elements, and should have one", i, len(x))
	}
	return x[0]
}

// FloatOf is IntOf of a float.
func (c *Call) FloatOf(i int, or float64) float64 {
	if !c.Has(i) {
		return or
	}
	x := c.Floats(i)
	if len(x) != 1 {
		c.Fail("input %d has %d elements, and should have one", i, len(x))
	}
	return x[0]
}

// hostTensor returns input i where the host reads it.
func (c *Call) hostTensor(i int) *tensor.Tensor {
	v := c.Value(i)
	if v.any() == nil {
		c.Fail("input %d is %v, and should be a tensor", i, v)
	}
	return c.r.on(v, true).Value()
}

// deviceError is a failure of the device, which a panic brings out of a call.
type deviceError struct{ err error }

// TensorAttribute returns an attribute that is a tensor or strings, or nil if the node has none of the name.
func (c *Call) TensorAttribute(name string) *Value {
	a := c.attribute(name, onnxpb.AttrTensor)
	if a == nil {
		return nil
	}
	v, err := c.r.s.constant(a.Tensor)
	if err != nil {
		panic(deviceError{err})
	}
	return v
}

// TypeAttribute returns the type that an integer attribute names, or the given one if the node has none of the name. That
// of float is Float64 on a device whose default type that is.
func (c *Call) TypeAttribute(name string, or tensor.Type) tensor.Type {
	a := c.attribute(name, onnxpb.AttrInt)
	if a == nil || a.Int == 0 {
		return or
	}
	typ, err := typeOf(onnxpb.DataType(a.Int))
	if err != nil {
		c.fail(ErrUnsupported, "attribute %s: elements of type %v", name, onnxpb.DataType(a.Int))
	}
	return c.r.s.wide(typ)
}

// Graph runs the graph of an attribute. It sees the values around the node that has the attribute; inputs are those of
// the graph, nil for one that is left out.
func (c *Call) Graph(name string, inputs ...*Value) []*Value {
	a, where := c.scope.attribute(c.node.attributes[name])
	if a == nil || a.Graph == nil {
		c.Fail("attribute %s is missing", name)
	}
	return c.r.graph(c.r.s.graphs[a.Graph], where, inputs)
}

// once returns what f makes of the node's attributes: it is made in the first run, and kept for others. Where attributes
// are those of a function's call, it is made in each run.
func (c *Call) once(f func() any) any {
	for _, a := range c.node.attributes {
		if a.Ref != "" {
			return f()
		}
	}
	if c.node.made == nil {
		c.node.made = f()
	}
	return c.node.made
}

// packedWeights are weights that the operator of a node made of constants.
type packedWeights struct {
	node   *node
	inputs [3]*Value
}

// quantizedOnce returns the weights that f makes in the first run for inputs that are constants, and that the session
// keeps. It returns nil for other inputs, on the host, and in a session for training.
func (c *Call) quantizedOnce(f func() *tensor.QuantizedTensor, inputs [3]int) *tensor.QuantizedTensor {
	key, s := packedWeights{node: c.node}, c.r.s
	if c.onHost || s.options.Training || s.derives {
		return nil
	}
	for k, i := range inputs {
		if !c.Has(i) {
			continue
		}
		if key.inputs[k] = c.in[i]; !c.in[i].kept {
			return nil
		}
	}
	w, ok := s.packed[key]
	if !ok {
		w = f()
		s.packed[key] = w
	}
	return w
}

// New returns a tensor of the host's numbers on the device of the call.
func New[T tensor.Element](c *Call, data []T, shape ...int) *autograd.Node {
	return autograd.Const(tensor.New(c.dev, data, shape...))
}

// Out returns outputs that are tensors of the device of the call.
func Out(nodes ...*autograd.Node) []*Value {
	list := make([]*Value, len(nodes))
	for i, n := range nodes {
		if n != nil {
			list[i] = fromNode(n)
		}
	}
	return list
}
