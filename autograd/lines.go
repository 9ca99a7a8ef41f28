package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// linewise returns the result of an operation on the lines of inputs along an axis, with its numbers.
// Inputs that have every element are of the first one's shape; those that have one for each line are of
// that without the axis. The program of the operation, or that of its gradient, is differentiated as
// often as is asked for.
func linewise(op string, l *ops.Lines, axis int, numbers []float64, inputs ...*Node) *Node {
	values := make([]*tensor.Tensor, len(inputs))
	for i, x := range inputs {
		values[i] = x.use(op)
	}
	y := tensorapi.Impl.Lines(op, l, values[0], axis, numbers, values...)[0]
	return ofLines(y, op, l, axis, numbers, inputs, values)
}

// ofLines is the node of y, what linewise computes of inputs with these values.
func ofLines(y *tensor.Tensor, op string, l *ops.Lines, axis int, numbers []float64,
	inputs []*Node, values []*tensor.Tensor) *Node {
	like := values[0]
	wanted := needing(inputs)
	if wanted == 0 {
		return NewOp(op, y, inputs, nil)
	}
	// A result of 16 bits is rounded: then the gradient is that of the inputs alone.
	derived := y.Type().Half() && slices.Contains(l.Gradient(wanted, false).Reads, ops.GivenResult)
	gradient := l.Gradient(wanted, derived)
	var saved []*tensor.Tensor
	for _, i := range gradient.Reads {
		if i != ops.GivenGradient {
			saved = append(saved, given(i, values, y, nil))
		}
	}
	return NewOp(op, y, inputs, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			for i, x := range inputs {
				if !in.NeedsGrad(i) {
					continue
				}
				of := l.Gradient(1<<i, derived)
				if of.IsZero() { // and so are all its gradients
					in.AccumulateNode(i, constant(tensor.ZerosLike(x.value)))
					continue
				}
				read := make([]*Node, len(of.Reads))
				for k, at := range of.Reads {
					read[k] = given(at, inputs, in.Output(), g)
				}
				in.AccumulateNode(i, linewise(op+" gradient", of.Lines, axis, numbers, read...))
			}
			return
		}
		now := uint64(0)
		for i := range inputs {
			if in.NeedsGrad(i) {
				now |= 1 << i
			}
		}
		gradient := l.Gradient(now, derived) // which reads what the one by all that need one does
		operands := make([]*tensor.Tensor, len(gradient.Reads))
		for k, i := range gradient.Reads {
			operands[k] = given(i, values, y, g.value)
		}
		for k, d := range tensorapi.Impl.Lines(op+" gradient", gradient.Lines, like, axis, numbers, operands...) {
			in.Accumulate(gradient.Of[k], d)
		}
	}, saved...)
}

// given returns what a gradient reads: an input by its number, the result or the gradient of that.
func given[T any](i int, inputs []T, result, gradient T) T {
	switch i {
	case ops.GivenGradient:
		return gradient
	case ops.GivenResult:
		return result
	}
	return inputs[i]
}

// needing returns which nodes need a gradient, a bit for each.
func needing(nodes []*Node) (set uint64) {
	for i, n := range nodes {
		if n.needs {
			set |= 1 << i
		}
	}
	return set
}
