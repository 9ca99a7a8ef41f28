package onnx

import (
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/recurrent"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	const common = "activation_alpha activation_beta activations clip direction hidden_size layout output_sequence"
	Register(
		Operator{Name: "RNN", Attributes: common, Shape: recurrentShape(2), Run: func(c *Call) []*Value {
			return runRecurrent(c, c.Node(1), c.Node(2), 1, []string{"tanh"}, rnnStep)
		}},
		Operator{Name: "GRU", Attributes: common + " linear_before_reset", Shape: recurrentShape(2), Run: func(c *Call) []*Value {
			return runRecurrent(c, c.Node(1), c.Node(2), 3, []string{"sigmoid", "tanh"}, gruStep)
		}},
		Operator{Name: "LSTM", Attributes: common + " input_forget", Shape: recurrentShape(2), Run: func(c *Call) []*Value {
			return runRecurrent(c, c.Node(1), c.Node(2), 4, []string{"sigmoid", "tanh", "tanh"}, lstmStep)
		}},
		Operator{Domain: microsoft, Name: "DynamicQuantizeLSTM", Attributes: common + " input_forget", Shape: recurrentShape(1), Run: func(c *Call) []*Value {
			w, r := quantizedWeights(c, 1, 8), quantizedWeights(c, 2, 10)
			return runRecurrent(c, w, r, 4, []string{"sigmoid", "tanh", "tanh"}, lstmStep)
		}},
	)
}

// quantizedWeights returns input i of DynamicQuantizeLSTM, integers [directions, in, gates·hidden] with scales and zero
// points [directions] or [directions, gates·hidden] from another input on, as the floats [directions, gates·hidden, in]
// that they stand for. What they are multiplied by is not rounded to integers.
func quantizedWeights(c *Call, i, scales int) *autograd.Node {
	q, scale, zero := c.Node(i), c.Node(scales), c.NodeOr(scales+1)
	if q.Rank() != 3 {
		c.fail(tensor.ErrShape, "input %d is %v, and should have three axes", i, q.Shape())
	}
	each := func(n *autograd.Node) *autograd.Node { // for each column, or for all
		if n == nil {
			return nil
		}
		if n.Rank() < 1 || n.Rank() > 2 || n.Shape()[0] != q.Shape()[0] {
			c.fail(tensor.ErrShape, "scales or zero points are %v, for weights %v", n.Shape(), q.Shape())
		}
		return n.Reshape(n.Shape()[0], 1, -1)
	}
	return dequantized(q, each(scale), each(zero)).Transpose(0, 2, 1)
}

// cell is what a step of a recurrent layer is computed from, in one direction. Gates are along the last axis.
type cell struct {
	hidden    int
	gates     *autograd.Node   // of the input [batch, gates·hidden], biases added
	weights   *autograd.Node   // of the state [hidden, gates·hidden]
	bias      *autograd.Node   // of the state, where it is not in gates: [gates·hidden]
	peepholes []*autograd.Node // of an LSTM: three of [hidden], or nil
	functions []gateFunction
	on        *autograd.Node // the sequences that have not ended [batch, 1], or nil for all
	linear    bool           // linear_before_reset of a GRU
	coupled   bool           // input_forget of an LSTM
}

// stepFunc returns the next state, or state and cell.
type stepFunc func(s *cell, state []*autograd.Node) []*autograd.Node

// gate returns gates k to below l of what has all.
func (s *cell) gate(x *autograd.Node, k, l int) *autograd.Node {
	return x.Slice(-1, k*s.hidden, l*s.hidden)
}

// rnnStep returns f(X·Wᵀ + h·Rᵀ + bias).
func rnnStep(s *cell, state []*autograd.Node) []*autograd.Node {
	h := state[0]
	return []*autograd.Node{s.next("rnn", h, s.functions, func(in []*expr.Expr, f []ofOne) *expr.Expr {
		return f[0](in[0].Add(in[1]))
	}, s.gates, h.MatMul(s.weights))}
}

