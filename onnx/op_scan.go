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

// flags returns a list of n numbers that are 0 or 1, all 0 if the node has none of the name.
func (c *Call) flags(name string, n int) []int {
	list := c.listOf(name, n)
	for _, f := range list {
		if f != 0 && f != 1 {
			c.Fail("attribute %s is %v, and should be of 0 and 1", name, list)
		}
	}
	return list
}

// listOf returns a list of n integers, all 0 if the node has none of the name.
func (c *Call) listOf(name string, n int) []int {
	list := c.IntList(name)
	if list == nil {
		list = make([]int, n)
	}
	if len(list) != n {
		c.Fail("attribute %s is %v, and should have %d elements", name, list, n)
	}
	return list
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
