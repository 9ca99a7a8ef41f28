package autograd

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// LossOptions says what becomes of the losses of many elements.
type LossOptions struct {
	Reduction Reduction // what becomes of the losses of many elements
}

// optional returns the options of a call, which are none or one.
func optional[T any](op string, options []T) (one T) {
	switch len(options) {
	case 0:
	case 1:
		one = options[0]
	default:
		badOption(op, "a call takes one set of options")
	}
	return one
}

func badOption(op, detail string) {
	panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: detail})
}

func (r Reduction) check(op string) {
	if r >= reductions {
		badOption(op, fmt.Sprintf("%d is no reduction", r))
	}
}

// of reduces losses.
func (r Reduction) of(op string, losses *Node) *Node {
	r.check(op)
	switch r {
	case MeanLoss:
		return losses.Mean()
	case SumLoss:
		return losses.Sum()
	}
	return losses
}

// alike panics unless all are of one shape.
func alike(op string, xs ...*Node) {
	var shapes [][]int
	same := true
	for _, x := range xs {
		shapes = append(shapes, x.use(op).Shape())
		same = same && slices.Equal(shapes[0], x.value.Shape())
	}
	if !same {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: shapes, Detail: "both have one shape: broadcast one with Expand"})
	}
}

// positive panics unless a setting is a number above 0.
func positive(op, what string, v float64) {
	if !(v > 0) {
		badOption(op, fmt.Sprintf("%s is %v: it is above 0", what, v))
	}
}

// MSE returns the squared differences (x − t)² of x and targets of one shape. It panics with
// tensor.ErrShape. Gradients: 2·(x − t)·g, and its negative. The sum alone, in one launch with its
// gradient, is SquaredError.
func MSE(x, target *Node, options ...LossOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	alike("MSE", x, target)
	return optional("MSE", options).Reduction.of("MSE", elementwise("MSE", ops.SquaredDifference, nil, x, target))
}

// L1 returns the absolute differences |x − t| of x and targets of one shape. It panics with
// tensor.ErrShape. Gradients: g by the sign of x − t, 0 where they are equal, and its negative.
func L1(x, target *Node, options ...LossOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	alike("L1", x, target)
	return optional("L1", options).Reduction.of("L1", elementwise("L1", ops.AbsoluteError, nil, x, target))
}

// Huber returns ½·d² where d = |x − t| is below delta, and delta·(d − ½·delta) elsewhere, of x and
// targets of one shape. It panics with tensor.ErrShape, and with tensor.ErrValue unless delta is
// above 0. Gradients: g·(x − t), at most g·delta in size, and its negative. Source: Huber, "Robust
// Estimation of a Location Parameter", 1964.
func Huber(x, target *Node, delta float64, options ...LossOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	alike("Huber", x, target)
	positive("Huber", "delta", delta)
	return optional("Huber", options).Reduction.of("Huber", elementwise("Huber", ops.Huber, []float64{delta}, x, target))
}

// SmoothL1 returns Huber divided by beta, its delta: ½·d²/beta where d = |x − t| is below beta, and
// d − ½·beta elsewhere; with beta 0 it is L1. It panics with tensor.ErrShape, and with
// tensor.ErrValue for a beta below 0. Gradients: g·(x − t)/beta, at most g in size, and its
// negative. Source: Girshick, "Fast R-CNN", 2015.
func SmoothL1(x, target *Node, beta float64, options ...LossOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	const op = "SmoothL1"
	alike(op, x, target)
	f, scalars := ops.SmoothL1, []float64{beta}
	switch {
	case !(beta >= 0):
		badOption(op, fmt.Sprintf("beta is %v: it is 0 or above", beta))
	case beta == 0:
		f, scalars = ops.AbsoluteError, nil
	}
	return optional(op, options).Reduction.of(op, elementwise(op, f, scalars, x, target))
}