// gruStep has the gates update, reset and hidden.
func gruStep(s *cell, state []*autograd.Node) []*autograd.Node {
	h := state[0]
	sum := func(in []*expr.Expr, f []ofOne) *expr.Expr { return f[0](in[0].Add(in[1])) }
	if s.linear {
		product := h.Linear(s.weights, s.bias, nil)
		both := mapOf("gru_gates", s.functions[:1], sum, s.gate(s.gates, 0, 2), s.gate(product, 0, 2))
		return []*autograd.Node{s.next("gru_linear", h, s.functions[1:], func(in []*expr.Expr, f []ofOne) *expr.Expr {
			hidden := f[0](in[0].Add(in[3].Mul(in[1])))
			return hidden.Add(in[2].Mul(in[4].Sub(hidden)))
		}, s.gate(s.gates, 2, 3), s.gate(product, 2, 3), s.gate(both, 0, 1), s.gate(both, 1, 2), h)}
	}
	both := mapOf("gru_gates", s.functions[:1], sum, s.gate(s.gates, 0, 2), h.MatMul(s.gate(s.weights, 0, 2)))
	product := s.gate(both, 1, 2).Mul(h).MatMul(s.gate(s.weights, 2, 3))
	return []*autograd.Node{s.next("gru", h, s.functions[1:], func(in []*expr.Expr, f []ofOne) *expr.Expr {
		hidden := f[0](in[0].Add(in[1]))
		return hidden.Add(in[2].Mul(in[3].Sub(hidden)))
	}, s.gate(s.gates, 2, 3), product, s.gate(both, 0, 1), h)}
}

// lstmStep has the gates input, output, forget and cell.
func lstmStep(s *cell, state []*autograd.Node) []*autograd.Node {
	h, before := state[0], state[1]
	a := s.gates.Add(h.MatMul(s.weights))
	name, operands := "lstm_cell", []*autograd.Node{s.gate(a, 0, 1), s.gate(a, 3, 4), before}
	if !s.coupled {
		name, operands = name+"_forget", append(operands, s.gate(a, 2, 3))
	}
	peepholes := s.peepholes != nil
	if peepholes {
		name, operands = name+"_peepholes", append(operands, s.peepholes[0], s.peepholes[2])
	}
	next := s.next(name, before, s.functions[:2], func(in []*expr.Expr, f []ofOne) *expr.Expr {
		input, forget := in[0], in[3]
		if peepholes {
			last := len(operands) - 1
			input, forget = input.Add(in[last-1].Mul(in[2])), forget.Add(in[last].Mul(in[2]))
		}
		input = f[0](input)
		if s.coupled {
			forget = expr.Const(1).Sub(input)
		} else {
			forget = f[0](forget)
		}
		return forget.Mul(in[2]).Add(input.Mul(f[1](in[1])))
	}, operands...)
	name, operands = "lstm_state", []*autograd.Node{s.gate(a, 1, 2), next}
	if peepholes {
		name, operands = name+"_peepholes", append(operands, s.peepholes[1])
	}
	outer := []gateFunction{s.functions[0], s.functions[2]}
	return []*autograd.Node{s.next(name, h, outer, func(in []*expr.Expr, f []ofOne) *expr.Expr {
		out := in[0]
		if peepholes {
			out = out.Add(in[2].Mul(in[1]))
		}
		return f[0](out).Mul(f[1](in[1]))
	}, operands...), next}
}

// layer is the inputs of a recurrent operator in the layout of times first.
type layer struct {
	steps, batch, directions, hidden int
	x, w, r                          *autograd.Node
	bias, lengths, peepholes         *autograd.Node   // or nil
	first                            []*autograd.Node // states and cells [directions, batch, hidden]
	reverse                          func(dir int) bool
}

// runRecurrent runs the steps of an operator of weights W and R, of so many gates, for each direction. Its functions are the
// default ones.
func runRecurrent(c *Call, w, r *autograd.Node, gates int, functions []string, step stepFunc) []*Value {
	l := layerOf(c, w, r, gates)
	chosen := activationsOf(c, functions, l.directions)
	var outputs []*autograd.Node
	last := make([][]*autograd.Node, len(l.first))
	for dir := range l.directions {
		s := l.cell(dir, gates)
		s.functions = chosen[dir*len(functions):][:len(functions)]
		s.coupled = c.Bool("input_forget", false)
		if s.linear = c.Bool("linear_before_reset", false); s.linear && l.bias != nil {
			s.bias = l.bias.Select(0, dir).Slice(0, gates*l.hidden, tensor.End)
		}
		y, state := l.run(dir, l.inputGates(dir, gates, s), s, step)
		outputs = append(outputs, y)
		for i, n := range state {
			last[i] = append(last[i], n)
		}
	}
	batchFirst := c.Int("layout", 0) == 1
	y := autograd.Stack(1, outputs...)
	if batchFirst {
		y = y.Transpose(2, 0, 1, 3)
	}
	out := []*autograd.Node{y}
	for _, nodes := range last {
		n := autograd.Stack(0, nodes...)
		if batchFirst {
			n = n.Transpose(1, 0, 2)
		}
		out = append(out, n)
	}
	return Out(out...)
}

