package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// scanner is a Scan: a graph that is run for each element along an axis of its inputs, and carries a state.
type scanner struct {
	c             *Call
	states, scans int   // how many
	reversed      []int // of each input, 1: from the last element to the first
	outputs       int   // of the graph, but for the states
}

// newScanner returns the Scan of a call whose states and inputs begin at an input.
func newScanner(c *Call, first int, directions string) *scanner {
	s := &scanner{c: c, scans: c.Int("num_scan_inputs", 0)}
	s.states = c.Len() - first - s.scans
	s.outputs = c.bodyOutputs("body") - s.states
	switch {
	case s.scans < 1 || s.states < 0:
		c.Fail("num_scan_inputs is %d, of %d inputs", s.scans, c.Len()-first)
	case s.outputs < 0:
		c.Fail("the body has %d outputs, and there are %d states", s.outputs+s.states, s.states)
	}
	s.reversed = c.flags(directions, s.scans)
	return s
}

// run runs the graph for n elements along the axis of each input. It returns the states, and the values of each output
// in the order of the iterations; they are the caller's, who releases the latter.
func (s *scanner) run(n int, state, inputs []*Value, axes []int) ([]*Value, [][]*Value) {
	c, own := s.c, false
	gathered := make([][]*Value, s.outputs)
	for t := range n {
		out := c.r.iteration(func() []*Value {
			given := slices.Clone(state)
			for i, v := range inputs {
				k := t
				if s.reversed[i] == 1 {
					k = n - 1 - t
				}
				given = append(given, c.selected(v, axes[i], k))
			}
			return c.Graph("body", given...)
		})
		if own {
			c.r.release(state)
		}
		state, own = out[:s.states], true
		for k, v := range out[s.states:] {
			gathered[k] = append(gathered[k], v)
		}
	}
	if own {
		state = c.r.adopt(state)
	}
	return state, gathered
}

// selected returns element k along an axis.
func (c *Call) selected(v *Value, axis, k int) *Value {
	if v.kind == stringsValue {
		m := movingLike(c, v)
		return m.out(m.numbered(v).Select(axis, k))[0]
	}
	w := fromNode(v.any().Select(axis, k))
	c.r.settle(w)
	return w
}

// scan is Scan since version 9.
func scan(c *Call) []*Value {
	s := newScanner(c, 0, "scan_input_directions")
	state, inputs := c.in[:s.states], c.in[s.states:]
	axes, n := c.listOf("scan_input_axes", s.scans), -1
	for i := range inputs {
		shape := c.Shape(s.states + i)
		axes[i] = c.axis(axes[i], len(shape))
		if n >= 0 && shape[axes[i]] != n {
			c.Fail("inputs have %d and %d elements along the axes of the scan", n, shape[axes[i]])
		}
		n = shape[axes[i]]
	}
	outAxes, prepended := c.listOf("scan_output_axes", s.outputs), c.flags("scan_output_directions", s.outputs)
	state, gathered := s.run(n, state, inputs, axes)
	out := slices.Clone(state)
	for k, list := range gathered {
		if n == 0 {
			out = append(out, c.noScans(c.bodyOutput("body", s.states+k), outAxes[k]))
			continue
		}
		if prepended[k] == 1 {
			slices.Reverse(list)
		}
		out = append(out, c.stacked(list, outAxes[k]))
		c.r.release(list)
	}
	return out
}

// scanBatches is Scan of version 8: of each batch, along axis 1, with a length of its own. Outputs are padded with
// zeros to the longest that there may be.
func scanBatches(c *Call) []*Value {
	s := newScanner(c, 1, "directions")
	batches, most := -1, 0
	for i := 1 + s.states; i < c.Len(); i++ {
		shape := c.Shape(i)
		if len(shape) < 2 || batches >= 0 && (shape[0] != batches || shape[1] != most) {
			c.Fail("input %d has shape %v, and should begin with a batch and a length, the same in all inputs of the scan", i,
				shape)
		}
		batches, most = shape[0], shape[1]
	}
	for i := 1; i <= s.states; i++ {
		if shape := c.Shape(i); len(shape) < 1 || shape[0] != batches {
			c.Fail("input %d has shape %v, and should begin with %d batches", i, shape, batches)
		}
	}
	lengths := slices.Repeat([]int{most}, batches)
	if c.Has(0) {
		lengths = c.Ints(0)
	}
	if len(lengths) != batches {
		c.Fail("there are %d lengths, and %d batches", len(lengths), batches)
	}
	states, outputs := make([][]*Value, s.states), make([][]*Value, s.outputs)
	for b, n := range lengths {
		if n < 0 || n > most {
			c.Fail("length %d of batch %d, and there are %d elements", n, b, most)
		}
		given := make([]*Value, s.states+s.scans)
		for i := range given {
			given[i] = c.selected(c.Value(1+i), 0, b)
		}
		state, gathered := s.run(n, given[:s.states], given[s.states:], make([]int, s.scans))
		for k, v := range state {
			states[k] = append(states[k], v)
		}
		for k, list := range gathered {
			outputs[k] = append(outputs[k], c.padded(list, most, s.states+k))
			c.r.release(list)
		}
	}
	var out []*Value
	for k, list := range states {
		if batches == 0 {
			out = append(out, c.Value(1+k))
			continue
		}
		out = append(out, c.stacked(list, 0))
	}
	for k, list := range outputs {
		if batches == 0 {
			list = []*Value{c.padded(nil, most, s.states+k)}
			shape := list[0].Shape()
			out = append(out, fromNode(list[0].any().Reshape(append([]int{1}, shape...)...).Slice(0, 0, 0)))
			continue
		}
		out = append(out, c.stacked(list, 0))
	}
	return out
}