// BinaryOptions says how losses of scores for a yes are computed.
type BinaryOptions struct {
	Weights   *Node     // by which each loss is multiplied; it broadcasts to the scores. nil: by 1
	Positive  *Node     // by which the part of the target that is yes is multiplied; it broadcasts to the scores. nil: by 1
	Reduction Reduction // what becomes of the losses of many elements
}

// BCEWithLogits returns the binary cross-entropy of the sigmoid of scores x and targets t from 0 to
// 1, of one shape,
//
//	−p·t·log σ(x) − (1 − t)·log(1 − σ(x)),   p = Positive
//
// without overflow; infinite for an infinite score, and NaN where its target is that very side. It
// panics with tensor.ErrShape. Gradients: g·(1 − t − (1 + (p − 1)·t)·σ(−x)) of x, which is g·(σ(x)
// − t) without Positive, and those of the formula of targets, Positive and Weights.
func BCEWithLogits(x, target *Node, options ...BinaryOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	const op = "BCEWithLogits"
	defer tensorapi.Rename("autograd", op)
	alike(op, x, target)
	how := optional(op, options)
	var y *Node
	if how.Positive == nil {
		y = elementwise(op, ops.BinaryCrossEntropy, nil, x, target)
	} else {
		y = elementwise(op, ops.WeightedBinaryCrossEntropy, nil, x, target, how.Positive)
	}
	if how.Weights != nil {
		y = y.Mul(how.Weights)
	}
	if !slices.Equal(y.Shape(), x.Shape()) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{x.Shape(), y.Shape()}, Detail: "weights broadcast to the scores"})
	}
	return how.Reduction.of(op, y)
}

// BCE returns the binary cross-entropy of probabilities x and targets t from 0 to 1, of one shape,
//
//	−t·max(ln x, −100) − (1 − t)·max(ln(1 − x), −100)
//
// as PyTorch has it; BCEWithLogits loses less. Positive is not for it. It panics with tensor.ErrShape, and with
// tensor.ErrValue for Positive. Gradients are those of the formula.
func BCE(x, target *Node, options ...BinaryOptions) *Node {
	const op = "BCE"
	defer tensorapi.Rename("autograd", op)
	alike(op, x, target)
	how := optional(op, options)
	if how.Positive != nil {
		badOption(op, "Positive goes with BCEWithLogits")
	}
	of := []*Node{x, target}
	x, target = castFloat32(x), castFloat32(target)
	x, target = asFloats(x, x, target), asFloats(target, x, target)
	const least = -100
	y := target.Mul(x.Log().MaxScalar(least)).Add(target.RSubScalar(1).Mul(x.Neg().Log1p().MaxScalar(least))).Neg()
	if how.Weights != nil {
		y = y.Mul(how.Weights)
	}
	if !sameShape(x, y) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{x.Shape(), y.Shape()}, Detail: "weights broadcast to the probabilities"})
	}
	return lowered(how.Reduction.of(op, y), of...)
}

// DivergenceOptions says how a divergence is computed.
type DivergenceOptions struct {
	Logarithm bool      // the targets are logarithms, too
	Reduction Reduction // what becomes of the losses of many elements
}

// KLDivergence returns the pointwise divergence t·(log t − x) of targets t, which are
// probabilities, from x, which are logarithms of probabilities, of one shape; 0 where t is 0 and x
// a number. The divergence of distributions is the sum, and PyTorch's "batchmean" is that over the
// length of the first axis. It panics with tensor.ErrShape. Gradients: −g·t; g·(log t + 1 − x), 0
// where t is 0.
func KLDivergence(x, target *Node, options ...DivergenceOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	const op = "KLDivergence"
	defer tensorapi.Rename("autograd", op)
	alike(op, x, target)
	how := optional(op, options)
	f := ops.Divergence
	if how.Logarithm {
		f = ops.LogDivergence
	}
	return how.Reduction.of(op, elementwise(op, f, nil, x, target))
}

