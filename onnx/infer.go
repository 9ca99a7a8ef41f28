package onnx

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"strings"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// mostInferred is how many nodes are followed, some elements of theirs counted as one: functions that call each other and
// loops in loops may have more than a run ever ends with.
const (
	mostInferred    = 1 << 18
	elementsOfANode = 16
)

// inferer finds what is known of the values of a model.
type inferer struct {
	model     *Model
	functions map[string]*function
	imports   map[*function]map[string]int
	sizes     map[string]Dim // of names of dimensions
	trusting  bool           // what the file says of values counts where rules say nothing
	certain   bool           // what a run may have otherwise does not count
	names     map[string]bool
	depth     int
	inferred  int
	tell      func(t inferredNode) // is called after each node of the outer graph that has a rule, may be nil
}

// inferredNode is a node with what is known of its inputs and outputs.
type inferredNode struct {
	call *ShapeCall
	out  []Known
	err  error // a rule says that the node fails in every run
}

// knowns is what is known of the values of a graph or function, and of the graphs around it.
type knowns struct {
	values map[string]Known
	outer  *knowns
	scope  *scope // without values: for attributes
}

func (s *knowns) value(name string) (Known, bool) {
	for ; s != nil; s = s.outer {
		if k, ok := s.values[name]; ok {
			return k, true
		}
	}
	return Known{}, false
}

func newInferer(m *Model, sizes map[string]Dim) *inferer {
	f := &inferer{model: m, functions: map[string]*function{}, imports: map[*function]map[string]int{}, sizes: sizes, trusting: true,
		names: map[string]bool{}}
	for _, p := range m.file.Functions {
		fn := &function{proto: p, defaults: map[string]*onnxpb.Attribute{}}
		for _, a := range p.Defaults {
			fn.defaults[a.Name] = a
		}
		imports := versions(m.file.Opsets)
		maps.Copy(imports, versions(p.Opsets))
		f.functions[operatorName(p.Domain, p.Name)+":"+p.Overload], f.imports[fn] = fn, imports
	}
	return f
}

// run follows the outer graph.
func (f *inferer) run() *knowns {
	g := f.model.file.Graph
	for _, in := range g.Inputs {
		if in.Type != nil {
			for _, d := range in.Type.Dims {
				f.names[d.Param] = isName(d.Param)
			}
		}
	}
	s := &knowns{values: f.constants(g), scope: &scope{}}
	for _, in := range g.Inputs {
		if _, ok := s.values[in.Name]; ok && !f.certain {
			continue // that is what it is if none is given
		}
		k := f.input(in)
		if f.certain && len(k.Dims) == 0 {
			k.Dims = nil // a run takes a list of one for a scalar
		}
		s.values[in.Name] = k
	}
	f.nodes(g, g.Nodes, versions(f.model.file.Opsets), s, true)
	return s
}

// input returns what the file says of an input. Open sizes that it has no name for are named for the input and the axis:
// "x.3".
func (f *inferer) input(in *onnxpb.ValueInfo) Known {
	k := declared(in.Type, f.sizes)
	for i, d := range k.Dims {
		if d.known {
			continue
		}
		name := openName(in.Name, i)
		k.Dims[i] = SymbolicDim(name)
		for _, key := range []string{in.Type.Dims[i].Param, name} {
			if size := f.sizes[key]; size.known {
				k.Dims[i] = size
			}
		}
	}
	return k
}

// openName returns the name of an open size that has none.
func openName(input string, axis int) string { return fmt.Sprintf("%s.%d", input, axis) }

func (f *inferer) constants(g *onnxpb.Graph) map[string]Known {
	values := map[string]Known{}
	for _, t := range g.Initializers {
		values[t.Name] = constantOf(t, f.model.dir)
	}
	for _, t := range g.Sparse {
		values[t.Values.Name] = sparseKnown(t)
	}
	return values
}

func sparseKnown(t *onnxpb.SparseTensor) Known {
	k := Known{Type: t.Values.Type.String(), Dims: make([]Dim, len(t.Dims))}
	for i, d := range t.Dims {
		k.Dims[i] = dimOf(d)
	}
	return k
}

// graph follows an inner graph, and returns its outputs.
func (f *inferer) graph(g *onnxpb.Graph, imports map[string]int, outer *knowns, inputs []Known) []Known {
	s := &knowns{values: f.constants(g), outer: outer, scope: &scope{outer: outer.scope}}
	for i, in := range g.Inputs {
		k := declared(in.Type, f.sizes)
		if i < len(inputs) {
			k = inputs[i].but(k)
		}
		s.values[in.Name] = k
	}
	f.nodes(g, g.Nodes, imports, s, false)
	out := make([]Known, len(g.Outputs))
	for i, o := range g.Outputs {
		out[i], _ = s.value(o.Name)
	}
	return out
}

// but returns k, with the type and rank of other where k has none.
func (k Known) but(other Known) Known {
	if k.Type == "" {
		k.Type = other.Type
	}
	return k
}

