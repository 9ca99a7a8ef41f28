package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// Shapes is what is known of a model's values without a run: see [Model.Shapes].
type Shapes struct {
	Nodes []NodeShapes // of the outer graph, as the file has it

	values  map[string]Known
	weights int64           // bytes
	outputs map[string]bool // of the model
	fixed   map[string]bool // values that are made of constants
}

// NodeShapes is a node with what is known of it.
type NodeShapes struct {
	NodeInfo
	FLOPs float64 // arithmetic operations, as of [Session.SetTrace]; NaN where a size is not known as a number

	takes []string // inputs, and what graphs within it read of the values around them
}

// Shapes follows from the file alone what types and shapes values have: dimensions are numbers, the names that the file
// has for open sizes, and expressions of them; and the numbers of small tensors that shapes are computed in. No operator
// runs. sizes gives numbers for names; nil gives none.
//
// One name is one size, and a size is at least 1. One that has no name is named for the input and the axis: "x.3". Where
// an operator has no rule counts what the file says of its outputs.
// A dimension that the numbers in tensors decide is not known.
func (m *Model) Shapes(sizes map[string]int) *Shapes {
	return m.shapes(newInferer(m, dimsByName(sizes)))
}

func (m *Model) shapes(f *inferer) *Shapes {
	s := &Shapes{outputs: map[string]bool{}, fixed: map[string]bool{}}
	g := m.file.Graph
	for _, o := range g.Outputs {
		s.outputs[o.Name] = true
	}
	for _, t := range g.Initializers {
		s.fixed[t.Name] = true
	}
	m.eachInitializer(func(_ *onnxpb.Graph, t *onnxpb.Tensor) {
		if n, err := t.Len(); err == nil {
			s.weights += (int64(n)*int64(t.Type.Bits()) + 7) / 8
		}
	})
	f.tell = func(n inferredNode) {
		p := n.call.node.proto
		s.Nodes = append(s.Nodes, NodeShapes{NodeInfo: nodeInfoOf(p), FLOPs: n.flops(), takes: takenBy(p)})
		if n.fixed(s.fixed) {
			for _, name := range p.Outputs {
				s.fixed[name] = true
			}
		}
	}
	s.values = f.run().values
	return s
}

// Value returns what is known of a value of the outer graph, and whether there is one of the name.
func (s *Shapes) Value(name string) (Known, bool) {
	k, ok := s.values[name]
	return k, ok && name != ""
}

// fixed reports whether a node is computed once, of constants.
func (n inferredNode) fixed(values map[string]bool) bool {
	p := n.call.node.proto
	inner := func(a *onnxpb.Attribute) bool { return len(a.AllGraphs()) > 0 }
	if n.call.node.op.OnDevice || slices.ContainsFunc(p.Attributes, inner) {
		return false
	}
	return !slices.ContainsFunc(p.Inputs, func(name string) bool { return name != "" && !values[name] })
}

// flops returns the arithmetic operations of a node, NaN if a size is not known.
func (n inferredNode) flops() float64 {
	known := true
	sizes := func(list []Known, given []bool) []*sized {
		out := make([]*sized, len(list))
		for i, k := range list {
			if given != nil && !given[i] {
				continue
			}
			shape, ok := k.shape()
			known = known && ok
			elements := 1.0
			for _, d := range shape {
				elements *= float64(d)
			}
			out[i] = &sized{shape, elements}
		}
		return out
	}
	op := n.call.node.proto.Op
	if movingOperators[op] {
		return 0
	}
	in, out := sizes(n.call.in, n.call.given), sizes(n.out[:min(len(n.out), n.call.Outputs())], nil)
	if !known || len(out) == 0 || n.call.node.function != nil || n.call.node.op.Shape == nil || innerOperators[op] {
		return math.NaN()
	}
	return flops(&n.call.nodeCall, in, out)
}

// innerOperators run graphs.
var innerOperators = wordsOf("If Loop Scan SequenceMap")

// FLOPs returns the arithmetic operations of a run, and of how many nodes they are not known: a size of theirs is not
// known as a number, or they run graphs or functions. What is computed once, of constants, is left out.
func (s *Shapes) FLOPs() (total float64, unknown int) {
	for _, n := range s.Nodes {
		switch {
		case s.allFixed(n):
		case math.IsNaN(n.FLOPs):
			unknown++
		default:
			total += n.FLOPs
		}
	}
	return total, unknown
}

func (s *Shapes) allFixed(n NodeShapes) bool {
	return !slices.ContainsFunc(n.Outputs, func(name string) bool { return name != "" && !s.fixed[name] })
}

// Memory returns the bytes of the weights, and the most bytes of values that are there at once when nodes run in their
// order, each as long as a node behind it takes it, or it is an output; and how many values have a size that is not known
// as a number. Inputs, and what is computed of constants, are left out. A recorded run needs less: passes join nodes, and
// views share memory.
func (s *Shapes) Memory() (weights, values int64, unknown int) {
	last := map[string]int{}
	for i, n := range s.Nodes {
		for _, name := range n.takes {
			last[name] = i
		}
	}
	there, sum := map[string]int64{}, int64(0)
	for i, n := range s.Nodes {
		for _, name := range n.Outputs {
			if name == "" || s.fixed[name] {
				continue
			}
			size, ok := s.values[name].bytes()
			if !ok {
				unknown++
			}
			there[name] = size
			sum += size
		}
		values = max(values, sum)
		for _, name := range slices.Concat(n.takes, n.Outputs) {
			if last[name] <= i && !s.outputs[name] {
				sum -= there[name]
				delete(there, name)
			}
		}
	}
	return s.weights, values, unknown
}

// bytes returns the size of a tensor, and whether it is known.
func (k Known) bytes() (int64, bool) {
	n, ok := k.count().int64()
	for typ := range typeTable {
		if typ.String() == k.Type {
			return (n*int64(typ.Bits()) + 7) / 8, ok && n >= 0
		}
	}
	return 0, false
}
