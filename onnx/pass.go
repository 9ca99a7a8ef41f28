package onnx

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// pass rewrites the outer graph of a session that only runs. Values keep their names, or are gone: a run that asks
// for one that is gone takes the graph as the file has it.
type pass struct {
	name string
	run  func(r *rewriter)
}

// passes are done in this order.
var passes = []pass{
	{"fold-constants", foldConstants},
	{"quantize", quantize},
	{"join-pads", joinPads},
	{"fold-scales", foldScales},
	{"merge-transposes", mergeTransposes},
	{"drop-unused", dropUnused},
}

// Passes returns the names of the rewrites of a loaded model, in their order: those that Options.Skip may name.
//
//	fold-constants    nodes whose inputs are constants are computed when the model is loaded
//	quantize          DequantizeLinear before a convolution or a product is part of it: they are those of integers, or
//	                  of weights that stay integers
//	join-pads         a Pad of zeros becomes the padding of the convolution behind it
//	fold-scales       a BatchNormalization, a factor or an addend of each channel becomes part of the weights of
//	                  the convolution before it
//	merge-transposes  a Transpose of a Transpose is one, or none
//	drop-unused       nodes of which nobody uses an output are left out
func Passes() []string {
	names := make([]string, len(passes))
	for i, p := range passes {
		names[i] = p.name
	}
	return names
}

// rewriter is a graph that is rewritten.
type rewriter struct {
	s     *Session
	g     *graph
	uses  map[string]int   // how many nodes, and outputs of the graph, take a value
	makes map[string]*node // the node that makes a value
}

// optimize returns the graph to run, which is g after the passes that options do not skip.
func (s *Session) optimize(g *graph) (*graph, error) {
	for _, name := range s.options.Skip {
		if !slices.Contains(Passes(), name) {
			return nil, fmt.Errorf("onnx: Load: Options.Skip has %q: there are %v", name, Passes())
		}
	}
	own := &graph{proto: g.proto, constants: map[string]*Value{}, initial: g.initial, nodes: slices.Clone(g.nodes)}
	for name, v := range g.constants {
		own.constants[name] = v
	}
	r := &rewriter{s: s, g: own}
	var err error
	autograd.NoGrad(s.dev, func() {
		autograd.NoGrad(s.host, func() {
			for _, p := range passes {
				if slices.Contains(s.options.Skip, p.name) {
					continue
				}
				r.index()
				if err = try(func() error { p.run(r); return nil }); err != nil {
					err = fmt.Errorf("onnx: Load: pass %s: %w", p.name, err)
					return
				}
			}
		})
	})
	return own, err
}

// index counts uses anew.
func (r *rewriter) index() {
	r.uses, r.makes = map[string]int{}, map[string]*node{}
	var count func(nodes []*onnxpb.Node)
	count = func(nodes []*onnxpb.Node) {
		for _, n := range nodes {
			for _, in := range n.Inputs {
				r.uses[in]++
			}
			for _, a := range n.Attributes {
				for _, g := range a.AllGraphs() {
					count(g.Nodes)
					for _, o := range g.Outputs {
						r.uses[o.Name]++
					}
				}
			}
		}
	}
	for _, n := range r.g.nodes {
		count([]*onnxpb.Node{n.proto})
		for _, out := range n.proto.Outputs {
			r.makes[out] = n
		}
	}
	for _, o := range r.g.proto.Outputs {
		r.uses[o.Name]++
	}
}

// remove takes a node out.
func (r *rewriter) remove(n *node) {
	r.g.nodes = slices.DeleteFunc(r.g.nodes, func(m *node) bool { return m == n })
}

// replace puts a node in the place of another.
func (r *rewriter) replace(old, by *node) {
	i := slices.Index(r.g.nodes, old)
	r.g.nodes[i] = by
	for _, out := range by.proto.Outputs {
		r.makes[out] = by
	}
}

// with returns a copy of a node with other inputs and outputs.
func (n *node) with(inputs, outputs []string) *node {
	m := *n
	p := *n.proto
	p.Inputs, p.Outputs = inputs, outputs
	m.proto = &p
	m.attributes = map[string]*onnxpb.Attribute{}
	for name, a := range n.attributes {
		m.attributes[name] = a
	}
	return &m
}

// is reports whether a node is an operator of ai.onnx.
func (n *node) is(ops ...string) bool {
	return n != nil && n.function == nil && domainOf(n.proto.Domain) == "" && slices.Contains(ops, n.proto.Op)
}

// input returns the name of input i, "" if it is left out.
func (n *node) input(i int) string {
	if i < len(n.proto.Inputs) {
		return n.proto.Inputs[i]
	}
	return ""
}

