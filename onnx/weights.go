package onnx

import (
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// moveWeights makes initializers of the constant nodes that hold several floats, of inner graphs too: some exporters,
// such as paddle2onnx, write weights as nodes. A number alone stays a node: it is part of a formula, not a weight.
func moveWeights(g *onnxpb.Graph) {
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *onnxpb.Node) bool {
		for _, a := range n.Attributes {
			for _, inner := range a.AllGraphs() {
				moveWeights(inner)
			}
		}
		if domainOf(n.Domain) != "" || n.Op != "Constant" || len(n.Attributes) != 1 || len(n.Outputs) != 1 {
			return false
		}
		t := n.Attributes[0].Tensor
		if t == nil || n.Attributes[0].Name != "value" {
			return false
		}
		if typ, ok := typeTable[t.Type]; !ok || !typ.Float() {
			return false
		}
		if size, err := t.Len(); err != nil || size < 2 {
			return false
		}
		t.Name = n.Outputs[0]
		g.Initializers = append(g.Initializers, t)
		return true
	})
}

// eachGraph calls f with a graph and those within it, outer ones first. prefix tells an inner graph from others, by an
// output of its node and the attribute: "y.then_branch.".
func eachGraph(g *onnxpb.Graph, prefix string, f func(g *onnxpb.Graph, prefix string)) {
	f(g, prefix)
	for _, n := range g.Nodes {
		for _, a := range n.Attributes {
			for _, inner := range a.AllGraphs() {
				eachGraph(inner, prefix+strings.Join(n.Outputs[:min(1, len(n.Outputs))], "")+"."+a.Name+".", f)
			}
		}
	}
}

// weightNames returns the names that the initializers of each graph have in the model: their own, behind the prefix of
// the graph where one before has that name.
func (m *Model) weightNames() map[*onnxpb.Graph]map[string]string {
	names, taken := map[*onnxpb.Graph]map[string]string{}, map[string]bool{}
	eachGraph(m.file.Graph, "", func(g *onnxpb.Graph, prefix string) {
		names[g] = map[string]string{}
		add := func(name string) {
			own := name
			if taken[own] {
				own = prefix + name
			}
			names[g][name], taken[own] = own, true
		}
		for _, t := range g.Initializers {
			add(t.Name)
		}
		for _, t := range g.Sparse {
			add(t.Values.Name)
		}
	})
	return names
}

// NodeInfo describes a node of a model.
type NodeInfo struct {
	Name            string   // may be empty
	Operator        string   // as in [Model.Operators]
	Inputs, Outputs []string // names of values; "": left out
}

// Nodes returns the nodes of the outer graph in the order in which they run. [Session.RunNamed] gives any of their
// outputs.
func (m *Model) Nodes() []NodeInfo {
	list := make([]NodeInfo, len(m.file.Graph.Nodes))
	for i, n := range m.file.Graph.Nodes {
		list[i] = nodeInfoOf(n)
	}
	return list
}

func nodeInfoOf(n *onnxpb.Node) NodeInfo {
	return NodeInfo{n.Name, operatorName(n.Domain, n.Op), slices.Clone(n.Inputs), slices.Clone(n.Outputs)}
}
