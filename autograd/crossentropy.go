package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// Reduction says what becomes of the losses of many elements.
type Reduction uint8

// The reductions.
const (
	MeanLoss   Reduction = iota // their mean, a scalar
	SumLoss                     // their sum, a scalar
	EveryLoss                   // nothing
	reductions                  // how many there are
)

// LabelOptions says how losses of labelled scores are computed.
type LabelOptions struct {
	Weights   *tensor.Tensor // [classes], by which the loss of each label is multiplied; nil: by 1
	Smoothing float64        // the part of a label that goes to all classes alike, from 0 to 1
	Ignore    *int           // the label that does not count; nil: −100
	Reduction Reduction      // what becomes of the losses of many labels
}

// CrossEntropy returns the loss of scores x [N, C, …], or [C], with labels t [N, …], or [], of type
// Int64 or Int32, in one pass over the scores:
//
//	loss[i] = (1 − s)·w[t]·n[t] + s/C·Σ_k w[k]·n[k],   n = −x.LogSoftmax(1), s = Smoothing
//
// and 0 for a label that is ignored. The mean is Σ loss / Σ w[t], over the labels that count: NaN
// if none does. Labels that the host uploaded are known; others it waits for. It panics with
// tensor.ErrShape, with tensor.ErrType for labels of another type, with tensor.ErrIndex for one of
// no class, and with tensor.ErrValue for another smoothing. Gradient of the scores, 0 where the
// label is ignored, in one pass too: g·(softmax·((1 − s)·w[t] + s/C·Σ w) − s/C·w − (1 − s)·w[t] at
// t). Source: torch.nn.functional.cross_entropy; Szegedy et al., "Rethinking the Inception
// Architecture for Computer Vision", 2016, for the smoothing.
func CrossEntropy(x *Node, labels *tensor.Tensor, options ...LabelOptions) *Node {
	const op = "CrossEntropy"
	x = castFloat32(x)
	l := newCrossEntropy(op, x.use(op), labels, true, options)
	y := lowered(l.done(NewOp(op, l.y, []*Node{x}, l.gradient, l.saved()...)), x)
	if trace.On() {
		trace.Record(op, []any{x, labels, l.how, l.ignore}, y)
	}
	return y
}

// CrossEntropyOf is CrossEntropy with a probability of each class in place of a label: targets t of the shape
// of x, whose sums are not checked.
//
//	loss[i] = −Σ_k w[k]·((1 − s)·t[k] + s/C)·x.LogSoftmax(1)[k]
//
// The mean is Σ loss over the number of losses; Ignore does not count. It panics with tensor.ErrShape, and with
// tensor.ErrValue for another smoothing. Gradients are those of the formula: that of targets, too.
func CrossEntropyOf(x, target *Node, options ...LabelOptions) *Node {
	const op = "CrossEntropyOf"
	defer tensorapi.Rename("autograd", op)
	alike(op, x, target)
	how := optional(op, options)
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: "scores have an axis of classes"})
	}
	if !(how.Smoothing >= 0 && how.Smoothing <= 1) {
		badOption(op, fmt.Sprintf("a smoothing of %v: it is 0 to 1", how.Smoothing))
	}
	axis := min(1, len(shape)-1)
	classes := shape[axis]
	of := []*Node{x, target}
	x, target = computed(castFloat32(x)), computed(castFloat32(target))
	if how.Smoothing > 0 {
		target = target.MulScalar(1 - how.Smoothing).AddScalar(how.Smoothing / float64(classes))
	}
	terms := x.LogSoftmax(axis).Mul(target)
	if how.Weights != nil {
		if how.Weights.Rank() != 1 || how.Weights.Len() != classes {
			panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape, how.Weights.Shape()}, Detail: "there is a weight for each class"})
		}
		along := slices.Repeat([]int{1}, len(shape)-axis)
		along[0] = classes
		weights := how.Weights.Reshape(along...)
		terms = terms.Mul(Const(weights)).keeping(weights)
	}
	return lowered(how.Reduction.of(op, terms.Sum(axis).Neg()), of...)
}

// NLL returns the loss of logarithms of probabilities x, such as those of LogSoftmax: that of
// CrossEntropy with n = −x. It panics as that does. Gradient: −g·(s/C·w + (1 − s)·w[t] at t).
func NLL(x *Node, labels *tensor.Tensor, options ...LabelOptions) *Node {
	const op = "NLL"
	x = castFloat32(x)
	l := newCrossEntropy(op, x.use(op), labels, false, options)
	y := lowered(l.done(NewOp(op, l.y, []*Node{x}, l.gradient, l.saved()...)), x)
	if trace.On() {
		trace.Record(op, []any{x, labels, l.how, l.ignore}, y)
	}
	return y
}

// fewLosses is how many a device adds up in one work-group, whatever else it does.
const fewLosses = 16384

// crossEntropy is a loss of labelled scores, between its value and its gradient.
type crossEntropy struct {
	op        string
	x, labels *tensor.Tensor
	logits    bool
	how       LabelOptions
	ignore    int32
	y         *tensor.Tensor
	kept      *tensor.Tensor // of the forward pass
	total     *tensor.Tensor // the sum of the weights, of a mean
}