// layerOf reads and checks the inputs.
func layerOf(c *Call, w, r *autograd.Node, gates int) *layer {
	l := &layer{x: floatsOf(c, 0), w: w, r: r, bias: c.NodeOr(3), lengths: c.NodeOr(4)}
	if l.x.Rank() != 3 || l.w.Rank() != 3 || l.r.Rank() != 3 {
		c.fail(tensor.ErrShape, "inputs are %v, %v and %v, and should have three axes", l.x.Shape(), l.w.Shape(),
			l.r.Shape())
	}
	batchFirst := c.Int("layout", 0) == 1
	if batchFirst {
		l.x = l.x.Transpose(1, 0, 2)
	}
	l.steps, l.batch, l.directions = l.x.Shape()[0], l.x.Shape()[1], 1
	direction := c.String("direction", "forward")
	switch strings.ToLower(direction) {
	case "forward", "foward": // the second is the default of GRU's first version
		l.reverse = func(int) bool { return false }
	case "reverse":
		l.reverse = func(int) bool { return true }
	case "bidirectional":
		l.directions = 2
		l.reverse = func(dir int) bool { return dir == 1 }
	default:
		c.Fail("attribute direction is %q", direction)
	}
	l.hidden = c.Int("hidden_size", l.r.Shape()[2])
	check := func(name string, n *autograd.Node, shape ...int) *autograd.Node {
		if n != nil && !slices.Equal(n.Shape(), shape) {
			c.fail(tensor.ErrShape, "%s is %v, and should be %v", name, n.Shape(), shape)
		}
		return n
	}
	check("W", l.w, l.directions, gates*l.hidden, l.x.Shape()[2])
	check("R", l.r, l.directions, gates*l.hidden, l.hidden)
	check("B", l.bias, l.directions, 2*gates*l.hidden)
	check("sequence_lens", l.lengths, l.batch)
	if l.lengths != nil && c.Value(4).host != nil && !slices.ContainsFunc(c.Ints(4),
		func(n int) bool { return n < l.steps }) {
		l.lengths = nil // all are whole
	}
	states := 1
	if gates == 4 {
		states = 2
		l.peepholes = check("P", c.NodeOr(7), l.directions, 3*l.hidden)
	}
	for i := range states {
		n := c.NodeOr(5 + i)
		if n == nil {
			n = autograd.Const(tensor.ZerosOf(c.Device(), l.x.Type(), l.directions, l.batch, l.hidden))
		} else if batchFirst && n.Rank() == 3 {
			n = n.Transpose(1, 0, 2)
		}
		l.first = append(l.first, check("the initial state", n, l.directions, l.batch, l.hidden))
	}
	return l
}

// cell returns what the steps of a direction have in common.
func (l *layer) cell(dir, gates int) *cell {
	s := &cell{hidden: l.hidden, weights: l.r.Select(0, dir).T()}
	if l.peepholes != nil {
		s.peepholes = l.peepholes.Select(0, dir).Split(0, max(l.hidden, 1))
	}
	return s
}

// inputGates returns what the input gives the gates at all times, with the biases that are added to it.
func (l *layer) inputGates(dir, gates int, s *cell) *autograd.Node {
	x := l.x.Reshape(l.steps*l.batch, l.x.Shape()[2]).MatMul(l.w.Select(0, dir).T())
	if l.bias != nil {
		both := l.bias.Select(0, dir)
		x = x.Add(both.Slice(0, 0, gates*l.hidden))
		if s.bias == nil {
			x = x.Add(both.Slice(0, gates*l.hidden, tensor.End))
		}
	}
	return x.Reshape(l.steps, l.batch, gates*l.hidden)
}