// nodes follows nodes in turn. g is their graph, nil in a function.
func (f *inferer) nodes(g *onnxpb.Graph, protos []*onnxpb.Node, imports map[string]int, s *knowns, outermost bool) {
	f.depth++
	defer func() { f.depth-- }()
	said := map[string]*onnxpb.Type{}
	if g != nil && f.trusting {
		for _, v := range g.Values {
			said[v.Name] = v.Type
		}
		for _, v := range g.Outputs {
			said[v.Name] = v.Type
		}
	}
	for i, p := range protos {
		if f.inferred++; f.inferred > mostInferred || f.depth > maxDepth {
			return
		}
		n := &node{proto: p, name: nodeName(p, i), version: imports[domainOf(p.Domain)], attributes: map[string]*onnxpb.Attribute{}}
		for _, a := range p.Attributes {
			n.attributes[a.Name] = a
		}
		c := &ShapeCall{nodeCall: nodeCall{n, s.scope}, in: make([]Known, len(p.Inputs)), given: make([]bool, len(p.Inputs))}
		for i, name := range p.Inputs {
			c.in[i], c.given[i] = s.value(name)
			c.given[i] = c.given[i] && name != ""
		}
		c.graph = func(name string, in []Known) []Known {
			a, _ := s.scope.attribute(n.attributes[name])
			if a == nil || a.Graph == nil {
				c.Fail("attribute %s is missing", name)
			}
			return f.graph(a.Graph, imports, s, in)
		}
		var out []Known
		var err error
		if n.function = f.functions[operatorName(p.Domain, p.Op)+":"+p.Overload]; n.function != nil {
			out = f.call(c, s)
		} else if n.op, err = findOperator(p.Domain, p.Op, n.version); err == nil && n.op.Shape != nil {
			out, err = c.shape()
		}
		for i, name := range p.Outputs {
			if name == "" {
				continue
			}
			var k Known
			if i < len(out) {
				k = out[i]
				f.inferred += len(k.elements) / elementsOfANode
			}
			s.values[name] = f.filled(k, said[name])
		}
		if outermost && f.tell != nil {
			f.tell(inferredNode{c, out, err})
		}
	}
}

// shape calls the rule of the operator. The error says that the node fails in every run.
func (c *ShapeCall) shape() (out []Known, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *tensor.Error:
			out, err = nil, fmt.Errorf("onnx: %s: %w", c.node.name, p)
		case runtime.Error: // of a node that a run refuses, too
			out = nil
		default:
			panic(p)
		}
	}()
	return c.node.op.Shape(c), nil
}

// filled returns k with what the file says where k says nothing: numbers, and names that inputs have.
func (f *inferer) filled(k Known, said *onnxpb.Type) Known {
	if said == nil {
		return k
	}
	d := declared(said, f.sizes)
	if k.Type == "" {
		k.Type, k.of = d.Type, d.of
	}
	if d.Dims == nil || k.Dims != nil && len(k.Dims) != len(d.Dims) {
		return k
	}
	dims := make([]Dim, len(d.Dims))
	for i, s := range said.Dims {
		switch {
		case k.Dims != nil && k.Dims[i].known:
			dims[i] = k.Dims[i]
		case s.Param == "" || f.names[s.Param]:
			dims[i] = d.Dims[i]
		}
	}
	k.Dims = dims
	return k
}

// call follows a function of the model.
func (f *inferer) call(c *ShapeCall, caller *knowns) []Known {
	fn := c.node.function
	s := &knowns{values: map[string]Known{}, scope: &scope{call: c.node, caller: caller.scope}}
	for i, name := range fn.proto.Inputs {
		if c.Has(i) {
			s.values[name] = c.in[i]
		}
	}
	f.nodes(nil, fn.proto.Nodes, f.imports[fn], s, false)
	out := make([]Known, len(fn.proto.Outputs))
	for i, name := range fn.proto.Outputs {
		out[i] = s.values[name]
	}
	return out
}

// work is what a node computes, where that is known.
type work struct{ elements, flops float64 }

// foreseen returns what nodes of the outer graph compute, and the errors of those that fail in every run and that the
// outputs of the model need.
func (m *Model) foreseen() (map[*onnxpb.Node]work, error) {
	f := newInferer(m, nil)
	f.trusting, f.certain = false, true
	failed, works := map[*onnxpb.Node]error{}, map[*onnxpb.Node]work{}
	f.tell = func(t inferredNode) {
		if t.err != nil && !errors.Is(t.err, ErrUnsupported) {
			failed[t.call.node.proto] = t.err
		}
		var w work
		for _, k := range t.out {
			n, _ := k.count().int64()
			w.elements += float64(n)
		}
		if n := t.flops(); !math.IsNaN(n) {
			w.flops = n
		}
		works[t.call.node.proto] = w
	}
	f.run()
	if len(failed) == 0 {
		return works, nil
	}
	used := usedBy(m.file.Graph.Nodes, m.file.Graph.Outputs)
	var errs []string
	for _, n := range m.file.Graph.Nodes {
		if err := failed[n]; err != nil && anyOf(n.Outputs, used) {
			errs = append(errs, strings.TrimPrefix(err.Error(), "onnx: "))
		}
	}
	if errs == nil {
		return works, nil
	}
	return nil, fmt.Errorf("onnx: the model cannot run: %s", strings.Join(errs, "\n  "))
}
