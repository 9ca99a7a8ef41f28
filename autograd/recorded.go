package autograd

import (
	"fmt"
	"slices"
	"weak"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// recordedState is the capture.State of package autograd: what a step that is being recorded finds
// and leaves in the parameters and older graphs of a device. A replay does not run the Go code that
// changes them.
type recordedState struct {
	device tensor.Device
	params []*recordedParam // in the order in which the step came to them
	of     map[*Node]*recordedParam
	made   map[weak.Pointer[Node]]bool // nodes of this run
	graphs []recordedNode              // nodes of graphs from before the step, which it walks
	walks  bool                        // the step walks a graph, and was not called under NoGrad
}

// recordedParam is a parameter in a recorded step.
type recordedParam struct {
	node       *Node
	gradBuffer *tensor.Tensor // what the step finds
	hooks      []*hook

	gradient struct {
		known bool // the step has read whether there is one, or said so
		read  bool
		found *tensor.Tensor
		node  *Node // GradNode
		walks bool  // the step has asked for that
		stays bool  // found is what is there in the end
	}
	frozen struct{ known, read, found bool }
	walked bool // hooks, if there are any, are called
	named  bool // by the step

	final finalState
	kept  *tensor.Tensor // a view of left.grad if the step made that, which the recording holds
}

// finalState is what a step leaves in a parameter.
type finalState struct {
	grad     *tensor.Tensor
	node     *Node
	frozen   bool
	constant *Node
	name     string
}

// recordedNode is a node of a graph from before the step.
type recordedNode struct {
	node  *Node
	saved []savedValue
	hooks []*hook
}

// stateKey is the key of a recordedState.
type stateKey struct{}

// recordedOn returns the state of the step that is being recorded on d, nil if there is none.
func recordedOn(d tensor.Device) *recordedState {
	s := tensorapi.Impl.State(d, stateKey{}, func() capture.State {
		return &recordedState{device: d, of: map[*Node]*recordedParam{}, made: map[weak.Pointer[Node]]bool{}}
	})
	if s == nil {
		return nil
	}
	return s.(*recordedState)
}

// recorded returns what is noted of a parameter in the step that is being recorded, nil if no step
// is, or if the step made n.
func (n *Node) recorded() *recordedParam {
	if !n.param || capture.Recordings.Load() == 0 {
		return nil
	}
	s := recordedOn(n.value.Device())
	if s == nil || s.made[weak.Make(n)] {
		return nil
	}
	p := s.of[n]
	if p == nil {
		p = &recordedParam{node: n, gradBuffer: n.gradBuffer, hooks: n.hooks()}
		s.of[n], s.params = p, append(s.params, p)
	}
	return p
}

// madeRecorded notes that a step that is being recorded has made n.
func (n *Node) madeRecorded() {
	if capture.Recordings.Load() == 0 {
		return
	}
	if s := recordedOn(n.value.Device()); s != nil {
		s.made[weak.Make(n)] = true
	}
}

// foundGrad is called before something depends on whether a parameter has a gradient. Replays are
// refused where that is otherwise than in the step: they would add to a gradient that was
// forgotten, or write over one that was not.
func (n *Node) foundGrad() {
	if p := n.recorded(); p != nil && !p.gradient.known {
		g := &p.gradient
		g.known, g.read, g.found, g.node = true, true, n.grad, n.gradNode()
	}
}

// readGradNode is called before a step gets a GradNode. If that is from before the step, replays are
// refused where it is another.
func (n *Node) readGradNode() {
	if p := n.recorded(); p != nil && p.gradient.read && n.gradNode() == p.gradient.node {
		p.gradient.walks = true
	}
}

// ownGrad is called before a gradient is forgotten: in the rest of a step that is being recorded,
// the step itself says whether there is one.
func (n *Node) ownGrad() {
	if p := n.recorded(); p != nil {
		p.gradient.known = true
	}
}

// foundFrozen is called before something depends on whether a parameter is frozen.
func (n *Node) foundFrozen() {
	if p := n.recorded(); p != nil && !p.frozen.known {
		p.frozen.known, p.frozen.read, p.frozen.found = true, true, n.frozen()
	}
}

// ownFrozen is called before a parameter is frozen or unfrozen.
func (n *Node) ownFrozen() {
	if p := n.recorded(); p != nil {
		p.frozen.known = true
	}
}

// ownName is called before a parameter is named.
func (n *Node) ownName() {
	if p := n.recorded(); p != nil {
		p.named = true
	}
}

// foundGraph notes the parameters and the older nodes of a graph that the step which is being
// recorded walks.
func (w *walk) foundGraph() {
	if capture.Recordings.Load() == 0 {
		return
	}
	d := w.root.value.Device()
	s := recordedOn(d)
	if s == nil {
		return
	}
	s.walks = s.walks || !modeOf(d, w.op).quiet
	for _, n := range w.order {
		if p := n.recorded(); p != nil {
			n.foundFrozen()
			p.walked = true
		}
		older := n.op != "" && !s.made[weak.Make(n)]
		if older && !slices.ContainsFunc(s.graphs, func(r recordedNode) bool { return r.node == n }) {
			s.graphs = append(s.graphs, recordedNode{n, n.saved, n.hooks()})
		}
	}
}

// End is that of capture.State.
func (s *recordedState) End() (tensors []capture.Left) {
	for _, p := range s.params {
		n, g := p.node, &p.gradient
		p.final = finalState{grad: n.grad, node: n.gradNode(), frozen: n.frozen(), name: n.name}
		if p.final.frozen {
			p.final.constant = n.extra.constant
		}
		if p.final.node != nil && p.final.node != g.node {
			made := p.final.node // no replay makes its graph
			p.final.node = &Node{value: made.value, op: made.op, extra: &extra{replayed: true}}
		}
		g.stays = g.read && g.found == n.grad
		if g.known && n.grad != nil && n.grad != n.gradBuffer && !g.stays {
			p.kept = n.grad.View().Retain()
			tensors = append(tensors, capture.Left{Name: fmt.Sprintf("the gradient of parameter %q", n.label()), Tensor: p.kept})
		}
	}
	s.of, s.made = nil, nil
	return tensors
}

// Differs is that of capture.State.
func (s *recordedState) Differs(before capture.State) string {
	first := map[*Node]*recordedParam{}
	for _, p := range before.(*recordedState).params {
		first[p.node] = p
	}
	for _, p := range s.params {
		q := first[p.node]
		differs := func(format string) string { return fmt.Sprintf(format, p.node.label()) }
		switch {
		case q == nil:
			return differs("parameter %q is used in the second alone")
		case (p.final.grad != nil) != (q.final.grad != nil), (p.final.node != nil) != (q.final.node != nil):
			return differs("parameter %q has a gradient after one, and none after the other")
		case p.final.frozen != q.final.frozen:
			return differs("parameter %q is frozen after one, and not after the other")
		case !slices.Equal(p.hooks, p.node.hooks()):
			return differs("parameter %q has other hooks after the second than before it: remove those that the step adds")
		}
	}
	return ""
}

// Explain is that of capture.State.
func (s *recordedState) Explain(before capture.State) string {
	for _, q := range before.(*recordedState).params {
		for _, p := range s.params {
			if p.node == q.node && p.gradient.read && q.gradient.read && p.gradient.found != nil && q.gradient.found == nil {
				return fmt.Sprintf("ZeroGrad is missing from the step: the second run adds to the gradient of parameter %q, "+
					"which the first left: call it in the step, or do a step before Record", p.node.label())
			}
		}
	}
	return ""
}

// Ready is that of capture.State.
func (s *recordedState) Ready() error {
	switch m := modeOf(s.device, "Run"); {
	case m.watch != nil:
		return notReady(tensor.ErrValue, "it is called under autograd.DetectAnomalies, which sees nothing of a replay: do the step eagerly there")
	case m.quiet && s.walks:
		return notReady(tensor.ErrValue, "it is called under autograd.NoGrad or in a hook, where the Backward of the step would be an error: call it outside")
	}
	for _, p := range s.params {
		if err := p.ready(); err != nil {
			return err
		}
	}
	for _, r := range s.graphs {
		if err := r.ready(); err != nil {
			return err
		}
	}
	return nil
}

func (p *recordedParam) ready() error {
	n, g := p.node, &p.gradient
	refuse := func(kind error, format string) error { return notReady(kind, fmt.Sprintf(format, n.label())) }
	if n.gradBuffer != p.gradBuffer {
		return refuse(tensor.ErrFreed, "parameter %q, which the step uses, moved to another optimizer: record it again")
	}
	if p.walked && !slices.Equal(n.hooks(), p.hooks) {
		return refuse(tensor.ErrValue, "parameter %q has other hooks than in the step that was recorded: make them what they were, or record it again")
	}
	if p.frozen.read && n.frozen() != p.frozen.found {
		if p.frozen.found {
			return refuse(tensor.ErrValue, "parameter %q is not frozen, and was when the step that was recorded began: freeze it, or record the step again")
		}
		return refuse(tensor.ErrValue, "parameter %q is frozen, and was not when the step that was recorded began: unfreeze it, or record the step again")
	}
	if !g.read {
		return nil
	}
	switch node := n.gradNode(); {
	case n.grad == nil && g.found != nil, node == nil && g.node != nil:
		return refuse(tensor.ErrValue, "parameter %q has no gradient, and had one when the step that was recorded began: forget it within the step, or record it again")
	case n.grad != nil && g.found == nil, node != nil && g.node == nil:
		return refuse(tensor.ErrValue, "parameter %q has a gradient, and had none when the step that was recorded began: call ZeroGrad first, or record it again")
	case g.walks && node != g.node:
		return refuse(tensor.ErrValue,
			"parameter %q has another GradNode than the one that the step walks: record it again")
	case g.stays && n.grad != g.found:
		return refuse(tensor.ErrValue, "parameter %q has another gradient than the one to which the step that was recorded adds: call ZeroGrad in the step, or record it again")
	}
	return nil
}

func (r recordedNode) ready() error {
	n := r.node
	switch {
	case n.freed:
		return notReady(ErrGraphFreed, fmt.Sprintf("node %q, which the step walks back from: pass Retain to every Backward", n.label()))
	case !slices.Equal(n.hooks(), r.hooks):
		return notReady(tensor.ErrValue, fmt.Sprintf("node %q has other hooks than in the step that was recorded: make them what they were, or record it again", n.label()))
	}
	for _, s := range r.saved {
		switch {
		case s.t.Freed():
			return notReady(tensor.ErrFreed, fmt.Sprintf("a value that the gradient of %q needs: free it later, or record the step again", n.op))
		case tensorapi.Impl.Version(s.t) != s.version:
			return notReady(ErrChanged, fmt.Sprintf("the gradient of %q needs a value of shape %v as it was: change a copy", n.op, s.t.Shape()))
		}
	}
	return nil
}

func notReady(kind error, detail string) error {
	return &tensor.Error{Pkg: "replay", Op: "Run", Kind: kind, Detail: detail}
}

// Restore is that of capture.State.
func (s *recordedState) Restore() {
	for _, p := range s.params {
		p.restore()
	}
}

func (p *recordedParam) restore() {
	n, l := p.node, &p.final
	if p.gradient.known {
		p.restoreGrad()
	}
	if p.frozen.known && n.frozen() != l.frozen {
		n.needs = !l.frozen
		n.ext().constant = l.constant
	}
	if p.named && n.name != l.name {
		n.Named(l.name)
	}
}

func (p *recordedParam) restoreGrad() {
	n, l := p.node, &p.final
	if n.grad != l.grad || p.kept != nil && l.grad.Freed() {
		if n.grad != nil && n.grad != n.gradBuffer {
			n.grad.Free()
		}
		if p.kept != nil && l.grad.Freed() {
			l.grad = p.kept.View().Retain()
		}
		n.grad = l.grad
	}
	if n.gradNode() != l.node {
		n.ext().grad = l.node
	}
}