// constant returns the tensor of a value that is a constant of the graph, on the device, or nil. An initializer that
// is an input, too, is none: a run may give another.
func (r *rewriter) constant(name string) *autograd.Node {
	v := r.g.constants[name]
	if v == nil || v.any() == nil || r.isInput(name) {
		return nil
	}
	return (&runner{s: r.s}).on(v, false)
}

func (r *rewriter) isInput(name string) bool {
	return slices.ContainsFunc(r.g.proto.Inputs, func(v *onnxpb.ValueInfo) bool { return v.Name == name })
}

// ints returns the integers of a constant, and whether it is one.
func (r *rewriter) ints(name string) ([]int, bool) {
	v := r.g.constants[name]
	if v == nil || v.host == nil || r.isInput(name) || v.host.Type() != tensor.Int64 {
		return nil, false
	}
	long, err := v.host.Int64s()
	if err != nil {
		return nil, false
	}
	return clamped(long), true
}

// add makes a constant of the graph, and returns its name.
func (r *rewriter) add(like string, n *autograd.Node) string {
	name := like
	for i := 1; r.g.constants[name] != nil || r.makes[name] != nil; i++ {
		name = fmt.Sprintf("%s (%d)", like, i)
	}
	r.g.constants[name] = (&Value{node: n}).keep()
	return name
}

// dropUnused leaves out nodes of which nobody uses an output.
func dropUnused(r *rewriter) {
	protos := make([]*onnxpb.Node, len(r.g.nodes))
	for i, n := range r.g.nodes {
		protos[i] = n.proto
	}
	used := usedBy(protos, r.g.proto.Outputs)
	r.g.nodes = slices.DeleteFunc(r.g.nodes, func(n *node) bool { return !anyOf(n.proto.Outputs, used) })
	for name := range r.g.constants {
		if !used[name] && !r.isInput(name) {
			delete(r.g.constants, name)
		}
	}
}

// usedBy returns the names of what outputs are made of: by nodes in their order.
func usedBy(nodes []*onnxpb.Node, outputs []*onnxpb.ValueInfo) map[string]bool {
	used := map[string]bool{}
	for _, o := range outputs {
		used[o.Name] = true
	}
	for _, n := range slices.Backward(nodes) {
		if anyOf(n.Outputs, used) {
			for _, name := range takenBy(n) {
				used[name] = true
			}
		}
	}
	return used
}

// takenBy returns the names of what a node takes, and of what graphs within it take, their own values too.
func takenBy(n *onnxpb.Node) []string {
	names := slices.Clone(n.Inputs)
	for _, a := range n.Attributes {
		for _, g := range a.AllGraphs() {
			for _, m := range g.Nodes {
				names = append(names, takenBy(m)...)
			}
			for _, o := range g.Outputs {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

func anyOf(names []string, set map[string]bool) bool {
	return slices.ContainsFunc(names, func(name string) bool { return set[name] })
}

// What is computed of constants when a model is loaded: it has some times the elements of the weights, and more would be
// a model that makes much of little, which a run may have to do, and Load has not.
const (
	foldedElements = 1 << 24 // beside four for each element of the weights
	foldedFLOPs    = 4e9     // beside 64 for each
)

// slowOperators take a time that their shapes do not tell.
var slowOperators = wordsOf("Det NonMaxSuppression")

// foldConstants computes the nodes whose inputs are constants. One that fails is left to the run, which says so. It
// leaves quantized weights to the pass quantize.
func foldConstants(r *rewriter) { fold(r, false) }

func fold(r *rewriter, quantized bool) {
	run := &runner{s: r.s}
	top := &scope{values: r.g.constants}
	weights := float64(r.s.model.Parameters())
	left := work{foldedElements + 4*weights, foldedFLOPs + 64*weights}
	r.g.nodes = slices.DeleteFunc(r.g.nodes, func(n *node) bool {
		if n.op.Run == nil || n.op.OnDevice || n.inner || !r.allConstant(n) || !quantized && r.quantizedConstant(n) {
			return false
		}
		w := r.s.works[n.proto]
		if w.elements > left.elements || w.flops > left.flops || slowOperators[n.proto.Op] {
			return false
		}
		out, err := run.node(n, top)
		if err != nil {
			return false
		}
		left.flops -= w.flops
		for i, name := range n.proto.Outputs {
			if name != "" {
				r.g.constants[name] = out[i].keep()
				out[i].each(func(v *Value) { left.elements -= float64(v.any().Len()) })
			}
		}
		return true
	})
}

func (r *rewriter) allConstant(n *node) bool {
	for _, in := range n.proto.Inputs {
		if in != "" && (r.g.constants[in] == nil || r.isInput(in)) {
			return false
		}
	}
	return true
}
