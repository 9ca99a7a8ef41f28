package autograd

import "slices"

// Derive delivers the gradients of all inputs and reports true, where gradients have gradients; otherwise it reports
// false. They follow from a definition of the operation, which computes it again by operations on Nodes. g is the
// gradient that came. The definition gets the inputs in the order in which [NewOp] got them; it must not read these but
// from its argument. Its result has the shape of the operation's.
func (in *Grads) Derive(g *Node, definition func(inputs []*Node) *Node) bool {
	if !in.walk.record {
		return false
	}
	inputs := slices.Clone(in.node.inputs)
	var ends []*Node // where the way back through the definition ends
	for i, x := range inputs {
		if in.walk.wants(x) {
			inputs[i] = x.to(x.value.Type())
			ends = append(ends, inputs[i])
		}
	}
	y := definition(inputs)
	w := &walk{op: in.walk.op, root: in.walk.root, record: true, hasTargets: true, number: walks.Add(1),
		grads: map[*Node]*Node{}, parts: map[*Node][]part{}, factors: map[*Node][][2]*Node{}}
	w.at.walk = w
	for _, x := range ends {
		x.pass = w.number
	}
	w.order = ends
	if y.pass != w.number {
		w.order = y.topological(w.number, ends)
	}
	for i, n := range w.order {
		n.onPath = i < len(ends) || slices.ContainsFunc(n.inputs, w.wants)
	}
	w.addNode(y, g)
	for i := len(w.order) - 1; i >= len(ends) && w.err == nil; i-- {
		w.recordedStep(w.order[i])
	}
	if w.err != nil {
		in.walk.err = w.err
		return true
	}
	for i, x := range inputs {
		if d := w.gradOf(x); d != nil {
			in.AccumulateNode(i, d)
		}
	}
	return true
}
