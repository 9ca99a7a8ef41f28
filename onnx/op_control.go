package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "If", Attributes: "then_branch else_branch", Run: branch, Shape: branchShape},
		Operator{Name: "Loop", Attributes: "body", Run: loop, Shape: loopShape},
		Operator{Name: "Scan", Since: 8, Attributes: "body num_scan_inputs directions", Run: scanBatches, Shape: scanBatchesShape},
		Operator{Name: "Scan", Since: 9,
			Attributes: "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions",
			Run:        scan, Shape: scanShape},
	)
}

// branch runs one of two graphs.
func branch(c *Call) []*Value {
	if c.truth(c.Value(0)) {
		return c.Graph("then_branch")
	}
	return c.Graph("else_branch")
}

// truth returns the one element of a condition.
func (c *Call) truth(v *Value) bool {
	if n := v.any(); n == nil || n.Len() != 1 {
		c.Fail("a condition is %v, and should be one element", v)
	}
	x, err := c.r.on(v, true).Float64s()
	if err != nil {
		panic(deviceError{err})
	}
	return x[0] != 0
}

// onHostOf returns a scalar of the host.
func onHostOf[T tensor.Element](c *Call, x T) *Value {
	return &Value{host: autograd.Const(tensor.New(c.r.s.host, []T{x}).Reshape())}
}

// loop runs a graph as often as a trip count and a condition say. What the graph says of the condition counts where the
// node has one, or has no trip count: a loop without either would have no end.
func loop(c *Call) []*Value {
	trips := c.IntOf(0, -1)
	counted, conditional := c.Has(0), c.Has(1) || !c.Has(0)
	going := !c.Has(1) || c.truth(c.Value(1))
	var state []*Value
	if c.Len() > 2 {
		state = c.in[2:]
	}
	n, own := len(state), false
	scans := c.bodyOutputs("body") - 1 - n
	if scans < 0 {
		c.Fail("the body has %d outputs, and there are a condition and %d values that it carries", scans+1+n, n)
	}
	gathered := make([][]*Value, scans)
	for i := 0; going && (!counted || i < trips); i++ {
		out := c.r.iteration(func() []*Value {
			out := c.Graph("body", append([]*Value{onHostOf(c, int64(i)), onHostOf(c, true)}, state...)...)
			if conditional {
				going = c.truth(out[0])
			}
			return out[1:]
		})
		if own {
			c.r.release(state)
		}
		state, own = out[:n], true
		for k, v := range out[n:] {
			gathered[k] = append(gathered[k], v)
		}
	}
	if own {
		state = c.r.adopt(state)
	}
	out := slices.Clone(state)
	for k, list := range gathered {
		if len(list) == 0 {
			out = append(out, c.noScans(c.bodyOutput("body", 1+n+k), 0))
			continue
		}
		out = append(out, c.stacked(list, 0))
		c.r.release(list)
	}
	return out
}

// bodyOutputs returns how many outputs the graph of an attribute has.
func (c *Call) bodyOutputs(name string) int {
	a := c.attribute(name, onnxpb.AttrGraph)
	if a == nil || a.Graph == nil {
		c.Fail("attribute %s is missing", name)
	}
	return len(a.Graph.Outputs)
}

// bodyOutput returns what the graph of an attribute says of its output i.
func (c *Call) bodyOutput(name string, i int) *onnxpb.ValueInfo {
	return c.attribute(name, onnxpb.AttrGraph).Graph.Outputs[i]
}

// noScans returns the values of an output of a body that never ran, along a new axis: its other sizes are those that
// the body says, 0 where it says nothing.
func (c *Call) noScans(info *onnxpb.ValueInfo, axis int) *Value {
	shape, elem := []int{}, onnxpb.Float
	if info.Type != nil && info.Type.Kind == onnxpb.KindTensor {
		elem = info.Type.Elem
		for _, d := range info.Type.Dims {
			shape = append(shape, int(max(d.Value, 0)))
		}
	}
	shape = slices.Insert(shape, c.axis(axis, len(shape)+1), 0)
	if elem == onnxpb.String {
		return FromStrings(nil, shape...)
	}
	typ, err := typeOf(elem)
	if err != nil {
		c.Unsupported("an output of %v", elem)
	}
	return &Value{host: autograd.Const(tensor.ZerosOf(c.r.s.host, typ, shape...))}
}

