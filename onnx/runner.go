package onnx

import (
	"context"
	"fmt"
	"runtime"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// runner runs the nodes of a session once.
type runner struct {
	s         *Session
	downloads bool                    // the host has read what the device computed
	depth     int                     // of functions and graphs
	scoped    bool                    // tensors are those of tensor.Scopes, and no graph is recorded
	copies    []**autograd.Node       // where on has put copies, of a runner that is scoped
	held      map[*tensor.Tensor]bool // tensors that outlive their scope: see hold
	deriving  int                     // how many operators Gradient the run is in
}

// maxDepth is how deep functions may call each other.
const maxDepth = 100

// scope is the values of a graph or function that runs, and of the graphs around it.
type scope struct {
	values map[string]*Value // nil for an input that is left out
	nodes  []*node
	outer  *scope
	call   *node  // of the function that runs, nil in a graph
	caller *scope // where that call is
}

// value returns the value of a name, nil for an input that is left out, and whether there is one of the name.
func (s *scope) value(name string) (v *Value, ok bool) {
	for ; s != nil; s = s.outer {
		if v, ok = s.values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// attribute returns a, or the attribute of a function's call that a refers to, and the scope in which it is written. It
// returns nil if the call has none, nor the function a default.
func (s *scope) attribute(a *onnxpb.Attribute) (*onnxpb.Attribute, *scope) {
	if a == nil || a.Ref == "" {
		return a, s
	}
	for s != nil && s.call == nil {
		s = s.outer
	}
	if s == nil {
		return nil, nil
	}
	if given, where := s.caller.attribute(s.call.attributes[a.Ref]); given != nil {
		return given, where
	}
	return s.call.function.defaults[a.Ref], s
}

// graph runs the nodes of a graph within a scope.
func (r *runner) graph(g *graph, outer *scope, inputs []*Value) []*Value {
	fail := func(format string, args ...any) {
		panic(&tensor.Error{Pkg: "onnx", Op: "graph " + g.proto.Name, Kind: tensor.ErrValue,
			Detail: fmt.Sprintf(format, args...)})
	}
	if len(inputs) > len(g.proto.Inputs) {
		fail("it has %d inputs, and is given %d", len(g.proto.Inputs), len(inputs))
	}
	sc := &scope{values: make(map[string]*Value, len(g.nodes)), nodes: g.nodes, outer: outer}
	for name, v := range g.constants {
		sc.values[name] = v
	}
	for i, in := range g.proto.Inputs {
		if i < len(inputs) {
			sc.values[in.Name] = inputs[i]
		} else if sc.values[in.Name] == nil {
			fail("it has %d inputs, and is given %d", len(g.proto.Inputs), len(inputs))
		}
	}
	if err := r.nodes(g.nodes, sc); err != nil {
		panic(deviceError{err})
	}
	out := make([]*Value, len(g.proto.Outputs))
	for i, o := range g.proto.Outputs {
		if out[i], _ = sc.value(o.Name); out[i] == nil {
			fail("nothing makes its output %q", o.Name)
		}
	}
	return out
}

// nodes runs nodes, and puts what they make into a scope.
func (r *runner) nodes(nodes []*node, sc *scope) error {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		return fmt.Errorf("%w: functions or graphs are nested more than %d deep", ErrFormat, maxDepth)
	}
	for _, n := range nodes {
		if r.s.context != nil && r.s.context.Err() != nil {
			return fmt.Errorf("onnx: %s: %w", n.name, context.Cause(r.s.context))
		}
		out, err := r.node(n, sc)
		if err != nil {
			return err
		}
		for i, name := range n.proto.Outputs {
			if name != "" && i < len(out) && out[i] != nil {
				sc.values[name] = out[i]
			}
		}
	}
	return nil
}

// node runs a node.
func (r *runner) node(n *node, sc *scope) (out []*Value, err error) {
	c := &Call{nodeCall: nodeCall{n, sc}, r: r, in: make([]*Value, len(n.proto.Inputs))}
	for i, name := range n.proto.Inputs {
		if name == "" {
			continue
		}
		var ok bool
		if c.in[i], ok = sc.value(name); !ok {
			return nil, fmt.Errorf("onnx: %s: input %q is nothing: no node has made it", n.name, name)
		}
	}
	if n.function != nil {
		return r.call(n, c)
	}
	r.place(c)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case deviceError:
			err = p.err
		case *tensor.Error:
			err = fmt.Errorf("onnx: %s: %w", n.name, p)
		case runtime.Error:
			err = fmt.Errorf("onnx: %s: inputs %v: %w", n.name, c.in, p)
		default:
			panic(p)
		}
	}()
	if r.s.trace == nil || n.inner {
		out = n.op.Run(c)
	} else if out, err = r.traced(c); err != nil {
		return nil, err
	}
	for i, v := range out {
		r.settle(v)
		if v == nil && c.Wants(i) {
			return nil, fmt.Errorf("onnx: %s: %w: output %d", n.name, ErrUnsupported, i)
		}
	}
	for i := len(out); i < c.Outputs(); i++ {
		if c.Wants(i) {
			return nil, fmt.Errorf("onnx: %s: %w: output %d", n.name, ErrUnsupported, i)
		}
	}
	return out, nil
}

