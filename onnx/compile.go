package onnx

import (
	"maps"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// graph is a graph whose operators are found.
type graph struct {
	proto     *onnxpb.Graph
	nodes     []*node
	constants map[string]*Value // initializers, and what is folded
	initial   map[string]bool   // the names of initializers
}

// node is a use of an operator, or of a function of the model.
type node struct {
	proto      *onnxpb.Node
	name       string // for errors
	version    int    // of the opset of its domain
	op         Operator
	function   *function // in place of op
	attributes map[string]*onnxpb.Attribute
	inner      bool // it has graphs
	made       any  // what its operator made of the attributes
}

// function is an operator that a model defines.
type function struct {
	proto    *onnxpb.Function
	nodes    []*node
	defaults map[string]*onnxpb.Attribute
}

// graph finds the operators of a graph and takes its initializers: nothing is missing.
func (s *Session) graph(p *onnxpb.Graph, imports map[string]int) (*graph, error) {
	g := &graph{proto: p, constants: map[string]*Value{}, initial: map[string]bool{}}
	for _, t := range p.Initializers {
		v, err := s.constant(t)
		if err != nil {
			return nil, err
		}
		g.constants[t.Name], g.initial[t.Name] = v, true
	}
	for _, t := range p.Sparse {
		v, err := s.sparse(t)
		if err != nil {
			return nil, err
		}
		g.constants[t.Values.Name], g.initial[t.Values.Name] = v, true
	}
	var err error
	g.nodes, err = s.nodes(p.Nodes, imports)
	return g, err
}

func (s *Session) nodes(protos []*onnxpb.Node, imports map[string]int) ([]*node, error) {
	nodes := make([]*node, len(protos))
	for i, p := range protos {
		n := &node{proto: p, name: nodeName(p, i), version: imports[domainOf(p.Domain)], attributes: map[string]*onnxpb.Attribute{}}
		nodes[i] = n
		for _, a := range p.Attributes {
			n.attributes[a.Name] = a
			if a.Graph == nil {
				continue
			}
			var err error
			if s.graphs[a.Graph], err = s.graph(a.Graph, imports); err != nil {
				return nil, err
			}
			n.inner = true
		}
		if n.function = s.functions[operatorName(p.Domain, p.Op)+":"+p.Overload]; n.function != nil {
			continue
		}
		var err error
		if n.op, err = findOperator(p.Domain, p.Op, n.version); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// keep marks a value, and what is in it, as one that lives as long as the session.
func (v *Value) keep() *Value {
	v.kept = true
	for _, n := range []*autograd.Node{v.node, v.host} {
		if n != nil {
			n.Value().Retain()
		}
	}
	for _, e := range v.list {
		e.keep()
	}
	return v
}

// compile finds the operators of a function. Domains that it does not import are those of the model.
func (s *Session) compile(f *function) error {
	imports := versions(s.model.file.Opsets)
	maps.Copy(imports, versions(f.proto.Opsets))
	f.defaults = map[string]*onnxpb.Attribute{}
	for _, a := range f.proto.Defaults {
		f.defaults[a.Name] = a
		if a.Graph != nil {
			var err error
			if s.graphs[a.Graph], err = s.graph(a.Graph, imports); err != nil {
				return err
			}
		}
	}
	var err error
	f.nodes, err = s.nodes(f.proto.Nodes, imports)
	return err
}

// sparse returns a sparse tensor of the file as a dense one.
func (s *Session) sparse(t *onnxpb.SparseTensor) (*Value, error) {
	dense := &onnxpb.Tensor{Name: t.Values.Name, Dims: t.Dims, Type: t.Values.Type}
	n, err := dense.Len()
	if err != nil {
		return nil, err
	}
	values, err := newTensor(s.host, t.Values, s.model.dir)
	if err != nil {
		return nil, err
	}
	indices, err := newTensor(s.host, t.Indices, s.model.dir)
	if err != nil {
		return nil, err
	}
	var y *tensor.Tensor
	err = tensor.Try(func() {
		if indices.Rank() == 2 { // a row of indices for each value
			flat, stride := tensor.ZerosOf(s.host, tensor.Int64, indices.Shape()[0]), 1
			for axis := len(t.Dims) - 1; axis >= 0; axis-- {
				flat = flat.Add(indices.Select(1, axis).MulScalar(float64(stride)))
				stride *= int(t.Dims[axis])
			}
			indices = flat
		}
		shape := make([]int, len(t.Dims))
		for i, d := range t.Dims {
			shape[i] = int(d)
		}
		y = tensor.ZerosOf(s.host, values.Type(), n).Scatter(0, indices, values).Reshape(shape...)
	})
	if err != nil {
		return nil, err
	}
	return (&Value{host: autograd.Const(y)}).keep(), nil
}