// run returns the states [steps, batch, hidden] of a direction, and the last ones. A sequence that has ended keeps its
// state, and its outputs are 0: so a reversed one begins at its end.
func (l *layer) run(dir int, gates *autograd.Node, s *cell, step stepFunc) (*autograd.Node, []*autograd.Node) {
	state := make([]*autograd.Node, len(l.first))
	for i, n := range l.first {
		state[i] = n.Select(0, dir)
	}
	if l.steps == 0 {
		return autograd.Const(tensor.ZerosOf(gates.Device(), gates.Type(), 0, l.batch, l.hidden)), state
	}
	var on, ended *autograd.Node // [steps, batch, 1]
	if l.lengths != nil {
		times := tensor.ArangeOf(gates.Device(), tensor.Int32, 0, float64(l.steps), 1).Reshape(l.steps, 1, 1)
		on = autograd.Const(times).Lt(l.lengths.Unsqueeze(1))
		ended = on.LogicalNot()
	}
	if whole := l.whole(gates, s); whole != nil {
		y, last := l.inOneLaunch(whole, dir, gates, s, state)
		if ended != nil {
			y = y.MaskedFill(ended, 0)
		}
		return y, last
	}
	outputs := make([]*autograd.Node, l.steps)
	for i := range l.steps {
		t := i
		if l.reverse(dir) {
			t = l.steps - 1 - i
		}
		s.gates = gates.Select(0, t)
		if ended != nil {
			s.on = on.Select(0, t)
		}
		state = step(s, state)
		outputs[t] = state[0]
	}
	y := autograd.Stack(0, outputs...)
	if ended != nil {
		y = y.MaskedFill(ended, 0)
	}
	return y, state
}

// whole returns what computes all steps of a direction in one launch: nil where functions, gradients or an export ask for
// steps.
func (l *layer) whole(gates *autograd.Node, s *cell) *recurrent.Cell {
	if trace.On() || l.peepholes != nil || s.coupled || gates.NeedsGrad() ||
		l.r.NeedsGrad() || l.bias != nil && l.bias.NeedsGrad() || slices.ContainsFunc(l.first, (*autograd.Node).NeedsGrad) {
		return nil
	}
	var names []string
	for _, f := range s.functions {
		names = append(names, f.name)
	}
	var by *recurrent.Cell
	switch {
	case slices.Equal(names, []string{"tanh"}):
		by = recurrent.ONNXRNN
	case slices.Equal(names, []string{"sigmoid", "tanh"}) && s.linear:
		by = recurrent.ONNXGRU
	case slices.Equal(names, []string{"sigmoid", "tanh", "tanh"}):
		by = recurrent.ONNXLSTM
	}
	if by == nil || !by.Fits(gates.Device(), gates.Type(), l.batch, l.hidden) {
		return nil
	}
	return by
}

// inOneLaunch is run by a launch, from the states before all steps.
func (l *layer) inOneLaunch(by *recurrent.Cell, dir int, gates *autograd.Node, s *cell, first []*autograd.Node) (*autograd.Node, []*autograd.Node) {
	back := l.reverse(dir)
	before, last, y := 0, l.steps, 1 // places of the first state, of the last, and of the first of the outputs
	if back {
		before, last, y = l.steps, 0, 0
	}
	states := tensor.EmptyOf(gates.Device(), gates.Type(), len(first)*(l.steps+1), l.batch, l.hidden)
	final := make([]*autograd.Node, len(first))
	for i, n := range first {
		at := states.Select(0, i*(l.steps+1)+before)
		at.SetInPlace(n.Value())
		at.Free()
	}
	in := recurrent.Layer{X: gates.Value(), Weights: l.r.Select(0, dir).Value(), Back: back}
	if s.bias != nil {
		in.Bias = s.bias.Value()
	}
	if l.lengths != nil {
		in.Ends = l.lengths.Value().To(tensor.Int32)
		defer in.Ends.Free()
	}
	by.Run(states, in)
	for i := range final {
		final[i] = autograd.Const(states.Select(0, i*(l.steps+1)+last))
	}
	return autograd.Const(states.Slice(0, y, y+l.steps)), final
}

// recurrentShape returns the rule of a recurrent operator, in whose weights R an axis is that of the state.
func recurrentShape(axis int) shapeRule {
	return func(c *ShapeCall) []Known {
		x, r, typ := c.Dims(0), c.Dims(2), c.Type(0)
		steps, batch, hidden, directions := Dim{}, Dim{}, Dim{}, NewDim(1)
		if len(x) == 3 {
			steps, batch = x[0], x[1]
		}
		if len(r) == 3 {
			hidden = r[axis]
		}
		if c.HasAttribute("hidden_size") {
			hidden = NewDim(c.Int("hidden_size", 0))
		}
		if strings.EqualFold(c.String("direction", ""), "bidirectional") {
			directions = NewDim(2)
		}
		if c.Int("layout", 0) == 1 {
			steps, batch = batch, steps
			last := Known{Type: typ, Dims: []Dim{batch, directions, hidden}}
			return []Known{{Type: typ, Dims: []Dim{batch, steps, directions, hidden}}, last, last}
		}
		last := Known{Type: typ, Dims: []Dim{directions, batch, hidden}}
		return []Known{{Type: typ, Dims: []Dim{steps, directions, batch, hidden}}, last, last}
	}
}
