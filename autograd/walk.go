package autograd

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// walk is one way back through a graph: a Backward or a Grad.
type walk struct {
	mode
	op         string // for errors, before the name of the root
	options    string // the type of its options
	root       *Node
	seed       *Node // the gradient of the root; nil: 1
	retain     bool  // the graph stays
	record     bool  // gradients are part of a graph themselves
	hasTargets bool  // gradients go to the nodes that were asked for, else to parameters

	number   uint64
	order    []*Node        // inputs before outputs
	around   *walk          // a hook of which began this one, or nil
	borrowed []borrowedNode // parameters that are part of walks around, as those need them again

	at      Grads                // of the node at work
	g       Node                 // its gradient, unless gradients are recorded
	made    []*Node              // what its backward function computed on the way, unless gradients are recorded
	grads   map[*Node]*Node      // gathered so far, if gradients are recorded; else they are pending in each node
	parts   map[*Node][]part     // of gradients, which are still to be added to grads
	factors map[*Node][][2]*Node // x and g of gradients xᵀ·g by weights, which are one product then; nil: each is one
	leaves  []*Node              // parameters whose gradient is complete in grads
	found   map[*Node]*Node      // gradients that were asked for
	known   map[*Node]bool       // whose gradient is not finite, under DetectAnomalies
	err     error                // why it cannot continue
}

// walks numbers the walks, and the sorts for other purposes.
var walks atomic.Uint64

// spare holds walks that came to their end: a Backward of every step allocates none.
var spare sync.Pool

// newWalk returns a walk back from root.
func newWalk(root *Node) *walk {
	w, ok := spare.Get().(*walk)
	if !ok {
		w = &walk{}
	}
	w.root = root
	return w
}

// end gives a walk back that nobody uses any more.
func (w *walk) end() {
	clear(w.order)
	*w = walk{order: w.order[:0], made: w.made[:0]}
	spare.Put(w)
}

// fail returns an error about a node of the walk.
func (w *walk) fail(n *Node, kind error, detail string) error {
	return &tensor.Error{Pkg: "autograd", Op: w.op + " " + w.root.label(), Kind: kind, Shapes: [][]int{n.Shape()}, Detail: detail}
}

// check sorts the graph, and returns why it cannot be walked.
func (w *walk) check() error {
	n, d := w.root, w.root.value.Device()
	if err := d.Err(); err != nil {
		return err
	}
	const again = "pass autograd.BackwardOptions{Retain: true} to the first Backward, or run the forward pass again"
	switch {
	case n.freed:
		return w.fail(n, ErrGraphFreed, again)
	case !n.needs:
		return w.fail(n, ErrNotOnGraph, "it was computed from constants and frozen parameters, detached, or under NoGrad: make what is to have a gradient, an input too, with autograd.Param(t, name)")
	case w.seed == nil && n.value.Len() != 1:
		return w.fail(n, ErrSeed, "pass "+w.options+"{Seed: g}, or reduce it with Sum or Mean")
	}
	if w.seed != nil {
		s := w.seed.use("seed")
		switch {
		case s.Type() != n.gradType():
			return w.fail(n, tensor.ErrType, fmt.Sprintf("the seed is of type %v, and the node of %v: convert it with To", s.Type(), n.gradType()))
		case !slices.Equal(s.Shape(), n.Shape()):
			return w.fail(n, tensor.ErrShape, fmt.Sprintf("the seed has shape %v", s.Shape()))
		case s.Device() != d:
			return w.fail(n, tensor.ErrDevice, "the seed and the node: "+tensorapi.Impl.BothNames(s.Device(), d))
		}
	}
	w.number = walks.Add(1)
	w.order = n.topological(w.number, w.order)
	w.foundGraph()
	w.around = modeOf(d, w.op).walk
	shared := w.shared()
	for _, node := range shared {
		if node.freed || len(node.inputs) > 0 {
			return w.fail(node, tensor.ErrValue, fmt.Sprintf("node %q is part of a graph that is walked at this moment: a hook cannot walk it again", node.label()))
		}
	}
	for _, node := range w.order {
		if node.freed {
			return w.fail(node, ErrGraphFreed, fmt.Sprintf("node %q was part of it: %s", node.label(), again))
		}
		for _, s := range node.saved {
			if err := w.stale(node, s); err != nil {
				return err
			}
		}
		if g := node.gradNode(); w.record && !w.hasTargets && g != nil && g.extra != nil && g.extra.replayed {
			return w.fail(node, tensor.ErrRecorded, fmt.Sprintf(
				"parameter %q has the gradient of a replay, which has no graph to add to: call ZeroGrad first", node.label()))
		}
	}
	w.borrow(shared)
	return nil
}

