package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// moveWeights makes initializers of the constant nodes that hold several floats: some exporters, such as
// paddle2onnx, write weights as nodes. A number alone stays a node: it is part of a formula, not a weight.
func moveWeights(g *onnxpb.Graph) {
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *onnxpb.Node) bool {
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
