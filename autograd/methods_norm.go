// Code generated from internal/operations/table/norm.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// Softmax returns e/Σ e along an axis, with e = exp(x − max x): shares of 1. A line of −∞, and one
// with NaN or +∞, is NaN. It panics with tensor.ErrAxis for an axis that x has not; a scalar has
// the axes 0 and −1 here.
//
// Gradient: y·(g − Σ g·y).
func (x *Node) Softmax(axis int) *Node {
	x = castFloat32(x)
	y := lowered(linewise("Softmax", ops.Softmax, axis, nil, x), x)
	if trace.On() {
		trace.Record("Softmax", []any{x, axis}, y)
	}
	return y
}

// LogSoftmax returns the logarithm of [Node.Softmax], x − max x − log Σ exp(x − max x), also where
// that would be 0. It panics as that does.
//
// Gradient: g − exp(y)·Σ g.
func (x *Node) LogSoftmax(axis int) *Node {
	x = castFloat32(x)
	y := lowered(linewise("LogSoftmax", ops.LogSoftmax, axis, nil, x), x)
	if trace.On() {
		trace.Record("LogSoftmax", []any{x, axis}, y)
	}
	return y
}

// Softmin returns [Node.Softmax] of −x, and panics as that does.
//
// Gradient: −y·(g − Σ g·y).
func (x *Node) Softmin(axis int) *Node {
	x = castFloat32(x)
	y := lowered(linewise("Softmin", ops.Softmin, axis, nil, x), x)
	if trace.On() {
		trace.Record("Softmin", []any{x, axis}, y)
	}
	return y
}

// LayerNorm returns (x − mean)/√(variance + eps)·w + b, with mean and variance, without correction,
// over an axis and all axes after it, the shape of w and b; either may be nil, for 1 and 0.
// PyTorch's eps is 1e-5. A row whose variance overflows is NaN, as in PyTorch. It panics with
// tensor.ErrAxis for an axis that x has not, and with tensor.ErrShape for a w or b of another shape
// than those axes of x.
//
// Gradients, with h = (x − mean)/√(variance + eps) and u = w·g: (u − mean u −
// h·mean(u·h))/√(variance + eps), and the sums of g·h and of g over the axes before.
//
// Source: Ba, Kiros, Hinton, "Layer Normalization", 2016.
func (x *Node) LayerNorm(axis int, w, b *Node, eps float64) *Node {
	x, w, b = castFloat32(x), castFloat32(w), castFloat32(b)
	y := lowered(x.layerNorm(axis, w, b, eps), x)
	if trace.On() {
		trace.Record("LayerNorm", []any{x, axis, w, b, eps}, y)
	}
	return y
}

// RMSNorm returns x/√(mean x² + eps)·w, with the mean over an axis and all axes after it, the shape
// of w, which may be nil for 1. A row whose mean square overflows is NaN. It panics as
// [Node.LayerNorm] does.
//
// Gradients, with h = x/√(mean x² + eps) and u = w·g: (u − h·mean(u·h))/√(mean x² + eps), and the
// sum of g·h over the axes before.
//
// Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.
func (x *Node) RMSNorm(axis int, w *Node, eps float64) *Node {
	x, w = castFloat32(x), castFloat32(w)
	y := lowered(x.rmsNorm(axis, w, eps), x)
	if trace.On() {
		trace.Record("RMSNorm", []any{x, axis, w, eps}, y)
	}
	return y
}

// GroupNorm returns x [batch, channels, …] with the channels in groups of neighbours, each item's
// group less its mean, over the root of its variance, without correction, plus eps; times w and
// plus b, of one element for each channel, either of which may be nil. A group whose squares
// overflow is NaN. It panics with tensor.ErrShape for less than two axes, channels that do not fall
// into that many groups, and another w or b.
//
// Gradients: as of [Node.LayerNorm], within groups, those of w and b over all axes but the
// channels.
//
// Source: Wu, He, "Group Normalization", 2018.
func (x *Node) GroupNorm(groups int, w, b *Node, eps float64) *Node {
	x, w, b = castFloat32(x), castFloat32(w), castFloat32(b)
	y := lowered(x.groupNorm(groups, w, b, eps), x)
	if trace.On() {
		trace.Record("GroupNorm", []any{x, groups, w, b, eps}, y)
	}
	return y
}

// InstanceNorm returns [Node.GroupNorm] with a group for each channel, and panics as that does.
//
// Gradients: as of [Node.GroupNorm].
//
// Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization: The Missing Ingredient for Fast
// Stylization", 2016.
func (x *Node) InstanceNorm(w, b *Node, eps float64) *Node {
	y := lowered(x.instanceNorm(w, b, eps), x)
	if trace.On() {
		trace.Record("InstanceNorm", []any{x, w, b, eps}, y)
	}
	return y
}