// CosineSimilarity returns x·w / (max(|x|, eps)·max(|w|, eps)) along an axis, which disappears, of
// two that broadcast. An eps whose square is below the normal numbers of the device counts as the
// least whose square is one. Where squares overflow it is 0 or NaN. Integers are converted to
// floats. It panics with tensor.ErrShape and tensor.ErrAxis, and with tensor.ErrValue unless eps is
// above 0. Gradients: w/(|x|·|w|)·g less x·y/|x|²·g, with half of the second term where |x| is eps,
// and without it below, and the same with x and w in turn.
func CosineSimilarity(x, w *Node, axis int, eps float64) *Node {
	x, w = castFloat32(x), castFloat32(w)
	const op = "CosineSimilarity"
	defer tensorapi.Rename("autograd", op)
	positive(op, "eps", eps)
	whole, ok := tensor.Broadcast(x.use(op).Shape(), w.use(op).Shape())
	if !ok {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{x.Shape(), w.Shape()}, Detail: "they do not broadcast"})
	}
	least := 0x1p-126
	if tensorapi.Impl.Floats(x.value, w.use(op)) == tensor.Float64 {
		least = 0x1p-1022
	}
	x, w = x.Expand(whole...), w.Expand(whole...)
	least = math.Max(least, eps*eps)
	y := lowered(linewise(op, ops.CosineSimilarity, axis, []float64{least}, x, w), x, w)
	if trace.On() {
		trace.Record(op, []any{x, w, axis, least}, y)
	}
	return y
}

// HingeEmbedding returns x where the target is 1, and max(0, margin − x) where it is −1, of one
// shape; of another target, both. It panics with tensor.ErrShape. Gradient of x: g where the target
// is not −1, and −g where it is not 1 and x is below the margin.
func HingeEmbedding(x, target *Node, margin float64, options ...LossOptions) *Node {
	x, target = castFloat32(x), castFloat32(target)
	const op = "HingeEmbedding"
	alike(op, x, target)
	return optional(op, options).Reduction.of(op, elementwise(op, ops.HingeEmbedding, []float64{margin}, x, target))
}

// MarginOptions says how a loss of distances is computed.
type MarginOptions struct {
	Margin    float64   // 0: 1
	Reduction Reduction // what becomes of the losses of many elements
}

// TripletMargin returns max(0, d(a, p) − d(a, n) + margin) of anchors a, positive and negative
// examples, which broadcast to each other; d is the Euclidean distance along the last axis, of the
// difference plus 1e−6, as PyTorch has it. Integers are converted to floats. It panics with
// tensor.ErrShape and tensor.ErrAxis, and with tensor.ErrValue for a margin below 0. Gradients are
// those of the operations that it is made of; of a distance of 0, 0. Source: Balntas, Riba, Ponsa,
// Mikolajczyk, "Learning local feature descriptors with triplets and shallow convolutional neural
// networks", 2016.
func TripletMargin(anchor, positives, negatives *Node, options ...MarginOptions) *Node {
	anchor, positives, negatives = castFloat32(anchor), castFloat32(positives), castFloat32(negatives)
	const op = "TripletMargin"
	defer tensorapi.Rename("autograd", op)
	how := optional(op, options)
	margin := how.Margin
	if margin == 0 {
		margin = 1
	}
	positive(op, "the margin", margin)
	shapes, common := [][]int{}, []int{}
	for _, x := range []*Node{anchor, positives, negatives} {
		shape := x.use(op).Shape()
		shapes = append(shapes, shape)
		all, ok := tensor.Broadcast(common, shape)
		if !ok {
			panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: shapes, Detail: "they do not broadcast"})
		}
		common = all
	}
	if len(common) == 0 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrAxis, Shapes: shapes, Detail: "the distance is along the last axis, and there is none"})
	}
	anchor = anchor.as(tensorapi.Impl.Floats(anchor.value))
	distance := func(x *Node) *Node { return anchor.Sub(x).AddScalar(1e-6).Norm(2, -1) }
	return how.Reduction.of(op, distance(positives).Sub(distance(negatives)).AddScalar(margin).MaxScalar(0))
}
