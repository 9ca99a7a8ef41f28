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
	like := values[0]
	y := tensorapi.Impl.Lines(op, l, like, axis, numbers, values...)[0]
	wanted := needing(inputs)
	if wanted == 0 {
		return NewOp(op, y, inputs, nil)
	}
	// A result of 16 bits is rounded: then the gradient is that of the inputs alone.
	derived := y.Type().Half() && slices.Contains(l.Gradient(wanted, false).Reads, ops.GivenResult)
	gradient := l.Gradient(wanted, derived)
	read := func(i int, g *tensor.Tensor) *tensor.Tensor {
		switch i {
		case ops.GivenGradient:
			return g
		case ops.GivenResult:
			return y
		}
		return values[i]
	}
	var saved []*tensor.Tensor
	for _, i := range gradient.Reads {
		if i != ops.GivenGradient {
			saved = append(saved, read(i, nil))
		}
	}
	before := make([]savedValue, len(values)) // which a derived gradient reads
	for i, v := range values {
		before[i] = savedValue{v, tensorapi.Impl.Version(v)}
	}
	return NewOp(op, y, inputs, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			if in.unchanged(before...) {
				read := append(inputs[:len(inputs):len(inputs)], g)
				for i := range inputs {
					if in.NeedsGrad(i) {
						of := l.Gradient(1<<i, true).Lines
						if of.IsZero() { // and so are all its gradients
							in.AccumulateNode(i, constant(tensor.ZerosLike(inputs[i].value)))
							continue
						}
						in.AccumulateNode(i, linewise(op+" gradient", of, axis, numbers, read...))
					}
				}
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
			operands[k] = read(i, g.value)
		}
		for k, d := range tensorapi.Impl.Lines(op+" gradient", gradient.Lines, like, axis, numbers, operands...) {
			in.Accumulate(gradient.Of[k], d)
		}
	}, saved...)
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