// stacked returns values along a new axis.
func (c *Call) stacked(list []*Value, axis int) *Value {
	axis = c.axis(axis, len(list[0].Shape())+1)
	return c.joined(list, func(xs []*autograd.Node) *autograd.Node { return autograd.Stack(axis, xs...) })
}

// joined returns f of values, which are all tensors or all strings.
func (c *Call) joined(list []*Value, f func(xs []*autograd.Node) *autograd.Node) *Value {
	if list[0].kind != stringsValue {
		return fromNode(f(c.sameDevice(list)))
	}
	m, xs := movingLike(c, list[0]), make([]*autograd.Node, len(list))
	for i, v := range list {
		if v.kind != stringsValue {
			c.Fail("value %d is %v, and the first is of strings", i, v)
		}
		xs[i] = m.numbered(v)
	}
	return m.out(f(xs))[0]
}

// sameDevice returns tensors on one device: the host's where all are there and small, and else the session's.
func (c *Call) sameDevice(list []*Value) []*autograd.Node {
	host, n := true, 0
	for i, v := range list {
		if v == nil || v.any() == nil {
			c.Fail("value %d is %v, and should be a tensor", i, v)
		}
		if typ := list[0].any().Type(); v.any().Type() != typ {
			c.Fail("value %d is %v, and the first is of %v", i, v, typ)
		}
		host = host && v.host != nil
		n += v.any().Len()
	}
	nodes := make([]*autograd.Node, len(list))
	for i, v := range list {
		nodes[i] = c.r.on(v, host && n <= hostLimit)
	}
	return nodes
}

func branchShape(c *ShapeCall) []Known {
	if cond, ok := c.dimOf(0).Number(); ok {
		if cond != 0 {
			return c.graph("then_branch", nil)
		}
		return c.graph("else_branch", nil)
	}
	a, b := c.graph("then_branch", nil), c.graph("else_branch", nil)
	out := make([]Known, min(len(a), len(b)))
	for i := range out {
		out[i] = either(a[i], b[i])
	}
	return out
}

// steady returns what is known of the outputs of a body that takes its own states again, whatever round it is. inputs
// are known before the states, and behind them; from is which output the first state is.
func (c *ShapeCall) steady(before, states, behind []Known, from int) []Known {
	states = slices.Clone(states)
	for i := range states {
		states[i].elements = nil
	}
	for range 4 {
		out := c.graph("body", dimsAlong(before, states, behind))
		if len(out) < from+len(states) {
			c.Fail("the body has %d outputs, and there are %d values that it carries", len(out), len(states))
		}
		stays := true
		for i, s := range states {
			next := either(s, out[from+i])
			next.elements = nil
			stays = stays && next.equal(s)
			states[i] = next
		}
		if stays {
			return out
		}
	}
	for i := range states {
		states[i] = Known{}
	}
	return c.graph("body", dimsAlong(before, states, behind))
}

// loopShape knows the trips of a loop whose condition always holds.
func loopShape(c *ShapeCall) []Known {
	var states []Known
	for i := 2; i < c.Len(); i++ {
		states = append(states, c.In(i))
	}
	cond := scalarOf("bool")
	cond.elements = []element{{dim: NewDim(1)}}
	body := c.steady([]Known{scalarOf("int64"), cond}, states, nil, 1)
	trips := Dim{}
	if c.Has(0) && (!c.Has(1) || c.dimOf(1).is(1) && len(body[0].elements) == 1 && body[0].elements[0].dim.is(1)) {
		trips = c.dimOf(0).Max(NewDim(0))
	}
	var out []Known
	for i, k := range body[1:] {
		if k.elements = nil; i < len(states) {
			first := states[i]
			if first.elements = nil; !trips.atLeast(1) {
				k = either(first, k)
			}
		} else if trips.is(0) || k.Dims != nil && !trips.atLeast(1) { // of no trips what the body says
			k = ofRank(k.Type, len(k.Dims)+1)
			if k.Dims[0] = trips; trips.is(0) {
				k = Known{Type: k.Type}
			}
		} else if k.Dims != nil {
			k.Dims = slices.Insert(slices.Clone(k.Dims), 0, trips)
		}
		out = append(out, k)
	}
	return out
}