func newCrossEntropy(op string, x, labels *tensor.Tensor, logits bool, options []LabelOptions) *crossEntropy {
	l := &crossEntropy{op: op, x: x, labels: labels, logits: logits, how: optional(op, options), ignore: -100}
	l.how.Reduction.check(op)
	if i := l.how.Ignore; i != nil {
		l.ignore = int32(*i)
		if int(l.ignore) != *i {
			badOption(op, "the label to ignore is no int32")
		}
	}
	losses, counted, kept := tensorapi.Impl.CrossEntropy(op, x, labels, l.how.Weights, logits, l.ignore, l.how.Smoothing, l.how.Reduction == EveryLoss)
	defer counted.Free()
	l.kept = kept
	if l.how.Reduction == EveryLoss {
		l.y = losses
		return l
	}
	defer losses.Free()
	if l.how.Reduction == SumLoss {
		l.y = losses.Sum()
		return l
	}
	var sum *tensor.Tensor
	if rows := labels.Len(); rows <= fewLosses { // their sums, and those of the weights, are one launch
		flat := kept.Reshape(5, rows)
		both := flat.Slice(0, 0, 2)
		sums := both.Sum(1)
		sum, l.total = sums.Select(0, 0), sums.Select(0, 1)
		for _, t := range []*tensor.Tensor{flat, both, sums} {
			t.Free()
		}
	} else {
		sum, l.total = losses.Sum(), counted.Sum()
	}
	if of := x.Type(); of.Half() {
		l.y = tensor.EmptyOf(x.Device(), of)
		tensor.MapInto(fn.Div.Alone(), nil, []*tensor.Tensor{l.y}, sum, l.total)
	} else {
		l.y = sum.Div(l.total)
	}
	sum.Free()
	return l
}

func (l *crossEntropy) saved() []*tensor.Tensor {
	saved := []*tensor.Tensor{l.x, l.labels}
	if l.how.Weights != nil {
		saved = append(saved, l.how.Weights)
	}
	return saved
}

// done gives the node what it keeps for the gradient.
func (l *crossEntropy) done(n *Node) *Node {
	if l.total == nil {
		return n.keeping(l.kept)
	}
	return n.keeping(l.kept, l.total)
}

// gradScores returns the gradient of the scores for that of each loss.
func (l *crossEntropy) gradScores(g *tensor.Tensor, logits bool) *tensor.Tensor {
	return tensorapi.Impl.CrossEntropyGrad(l.op, l.x, l.labels, l.how.Weights, l.kept, g, logits, l.ignore, l.how.Smoothing)
}

func (l *crossEntropy) gradient(g *Node, in *Grads) {
	if in.Derive(g, l.of) {
		return
	}
	each := g.value.View()
	if l.total != nil {
		each.Free()
		each = g.value.Div(l.total)
	}
	defer each.Free()
	in.Accumulate(0, l.gradScores(each, l.logits))
}

// of is the loss as operations on Nodes compute it: it is linear in the scores and in the LogSumExp of logits, with
// factors that the forward pass kept.
func (l *crossEntropy) of(inputs []*Node) *Node {
	axis, typ := min(1, l.x.Rank()-1), l.kept.Type()
	ignored := l.labels.EqScalar(float64(l.ignore))
	x := inputs[0].as(typ).MaskedFill(Const(ignored.Unsqueeze(axis)), 0) // be it NaN
	terms := []*Node{x}
	kept := func(i int) *Node { return Const(l.kept.Select(0, i)) }
	if l.logits {
		sums := kept(3).value // in their place: nothing reads them
		terms = append(terms, NewOp("LogSumExp", sums, []*Node{x}, func(g *Node, in *Grads) {
			in.AccumulateNode(0, x.Softmax(axis).Mul(g.Unsqueeze(axis)))
		}))
	}
	return NewOp("NLL", l.y.View(), terms, func(g *Node, in *Grads) {
		if g = g.as(typ); l.total != nil {
			g = g.Div(Const(l.total.View()))
		}
		in.AccumulateNode(0, l.toScores(g, axis))
		if l.logits {
			in.AccumulateNode(1, kept(4).Mul(g))
		}
	})
}

// toScores returns the gradient of scores that are logarithms of probabilities, for that of each loss, or of all.
// Gradient: the sum over classes of what a gradient of 1 gives them, times g.
func (l *crossEntropy) toScores(g *Node, axis int) *Node {
	const op = "NLLGrad"
	of := *l // what the node of the loss frees before
	of.x, of.kept = l.x.View(), l.kept.View()
	return NewOp(op, l.gradScores(g.use(op), false), []*Node{g}, func(gg *Node, in *Grads) {
		ones := tensor.FullOf(gg.Device(), of.kept.Type(), 1, in.input(0).Shape()...)
		slope := constant(of.gradScores(ones, false))
		ones.Free()
		in.AccumulateNode(0, slope.Mul(gg).Sum(axis))
	}, l.saved()[1:]...).keeping(of.x, of.kept)
}
