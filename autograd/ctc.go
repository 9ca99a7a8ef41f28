package autograd

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// CTCOptions says how a CTC loss is computed.
type CTCOptions struct {
	Blank        int       // the class of no label
	ZeroInfinity bool      // a target that is too long for its input has the loss 0, and no gradient, in place of +Inf
	Reduction    Reduction // what becomes of the losses of many items
}

// CTC returns the negative logarithm of the probability of each target [N, S] of labels under logarithms of
// probabilities x [T, N, C] of classes over time, such as those of LogSoftmax: summed over all ways to align
// them, with blanks between. Of item i, inputs[i] steps of time and targets[i] labels count. MeanLoss is the
// mean of the losses over their target lengths, at least 1. Each step of time takes launches of its own: record
// steps that train with it. It panics with tensor.ErrShape, with tensor.ErrIndex for a label of no class, and with tensor.ErrValue for
// other lengths and blanks. The gradient is that by the logarithms of probabilities, the negative posterior;
// PyTorch's has that of a LogSoftmax before in it, after which both are the same. Source: Graves, Fernández,
// Gomez, Schmidhuber, "Connectionist Temporal Classification", 2006.
func CTC(x *Node, targets *tensor.Tensor, inputs, lengths []int, options ...CTCOptions) *Node {
	const op = "CTC"
	defer tensorapi.Rename("autograd", op)
	how := optional(op, options)
	shape := x.use(op).Shape()
	if len(shape) != 3 || shape[0] == 0 || targets == nil || targets.Rank() != 2 || targets.Shape()[0] != shape[1] || len(inputs) != shape[1] || len(lengths) != shape[1] {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: "x is [T, N, C], and there are N targets [N, S] and lengths of both"})
	}
	steps, items, longest := shape[0], shape[1], targets.Shape()[1]
	if how.Blank < 0 || how.Blank >= shape[2] {
		badOption(op, "the blank is one of the classes")
	}
	for i := range items {
		if inputs[i] < 1 || inputs[i] > steps || lengths[i] < 0 || lengths[i] > longest {
			badOption(op, "lengths of inputs are 1 to T, and those of targets 0 to S")
		}
	}
	of := x
	x = computed(castFloat32(x))
	d, typ, states := x.Device(), x.value.Type(), 2*longest+1
	const never = -1e30 // the logarithm of 0, of which differences are numbers
	var labels, skip, first, last, each *tensor.Tensor
	tensor.Scope(d, func() {
		// States are a blank, and for each label itself and a blank.
		blanks := tensor.FullOf(d, tensor.Int64, float64(how.Blank), items, longest)
		pairs := tensor.Stack(2, targets.To(tensor.Int64), blanks).Reshape(items, 2*longest)
		labels = tensor.Concat(1, tensor.FullOf(d, tensor.Int64, float64(how.Blank), items, 1), pairs).Retain()
		// A label can follow another label two states before.
		two := min(2, states)
		other := labels.Slice(1, two, tensor.End).Ne(labels.Slice(1, 0, states-two)).LogicalAnd(labels.Slice(1, two, tensor.End).NeScalar(float64(how.Blank)))
		skip = other.LogicalNot().Retain()
		start, end, each0 := make([]float64, items*states), make([]float64, items*states), make([]float64, items)
		for i := range items {
			for k := range states {
				start[i*states+k], end[i*states+k] = never, never
				if k < 2 && k <= 2*lengths[i] {
					start[i*states+k] = 0
				}
				if k == 2*lengths[i] || k == 2*lengths[i]-1 {
					end[i*states+k] = 0
				}
			}
			each0[i] = 1 / float64(max(lengths[i], 1))
		}
		first, last = tensor.NewOf(d, typ, start, items, states).Retain(), tensor.NewOf(d, typ, end, items, states).Retain()
		each = tensor.NewOf(d, typ, each0, items).Retain()
	})
	wide := labels.Unsqueeze(0).Expand(steps, items, states)
	labels.Free()
	emitted := x.Gather(2, wide).keeping(wide).MaxScalar(never) // [T, N, states]
	after := func(a *Node, by int) *Node {                      // the states so many before
		widths := [][2]int{{0, 0}, {by, -by}}
		return a.Pad(widths, tensor.PadOptions{Value: never})
	}
	defer skip.Free()
	defer last.Free()
	alpha := Const(first).Add(emitted.Select(0, 0)).keeping(first).MaxScalar(never)
	var ends []*Node // of each item, where its input ends
	for t := range steps {
		if t > 0 {
			next := alpha.LogAddExp(after(alpha, 1))
			if longest > 0 {
				mask := skip.View()
				jump := after(alpha, 2).Slice(1, 2, tensor.End).MaskedFill(Const(mask), never).keeping(mask)
				next = Concat(1, next.Slice(1, 0, 2), next.Slice(1, 2, tensor.End).LogAddExp(jump))
			}
			alpha = next.Add(emitted.Select(0, t)).MaxScalar(never)
		}
		if slices.Contains(inputs, t+1) {
			end := last.View()
			ends = append(ends, alpha.Add(Const(end)).keeping(end).LogSumExp(1))
		}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(inputs)))
	at := make([]int64, items)
	for i, n := range inputs {
		at[i] = int64(slices.Index(sorted, n))
	}
	index := tensor.New(d, at, 1, items)
	loss := Stack(0, ends...).Gather(0, index).keeping(index).Squeeze(0).Neg()
	none := loss.GtScalar(-never / 10)
	if how.ZeroInfinity {
		loss = loss.MaskedFill(none, 0)
	} else {
		loss = loss.MaskedFill(none, math.Inf(1))
	}
	if how.Reduction == MeanLoss {
		loss = loss.Mul(Const(each)).keeping(each)
	} else {
		each.Free()
	}
	return lowered(how.Reduction.of(op, loss), of)
}
