package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(Operator{Domain: training, Name: "Gradient", Attributes: "xs y zs", OnDevice: true, Run: gradient})
}

// gradient returns the gradients of the sum of y with respect to xs. The inputs are values for xs and zs: the nodes
// that lead from these to y run again.
func gradient(c *Call) []*Value {
	xs, zs, y := c.StringList("xs"), c.StringList("zs"), c.String("y", "")
	if c.Len() != len(xs)+len(zs) || len(xs) == 0 {
		c.Fail("%d inputs, and there are %d xs and %d zs", c.Len(), len(xs), len(zs))
	}
	where := c.scope // the graph that makes y
	for ; where != nil; where = where.outer {
		if slices.ContainsFunc(where.nodes, func(n *node) bool { return slices.Contains(n.proto.Outputs, y) }) {
			break
		}
	}
	if where == nil {
		c.Fail("no node makes %q", y)
	}
	sc := &scope{values: map[string]*Value{}, nodes: where.nodes, outer: where}
	leaves := make([]*autograd.Node, len(xs))
	for i, name := range slices.Concat(xs, zs) {
		sc.values[name] = c.Value(i)
		if i < len(xs) {
			leaves[i] = c.leaf(c.Node(i), name)
			sc.values[name] = fromNode(leaves[i])
		}
	}
	c.r.deriving++
	defer func() { c.r.deriving-- }()
	if err := c.r.again(between(where.nodes, sc.values, y), sc); err != nil {
		panic(deviceError{err})
	}
	v, _ := sc.value(y)
	if v == nil || v.any() == nil {
		c.Fail("%q is %v, and should be a tensor", y, v)
	}
	grads := make([]*autograd.Node, len(xs))
	if n := c.r.on(v, false); n.NeedsGrad() {
		ones := autograd.Const(tensor.ZerosOf(n.Device(), n.Type(), n.Shape()...).AddScalar(1))
		var err error
		// Values that the run has made before are part of the graph: they are retained.
		grads, err = autograd.Grad(n, leaves, autograd.GradOptions{Seed: ones, AllowUnused: true, Retain: true,
			CreateGraph: c.r.deriving > 1 || c.r.s.options.Training})
		if err != nil {
			panic(deviceError{err})
		}
	}
	for i, x := range leaves {
		if grads[i] == nil {
			grads[i] = autograd.Const(tensor.ZerosOf(x.Device(), x.Type(), x.Shape()...))
		}
	}
	return Out(grads...)
}

// leaf returns x, or a node of its value that has a gradient.
func (c *Call) leaf(x *autograd.Node, name string) *autograd.Node {
	if x.NeedsGrad() {
		return x
	}
	t := x.Value().Expand(x.Shape()...)
	leaf := autograd.Param(t, name)
	c.r.hold(t)
	return leaf
}

// between returns the nodes that lead from values to y, in their order.
func between(nodes []*node, from map[string]*Value, y string) []*node {
	needed := map[string]bool{y: true}
	var list []*node
	for _, n := range slices.Backward(nodes) {
		if !slices.ContainsFunc(n.proto.Outputs, func(out string) bool {
			_, given := from[out]
			return needed[out] && !given
		}) {
			continue
		}
		list = append(list, n)
		for _, in := range captured(n.proto) {
			needed[in] = true
		}
	}
	slices.Reverse(list)
	follows := map[string]bool{}
	for name := range from {
		follows[name] = true
	}
	return slices.DeleteFunc(list, func(n *node) bool {
		if !slices.ContainsFunc(captured(n.proto), func(in string) bool { return follows[in] }) {
			return true
		}
		for _, out := range n.proto.Outputs {
			follows[out] = true
		}
		return false
	})
}

// captured returns the names that a node takes, those that its graphs take among them, and the y of a Gradient.
func captured(n *onnxpb.Node) []string {
	names := slices.DeleteFunc(slices.Clone(n.Inputs), func(name string) bool { return name == "" })
	for _, a := range n.Attributes {
		if a.Name == "y" && n.Op == "Gradient" {
			names = append(names, a.String)
		}
		for _, g := range a.AllGraphs() {
			for _, inner := range g.Nodes {
				names = append(names, captured(inner)...)
			}
			for _, o := range g.Outputs {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// again runs nodes in a scope whose values stay those that are given.
func (r *runner) again(nodes []*node, sc *scope) error {
	given := map[string]bool{}
	for name := range sc.values {
		given[name] = true
	}
	for _, n := range nodes {
		out, err := r.node(n, sc)
		if err != nil {
			return err
		}
		for i, name := range n.proto.Outputs {
			if i < len(out) && !given[name] {
				sc.values[name] = out[i]
			}
		}
	}
	return nil
}
