package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// IsParam reports whether the node was made by [Param]; a frozen parameter is one, too.
func (n *Node) IsParam() bool {
	n.must("IsParam")
	return n.param
}

// Freeze makes a parameter a constant until [Node.Unfreeze]: it gets no gradient, and what is
// computed from it and constants is no graph. The gradient that it has is forgotten, so that an
// optimizer leaves it as it is, with its moments. Graphs from before give it none either; what
// package replay recorded while it was not frozen is refused meanwhile. [Node.NeedsGrad] reports
// false for it. It panics with tensor.ErrValue if the node is no parameter. PyTorch:
// requires_grad_(False).
func (n *Node) Freeze() {
	n.mustParam("Freeze")
	n.ownFrozen()
	n.ownGrad() // it has none then, whether it was frozen or not
	if n.needs {
		n.ZeroGrad()
		n.needs = false
		n.ext().constant = &Node{value: n.value, name: n.name}
	}
}

// Unfreeze makes a frozen parameter gather gradients again: those of graphs from then on. It panics
// with tensor.ErrValue if the node is no parameter. PyTorch: requires_grad_(True).
func (n *Node) Unfreeze() {
	n.mustParam("Unfreeze")
	n.ownFrozen()
	if !n.needs {
		n.needs, n.extra.constant = true, nil
	}
}

func (n *Node) mustParam(op string) {
	n.must(op)
	if !n.param {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Shapes: [][]int{n.Shape()},
			Detail: fmt.Sprintf("node %q is no parameter: make one with Param", n.label())})
	}
}

// frozen reports whether the node is a parameter that was frozen.
func (n *Node) frozen() bool { return n.param && !n.needs }

// withConstants returns the inputs of a node with constants for frozen parameters: the graph stays
// as it was recorded when these are unfrozen before Backward.
func withConstants(inputs []*Node) []*Node {
	if slices.ContainsFunc(inputs, (*Node).frozen) {
		inputs = slices.Clone(inputs)
		for i, in := range inputs {
			if in.frozen() {
				inputs[i] = in.extra.constant
			}
		}
	}
	return inputs
}
