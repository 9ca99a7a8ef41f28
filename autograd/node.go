package autograd

import (
	"errors"
	"fmt"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// What can be wrong with a graph, for errors.Is.
var (
	ErrGraphFreed             = errors.New("the graph was freed by an earlier Backward")
	ErrNotOnGraph             = errors.New("the value depends on no parameter")
	ErrChanged                = errors.New("a value that the gradient needs was changed in place")
	ErrSeed                   = errors.New("only a scalar has a gradient without a seed")
	ErrUnused                 = errors.New("the value does not depend on the node")
	ErrNotTwiceDifferentiable = errors.New("the gradient has no gradient")
)

// Node is a value in a graph: a parameter, a constant, or what an operation made of others. Its
// operations have the names and parameters of those of tensor.Tensor, and a gradient. They return
// new Nodes and panic with a *tensor.Error for misuse: with tensor.ErrValue if a Node is nil,
// tensor.ErrFreed if its value was freed, tensor.ErrDevice for values of two devices, and what each
// states besides.
type Node struct {
	value  *tensor.Tensor
	op     string // "" for a leaf
	name   string
	inputs []*Node

	param    bool // made by Param
	needs    bool // a parameter that is not frozen, or computed from one
	kept     bool // the value survives Backward
	freed    bool // Backward has passed
	isTarget bool // the last Grad that visited the node was asked for its gradient
	onPath   bool // it was asked, or is computed from one that was

	backward func(g *Node, in *Grads) // nil if needs is false
	saved    []savedValue
	scratch  []*tensor.Tensor // what only backward reads: freed with the graph
	launched tensorapi.Launched

	grad       *tensor.Tensor // of a parameter
	gradBuffer *tensor.Tensor // where the flat buffer wants grad to be, or nil
	flatBuffer any            // the *flatparams.Buffer of a parameter, or nil

	pass    uint64 // the walk that last visited the node
	pending gradient
	extra   *extra // or nil
}

// extra is what few nodes have.
type extra struct {
	hooks    []*hook
	grad     *Node  // of a parameter: what Backward with CreateGraph recorded
	constant *Node  // what graphs have in place of a frozen parameter
	place    string // of the program that called the operation, if that was under DetectAnomalies
	replayed bool   // it is a GradNode that a replay left, without its graph
	cast     bool   // it is a parameter in 16 bits, which the graphs of an Autocast share
	readers  int    // how many nodes of graphs have it as an operand, if it is one
}

// ext returns what few nodes have, for writing.
func (n *Node) ext() *extra {
	if n.extra == nil {
		n.extra = &extra{}
	}
	return n.extra
}

// savedValue is a value that a gradient will read, as it was when the operation ran.
type savedValue struct {
	t       *tensor.Tensor
	version uint64
}

// Const returns a leaf that needs no gradient. It does not take the tensor over: the caller frees
// it, or the tensor.Scope it was made in. It panics with tensor.ErrValue if there is no tensor.
func Const(t *tensor.Tensor) *Node {
	mustTensor("Const", t)
	return &Node{value: t}
}

// Param returns a leaf that gathers a gradient. The name identifies it in state dicts and pictures.
// t stays the parameter's value, exempt from the end of a tensor.Scope: what an optimizer makes of
// the one is seen in the other. It panics with tensor.ErrValue if there is no tensor, and with
// tensor.ErrType unless it is of floats.
func Param(t *tensor.Tensor, name string) *Node {
	mustTensor("Param", t)
	if !t.Type().Float() {
		panic(&tensor.Error{Pkg: "autograd", Op: "Param", Kind: tensor.ErrType, Shapes: [][]int{t.Shape()},
			Detail: fmt.Sprintf("%q is of type %v, and only floats have gradients: convert it with To(tensor.Float32), or use Const", name, t.Type())})
	}
	n := &Node{value: t.Retain(), name: name, param: true, needs: true}
	n.madeRecorded()
	return n
}

func mustTensor(op string, t *tensor.Tensor) {
	if t == nil {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: "the tensor is nil"})
	}
}

// must returns the value of a node, freed or not. It panics if there is no node.
func (n *Node) must(op string) *tensor.Tensor {
	if n == nil || n.value == nil {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: "the Node is nil, or a Node{} that no function made"})
	}
	return n.value
}

// Value returns the node's tensor. Backward frees that of an intermediate node unless Retain was
// called.
func (n *Node) Value() *tensor.Tensor {
	n.must("Value")
	return n.value
}