// call runs a function of the model.
func (r *runner) call(n *node, c *Call) ([]*Value, error) {
	f := n.function
	if len(c.in) > len(f.proto.Inputs) {
		return nil, fmt.Errorf("onnx: %s: %w: %d inputs, and the function has %d", n.name, ErrFormat, len(c.in),
			len(f.proto.Inputs))
	}
	sc := &scope{values: make(map[string]*Value, len(f.nodes)), nodes: f.nodes, call: n, caller: c.scope}
	for i, name := range f.proto.Inputs {
		sc.values[name] = nil
		if c.Has(i) {
			sc.values[name] = c.in[i]
		}
	}
	if err := r.nodes(f.nodes, sc); err != nil {
		return nil, fmt.Errorf("in %s: %w", n.name, err)
	}
	out := make([]*Value, len(f.proto.Outputs))
	for i, name := range f.proto.Outputs {
		if out[i] = sc.values[name]; out[i] == nil && c.Wants(i) {
			return nil, fmt.Errorf("onnx: %s: nothing makes the output %q of the function", n.name, name)
		}
	}
	return out, nil
}

// place decides where a call computes: on the host where all its tensors are there and small, and else on the device.
func (r *runner) place(c *Call) {
	c.onHost = !c.node.op.OnDevice
	for _, v := range c.in {
		if v != nil {
			v.each(func(v *Value) { c.onHost = c.onHost && v.host != nil && v.host.Len() <= hostLimit })
		}
	}
	c.dev = r.s.dev
	if c.onHost {
		c.dev = r.s.host
	}
}

// settle notes where a value that an operator made is.
func (r *runner) settle(v *Value) {
	if v == nil {
		return
	}
	if v.node != nil {
		v.node = r.s.widened(v.node)
		if v.node.Device() == r.s.host {
			v.node, v.host = nil, v.node
		}
	}
	for _, e := range v.list {
		r.settle(e)
	}
}

// on returns the tensor of a value on the host or on the device, copied there if it is not.
func (r *runner) on(v *Value, host bool) *autograd.Node {
	to, from, d := &v.node, v.host, r.s.dev
	if host {
		to, from, d = &v.host, v.node, r.s.host
	}
	if *to != nil {
		return *to
	}
	if host && !v.kept {
		r.downloads = true
	}
	t, err := copied(d, from.Value())
	if err != nil {
		panic(deviceError{err})
	}
	if v.kept {
		t.Retain()
	}
	*to = autograd.Const(t)
	if r.scoped && !v.kept {
		r.copies = append(r.copies, to)
	}
	return *to
}

// try runs f, and returns the error with which a call in it panicked.
func try(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case deviceError:
			err = p.err
		case *tensor.Error:
			err = p
		default:
			panic(p)
		}
	}()
	return f()
}