// padded returns the values of output k of a body along axis 0, with zeros behind them up to a length.
func (c *Call) padded(list []*Value, length, k int) *Value {
	var v *Value
	if len(list) == 0 {
		v = c.noScans(c.bodyOutput("body", k), 0)
	} else {
		v = c.stacked(list, 0)
	}
	if v.kind == stringsValue {
		c.Unsupported("an output of strings")
	}
	n := v.any()
	if missing := length - len(list); missing > 0 {
		shape := v.Shape()
		shape[0] = missing
		n = autograd.Concat(0, n, autograd.Const(tensor.ZerosOf(n.Device(), n.Type(), shape...)))
	}
	w := fromNode(n)
	c.r.settle(w)
	return w
}

func scanShape(c *ShapeCall) []Known {
	scans := c.Int("num_scan_inputs", 0)
	n := c.Len() - scans
	if scans < 1 || n < 0 {
		c.Fail("num_scan_inputs is %d, of %d inputs", scans, c.Len())
	}
	axes, length := c.listOf("scan_input_axes", scans), Dim{}
	var states, parts []Known
	for i := range c.Len() {
		in := c.In(i)
		if i < n {
			states = append(states, in)
			continue
		}
		part := Known{Type: in.Type}
		if in.Dims != nil {
			axis := c.axis(axes[i-n], len(in.Dims))
			length = c.sameSize(length, in.Dims[axis])
			part.Dims = reducedDims(in.Dims, []int{axis}, false)
		}
		parts = append(parts, part)
	}
	out := c.steady(nil, states, parts, 0)
	to := c.listOf("scan_output_axes", len(out)-n)
	for i := range out {
		k := out[i]
		k.elements = nil
		switch {
		case i < n && !length.atLeast(1):
			k = either(states[i], k)
		case i >= n && k.Dims != nil && length.atLeast(1):
			k.Dims = slices.Insert(slices.Clone(k.Dims), c.axis(to[i-n], len(k.Dims)+1), length)
		case i >= n:
			k = Known{Type: k.Type}
		}
		out[i] = k
	}
	return out
}

// scanBatchesShape is that of each batch, before which the batches stand.
func scanBatchesShape(c *ShapeCall) []Known {
	scans := c.Int("num_scan_inputs", 0)
	n := c.Len() - 1 - scans
	if scans < 1 || n < 0 {
		c.Fail("num_scan_inputs is %d, of %d inputs", scans, c.Len()-1)
	}
	batches, length := Dim{}, Dim{}
	var states, parts []Known
	for i := 1; i < c.Len(); i++ {
		in := c.In(i)
		k := Known{Type: in.Type}
		if len(in.Dims) > 0 {
			batches = c.sameSize(batches, in.Dims[0])
			k.Dims = in.Dims[1:]
		}
		if i <= n {
			states = append(states, k)
			continue
		}
		if len(k.Dims) > 0 {
			length = c.sameSize(length, k.Dims[0])
			k.Dims = k.Dims[1:]
		}
		parts = append(parts, k)
	}
	out := c.steady(nil, states, parts, 0)
	for i, k := range out {
		k.elements = nil
		switch {
		case i < n:
			k = either(states[i], k)
		case k.Dims != nil:
			k.Dims = dimsAlong([]Dim{length}, k.Dims)
		}
		if k.Dims != nil {
			k.Dims = dimsAlong([]Dim{batches}, k.Dims)
		}
		if !batches.atLeast(1) || !length.atLeast(1) {
			k = Known{Type: k.Type}
		}
		out[i] = k
	}
	return out
}