// Grad returns the gradient gathered since the last ZeroGrad, or nil. It belongs to the node. Only what
// [Param] made gathers one: make an input whose gradient you want a Param, or ask [Grad] for that of another node.
func (n *Node) Grad() *tensor.Tensor {
	n.must("Grad")
	n.foundGrad()
	return n.grad
}

// GradNode returns the gradient that Backward with CreateGraph recorded since the last ZeroGrad,
// which can be differentiated again, or nil. What other calls of Backward added to Grad is not in
// it.
func (n *Node) GradNode() *Node {
	n.must("GradNode")
	n.foundGrad()
	n.readGradNode()
	return n.gradNode()
}

func (n *Node) gradNode() *Node {
	if n.extra == nil {
		return nil
	}
	return n.extra.grad
}

// Name returns the name given to Param or Named.
func (n *Node) Name() string {
	n.must("Name")
	return n.name
}

// Named names a node, for pictures and errors, and returns it. The name of a parameter is also what
// state dicts and the states of optimizers call it: a package that walks models names parameters
// that have none, before an optimizer takes them.
func (n *Node) Named(name string) *Node {
	n.must("Named")
	n.ownName()
	n.name = name
	if n.frozen() {
		n.extra.constant.name = name
	}
	return n
}

// Op returns the operation that made the node, "" for a leaf.
func (n *Node) Op() string {
	n.must("Op")
	return n.op
}

// NeedsGrad reports whether the node is a parameter or depends on one, frozen ones aside.
func (n *Node) NeedsGrad() bool {
	n.must("NeedsGrad")
	n.foundFrozen()
	return n.needs
}

// Retain makes the value survive Backward, and the end of a tensor.Scope, and returns the node.
func (n *Node) Retain() *Node {
	n.must("Retain")
	n.kept = true
	n.value.Retain()
	return n
}

// Free releases the value of a node that Backward does not: its root, or what NoGrad computed.
func (n *Node) Free() {
	n.must("Free")
	n.value.Free()
}

// Detach returns the value as a constant: no gradient flows through it. It shares n's tensor, which
// must outlive it.
func (n *Node) Detach() *Node {
	defer tensorapi.Rename("autograd", "Detach")
	n.use("Detach")
	y := &Node{value: n.value.View()}
	if trace.On() {
		trace.Record("Detach", []any{n}, y)
	}
	return y
}

func (n *Node) freeScratch() {
	for _, t := range n.scratch {
		t.Free()
	}
}

// ZeroGrad forgets the gradient.
func (n *Node) ZeroGrad() {
	n.must("ZeroGrad")
	n.ownGrad()
	if n.grad != nil && n.grad != n.gradBuffer {
		tensorapi.Impl.FreeAs(n.grad, "ZeroGrad")
	}
	n.grad = nil
	if n.extra != nil {
		n.extra.grad = nil
	}
}

// String returns what n is, its name and operation, and its value as [tensor.Tensor.String] does:
//
//	node loss of MSE: tensor [] of float32 on cpu (Go, 2 threads):
//	0.25
//
// A node gets a gradient, as a parameter does that is not frozen; a constant gets none.
func (n *Node) String() string {
	if n == nil || n.value == nil {
		return "no node"
	}
	kind := "constant"
	switch {
	case n.IsParam():
		kind = "parameter"
	case n.needs:
		kind = "node"
	}
	if n.name != "" {
		kind += " " + n.name
	}
	if n.op != "" {
		kind += " of " + n.op
	}
	if n.IsParam() && !n.needs {
		kind += " (frozen)"
	}
	return fmt.Sprintf("%s: %v", kind, n.value)
}

// short returns what errors say of n: name or operation, and shape.
func (n *Node) short() string { return fmt.Sprintf("%s %v", n.label(), n.Shape()) }

func (n *Node) label() string {
	switch {
	case n.name != "":
		return n.name
	case n.op != "":
		return n.op
	}
	return "const"
}

// use returns the value of an operand of op. It panics if there is none, or Backward has freed it.
// What was launched before belongs to other nodes, or to none.
func (n *Node) use(op string) *tensor.Tensor {
	n.must(op)
	if n.freed && n.value.Freed() {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrFreed, Shapes: [][]int{n.Shape()},
			Detail: tensorapi.Impl.WhoFreed(n.value, fmt.Sprintf("the value of %q", n.label()))})
	}
	tensorapi.Impl.TakeLaunched(n.value.Device(), op)
	n.namesLayer(n.value.Device())
	return n.value
}