// shared returns the nodes that are part of a walk around, too.
func (w *walk) shared() (nodes []*Node) {
	if w.around == nil {
		return nil
	}
	busy := map[*Node]bool{}
	for o := w.around; o != nil; o = o.around {
		for _, n := range o.order {
			busy[n] = true
		}
	}
	for _, n := range w.order {
		if busy[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// borrowedNode is what a walk around has in a node.
type borrowedNode struct {
	node             *Node
	pending          gradient
	isTarget, onPath bool
}

// borrow makes nodes of walks around, which have no inputs, as if no walk had come to them.
func (w *walk) borrow(nodes []*Node) {
	for _, n := range nodes {
		w.borrowed = append(w.borrowed, borrowedNode{n, n.pending, n.isTarget, n.onPath})
		n.pending, n.isTarget, n.onPath = gradient{}, false, false
	}
}

// giveBack undoes borrow.
func (w *walk) giveBack() {
	for _, l := range w.borrowed {
		if t := l.node.pending.t; t != nil { // of a walk that did not come to its end
			t.Free()
		}
		l.node.pending, l.node.isTarget, l.node.onPath = l.pending, l.isTarget, l.onPath
	}
	w.borrowed = nil
}

// stale returns an error if a value that the gradient of n reads is not what it was.
func (w *walk) stale(n *Node, s savedValue) error {
	if s.t.Freed() {
		return w.fail(n, tensor.ErrFreed, fmt.Sprintf("the gradient of %q needs a value of shape %v: %s", n.op, s.t.Shape(), tensorapi.Impl.WhoFreed(s.t, "it")))
	}
	if now := tensorapi.Impl.Version(s.t); now != s.version {
		return w.fail(n, ErrChanged, fmt.Sprintf("the gradient of %q needs a value of shape %v at version %d, it is at %d: change a copy, or change it after Backward",
			n.op, s.t.Shape(), s.version, now))
	}
	return nil
}

// run walks a graph that was checked.
func (w *walk) run() error {
	defer w.giveBack()
	d := w.root.value.Device()
	before := modeOf(d, w.op)
	w.mode = mode{quiet: !w.record, walk: w, watch: before.watch}
	if w.watch != nil {
		if err := w.watch.root(w); err != nil {
			return err
		}
		w.known = map[*Node]bool{}
		for _, n := range w.order { // what parameters hold from before is nobody's fault here
			if n.op == "" && n.Grad() != nil && look(n.Grad()).bad() {
				w.known[n] = true
			}
		}
	}
	defer leave(d, w.enter(d))
	w.at.walk = w
	if w.record {
		w.grads, w.parts = map[*Node]*Node{}, map[*Node][]part{}
	}
	for _, n := range w.order { // of a walk that panicked on its way
		if n.pending.t != nil {
			n.pending.t.Free()
			n.pending = gradient{}
		}
	}
	w.start(d)
	for i := len(w.order) - 1; i >= 0 && w.err == nil; i-- {
		n := w.order[i]
		if w.record {
			w.recordedStep(n)
		} else {
			w.step(n)
		}
		if !w.retain {
			n.release(n == w.root || w.hasTargets && n.isTarget)
		}
	}
	if w.err == nil {
		for _, n := range w.leaves {
			if n.needs { // a hook may have frozen it
				n.addRecorded(w.grads[n])
			}
		}
	}
	tensorapi.Impl.TakeLaunched(d, w.op) // they belong to no node
	if err := d.Err(); err != nil {
		return err
	}
	return w.err
}

// start gives the root its gradient.
func (w *walk) start(d tensor.Device) {
	switch n := w.root; {
	case w.record && w.seed != nil:
		w.addNode(n, w.seed)
	case w.record:
		w.addNode(n, &Node{value: n.one(d)})
	case w.seed != nil: // a parameter may be the root: it gathers the seed
		w.add(n, gradient{w.seed.value.View(), false})
	default:
		w.add(n, gradient{n.one(d), false})
	}
}

// one returns 1 as the gradient of a node of one element.
func (n *Node) one(d tensor.Device) *tensor.Tensor {
	if typ := n.gradType(); typ != d.DefaultType() {
		return tensor.FullOf(d, typ, 1, n.Shape()...)
	}
	return tensorapi.Impl.One(d, n.Shape()...)
}

// wants reports whether the walk has a use for the gradient of n.
func (w *walk) wants(n *Node) bool {
	if w.hasTargets {
		return n.onPath
	}
	return n.needs
}

// continues reports whether an input of n wants a gradient.
func (w *walk) continues(n *Node) bool {
	return n.backward != nil && (!w.hasTargets || slices.ContainsFunc(n.inputs, w.wants))
}

// step passes the gradient of n, which is complete, on to its inputs.
func (w *walk) step(n *Node) {
	g := n.pending
	if g.t == nil {
		return
	}
	n.pending = gradient{}
	if n.hooked() {
		g = w.hook(n, g)
	}
	g = g.settled()
	if w.hasTargets && n.isTarget {
		own := (*tensor.Tensor).Copy
		if g.mine {
			own = (*tensor.Tensor).View
		}
		w.found[n] = &Node{value: own(g.t)}
	}
	switch {
	case w.err != nil: // by a hook
	case n.op == "" && n.needs && !w.hasTargets: // a hook may have frozen it
		n.addToLeaf(g)
		return
	case w.continues(n):
		w.at.node, w.g.value = n, g.t
		n.labelGradient(g.t.Device())
		n.backward(&w.g, &w.at)
		w.sweep()
		w.after(n, g.t)
	}
	g.t.Free()
}

// labelGradient says that launches on d are the gradient of n.
func (n *Node) labelGradient(d tensor.Device) {
	tensorapi.Impl.Label(d, "gradient of ", n.op)
	for _, in := range n.inputs {
		in.namesLayer(d)
	}
}

// sweep frees what a backward function or a hook computed on its way.
func (w *walk) sweep() {
	for i, n := range w.made {
		if !n.kept {
			n.Free()
		}
		w.made[i] = nil
	}
	w.made = w.made[:0]
}

// after looks at what the backward function of n made of g. A failure in check mode came up in it:
// there was none when the walk began.
func (w *walk) after(n *Node, g *tensor.Tensor) {
	if n.value.Device().Err() != nil {
		attribute(n)
	}
	if w.watch != nil && w.err == nil {
		w.err = w.watch.gradients(w, n, g)
	}
}

// recordedStep is step for gradients that are Nodes.
func (w *walk) recordedStep(n *Node) {
	g := w.gradOf(n)
	if g == nil {
		return
	}
	if g = w.hookNode(n, g); w.err != nil {
		return
	}
	if w.hasTargets && n.isTarget {
		w.found[n] = g
	}
	if n.op == "" && !w.hasTargets {
		w.grads[n] = g
		w.leaves = append(w.leaves, n)
		return
	}
	delete(w.grads, n)
	if w.continues(n) {
		w.at.node = n
		n.labelGradient(g.value.Device())
		n.backward(g, &w.at)
		w.after(n, g.value)
	}
}

// addNode is add for gradients that are Nodes.
func (w *walk) addNode(n, g *Node) {
	if !w.wants(n) {
		return
	}
	typ := n.gradType()
	if typ == tensor.Float64 { // else it is summed before it is rounded
		g = g.as(typ)
	}
	if !slices.Equal(g.Shape(), n.Shape()) {
		g = g.SumTo(n.Shape()...)
	}
	g = g.as(typ)
	if had := w.grads[n]; had != nil {
		g = had.Add(g)
	}
	w.grads[n] = g
}

// addRecorded adds a recorded gradient to a parameter's.
func (n *Node) addRecorded(g *Node) {
	n.addToLeaf(gradient{g.value.View(), false})
	r := n.ext()
	if r.grad != nil {
		g = r.grad.Add(g)
	}
	r.grad = g
}

// release frees what the graph holds for an intermediate node, and its value unless that is to be
// kept. One without inputs is a leaf, or was computed under NoGrad and may be part of other graphs. A parameter in 16
// bits stays while other graphs read it.
func (n *Node) release(keep bool) {
	if len(n.inputs) == 0 || n.extra != nil && n.extra.readers > 0 {
		return
	}
	if n.backward != nil {
		for _, in := range n.inputs {
			if in.extra != nil && in.extra.cast {
				in.extra.readers--
			}
		}
	}
	n.freed = true
	n.backward, n.inputs, n.saved = nil, nil, nil
	n.freeScratch()
	if !keep && !n.kept {
		tensorapi.Impl.FreeAs(n.value, "Backward")
	}
}

// topological returns the nodes that n was computed from, inputs before outputs, n last, in the memory of
// order. It leaves pass in each. It does not recurse: a graph may be deeper than the stack.
func (n *Node) topological(pass uint64, order []*Node) []*Node {
	type visit struct {
		node *Node
		next int // input to look at
	}
	n.pass = pass
	stack := append(make([]visit, 0, 64), visit{n, 0})
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.node.inputs) {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		in := top.node.inputs[top.next]
		top.next++
		if in.pass != pass {
			in.pass = pass
			stack = append(stack, visit{in, 0})
		}
	}
	return order
}
