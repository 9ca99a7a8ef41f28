package autograd

import "github.com/clgrad/clgrad/tensor"

// GraphNode is a Node in the list that Graph returns.
type GraphNode struct {
	Node   *Node
	Inputs []int // their places in the list
}

// Graph returns the nodes that root was computed from, and last root, each behind its inputs: for what draws
// graphs. Of a node that was computed under [NoGrad] it is that node alone. The error is [ErrGraphFreed] after
// Backward, which takes the graph apart.
func Graph(root *Node) ([]GraphNode, error) { return graphOf("Graph", root) }

func graphOf(op string, root *Node) ([]GraphNode, error) {
	root.must(op)
	if root.freed {
		return nil, &tensor.Error{Pkg: "autograd", Op: op, Kind: ErrGraphFreed, Shapes: [][]int{root.Shape()},
			Detail: "ask for the graph before Backward, or Backward with Retain"}
	}
	order := root.topological(walks.Add(1), nil)
	graph, at := make([]GraphNode, len(order)), make(map[*Node]int, len(order))
	for i, n := range order {
		at[n], graph[i].Node = i, n
		for _, in := range n.inputs {
			graph[i].Inputs = append(graph[i].Inputs, at[in])
		}
	}
	return graph, nil
}