// namesLayer says that the operation which has begun on d reads n, if that is a parameter with a name, or one in another
// type: its launches are part of a layer.
func (n *Node) namesLayer(d tensor.Device) {
	switch {
	case n.op == "" && n.name != "":
		tensorapi.Impl.Parameter(d, n.name, n.value, n.gradBuffer)
	case n.op == "To" && len(n.inputs) == 1 && n.inputs[0].op == "" && n.inputs[0].name != "":
		tensorapi.Impl.Parameter(d, n.inputs[0].name, nil, nil)
	}
}

// ValueFor returns the value of n for op, an operation of another package that is about to compute
// from it and ends in [NewOp]. What was launched before is not shown as part of op. It panics with
// tensor.ErrValue if there is no node, and with tensor.ErrFreed if Backward has freed the value;
// both name op.
func (n *Node) ValueFor(op string) *tensor.Tensor { return n.use(op) }

// NewOp makes the node of an operation that has computed y from the values of inputs, got with
// [Node.ValueFor]. Every operation ends in it, those of this package too.
//
// backward gets the gradient g of y, of y's shape, and delivers to in the gradients of the inputs
// that need one: computed by operations on Nodes, which [Grads.AccumulateNode] takes, or by kernels
// from g.Value(). Only the former have gradients of their own. It must not change g, nor keep g or
// in. It is dropped if no input needs one. saved are the tensors that it reads: changing or freeing
// one before it runs is an error of Backward. Under NoGrad, or if y is of integers, which have no
// gradient, the node is y alone. The kernels launched for y show in WriteDOT and in errors of check
// mode under the operation's name.
//
// It panics with tensor.ErrValue if y, an input, a saved tensor, or backward where an input needs a
// gradient, is nil.
func NewOp(op string, y *tensor.Tensor, inputs []*Node, backward func(g *Node, in *Grads), saved ...*tensor.Tensor) *Node {
	mustTensor(op, y)
	for _, in := range inputs {
		in.must(op)
	}
	for _, t := range saved {
		mustTensor(op, t)
	}
	m := modeOf(y.Device(), op)
	n := &Node{value: y, op: op}
	n.madeRecorded()
	if m.walk == nil || m.walk.record {
		n.launched = tensorapi.Impl.TakeLaunched(y.Device(), op)
		tensorapi.Impl.Label(y.Device(), "", "")
		if n.launched[0] != nil { // after a failure nothing is launched any more: it is not older
			attribute(n)
		}
	} else {
		m.walk.made = append(m.walk.made, n)
	}
	if !m.quiet && !y.Type().Widened().Integer() {
		n.record(inputs, backward, saved)
	}
	n.watched(m, inputs)
	if trace.On() {
		args := make([]any, len(inputs))
		for i, in := range inputs {
			args[i] = in
		}
		trace.RecordOpaque(op, args, n)
	}
	return n
}

// watched looks at the value of n for DetectAnomalies. On the way back the gradients are looked at
// instead, and what comes up in them later is blamed on the operation that they are of.
func (n *Node) watched(m *mode, inputs []*Node) {
	switch {
	case m.watch == nil:
	case m.walk == nil:
		m.watch.result(n, inputs)
	case m.walk.record && m.walk.at.node != nil:
		n.ext().place = m.walk.at.node.place()
	}
}

// record makes n part of the graph of inputs.
func (n *Node) record(inputs []*Node, backward func(g *Node, in *Grads), saved []*tensor.Tensor) {
	for _, in := range inputs {
		in.foundFrozen()
	}
	n.inputs = withConstants(inputs)
	for _, in := range n.inputs {
		n.needs = n.needs || in.needs
	}
	if !n.needs {
		return
	}
	if backward == nil {
		panic(&tensor.Error{Pkg: "autograd", Op: n.op, Kind: tensor.ErrValue, Detail: "backward is nil, and an input needs a gradient: pass that of Detach if it has none"})
	}
	for _, in := range n.inputs {
		if in.extra != nil && in.extra.cast {
			in.extra.readers++
		}
	}
	n.backward = backward
	n.saved = make([]savedValue, len(saved))
	for i, t := range saved {
		n.saved[i] = savedValue{t, tensorapi.Impl.Version(t)}
	}
}

// attribute names, in a check-mode failure that has no name yet, the node that asked for the
// launch.
func attribute(n *Node) {
	err := n.value.Device().Err()
	if err == nil {
		return
	}
	var e *tensor.CheckError // on the heap
	if errors.As(err, &e) && e.Node == "" {
		e.Node = n.short()
	}
}