// BatchNorm returns x [batch, channels, …] less its mean, over the root of its variance plus eps,
// each over all axes but the channels; times w and plus b, of one element for each channel, either
// of which may be nil. A channel whose variance overflows is NaN. The variance is without
// correction; that of which the running one gets its part has Bessel's. A batch without elements
// leaves those as they are. See [tensor.BatchNormOptions]. It panics with tensor.ErrShape for less
// than two axes, another w, b, Mean or Var, and channels of one element in training; with
// tensor.ErrType unless Mean and Var are of floats; with tensor.ErrValue for one without the other,
// with gaps, or none in evaluation, for one that shares elements with the other or an operand in
// training, a momentum outside [0, 1], and more than one Options.
//
// Gradients: as of [Node.LayerNorm], within channels; in evaluation, where mean and variance are
// constants, u/√(variance + eps).
//
// Source: Ioffe, Szegedy, "Batch Normalization", 2015.
func (x *Node) BatchNorm(w, b *Node, eps float64, options ...tensor.BatchNormOptions) *Node {
	y := lowered(x.batchNorm(w, b, eps, options...), x)
	if trace.On() {
		trace.Record("BatchNorm", []any{x, w, b, eps, options}, y)
	}
	return y
}

// ScaledDotProductAttention returns the means of the values v […, s, e] that the queries x […, l,
// d] give the keys k […, s, d],
//
//	y = softmax(scale·x·kᵀ + mask)·v
//
// of shape […, l, e]; the leading axes broadcast. mask broadcasts to […, l, s], or is nil: where
// one of Bool is false, and where one of floats is −∞, a query does not attend to a key; else what
// is float is added. A query that attends to no key is 0, as in PyTorch from 2.5 on. What a query
// does not attend to is multiplied by 0 or passed over, as the shape asks: what is NaN or infinite
// there may come through. Integers are converted to floats. It panics with tensor.ErrShape, with
// tensor.ErrType for a mask of another type or of a higher one than the others, and with
// tensor.ErrValue for a scale that is no finite number, and more than one Options. Error: that of
// the sums over s keys, and in gradients over l queries, is about (1024 + s/1024)·u·Σ|x| at most on
// cpu and on OpenCL CPUs; GPUs add the terms one after the other, and a product with the softmax
// whole has the error of [Node.MatMul].
//
// Gradients, with p the softmax and d = p·(g·vᵀ − Σ p·g·vᵀ): scale·d·k of x, scale·dᵀ·x of k, pᵀ·g
// of v, and d of a mask of floats.
//
// Source: Vaswani et al., "Attention Is All You Need", 2017.
func (x *Node) ScaledDotProductAttention(k, v, mask *Node, options ...tensor.AttentionOptions) *Node {
	x, k, v, mask = castLow(x), castLow(k), castLow(v), castLow(mask)
	y := lowered(x.scaledDotProductAttention(k, v, mask, options...), x, k, v, mask)
	if trace.On() {
		trace.Record("ScaledDotProductAttention", []any{x, k, v, mask, options}, y)
	}
	return y
}

// GLU returns the first half of x along an axis times the sigmoid of the second. It panics with
// tensor.ErrAxis, and with tensor.ErrShape unless the axis has two halves.
//
// Gradients are those of the product and the sigmoid.
//
// Source: Dauphin, Fan, Auli, Grangier, "Language Modeling with Gated Convolutional Networks",
// 2016.
func (x *Node) GLU(axis int) *Node {
	y := lowered(composed("GLU", func() *Node { return compose.GLU(asFloats(x, x), axis) }, x), x)
	if trace.On() {
		trace.Record("GLU", []any{x, axis}, y)
	}
	return y
}

// Normalize returns x over its p-norm along an axis, or over eps where that is larger: PyTorch has
// 2 and 1e-12. It panics with tensor.ErrAxis, and with tensor.ErrValue for a p that is NaN.
//
// Gradients are those of the quotient and the norm; g/eps where the norm is below eps.
func (x *Node) Normalize(p float64, axis int, eps float64) *Node {
	x = castFloat32(x)
	y := lowered(composed("Normalize", func() *Node { return compose.Normalize(asFloats(x, x), p, axis, eps) }, x), x)
	if trace.On() {
		trace.Record("Normalize", []any{x, p, axis, eps}, y)
	}
	return y
}

// Dropout returns, in training, x with each element times 0 with probability p, else times 1/(1 −
// p), by the next numbers of rng: the same for the same seed and call on every device. Otherwise it
// returns x, of a tensor a view, and rng stays as it is and may be nil. What is not of floats is
// converted to these in both. It panics with tensor.ErrValue unless p is in [0, 1], and for an rng
// that is nil in training; rng stays as it is then.
//
// Gradient: g times the same factors, which are made again and not kept.
//
// Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
// Prevent Neural Networks from Overfitting", JMLR 15, 2014.
func (x *Node) Dropout(p float64, rng *tensor.RNG, train bool) *Node {
	y := lowered(x.dropout(p, rng, train), x)
	if trace.On() {
		trace.Record("Dropout", []any{x, p, rng, train}, y)
	}
	return y
}
