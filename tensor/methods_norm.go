// Code generated from internal/operations/table/norm.go by "make generate". DO NOT EDIT.

package tensor

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/ops"
)

// Softmax returns e/Σ e along an axis, with e = exp(x − max x): shares of 1. A line of −∞, and one
// with NaN or +∞, is NaN. It panics with ErrAxis for an axis that x has not; a scalar has the axes
// 0 and −1 here.
func (x *Tensor) Softmax(axis int) *Tensor {
	return lowered(linewise("Softmax", ops.Softmax, axis, nil, x), x)
}

// LogSoftmax returns the logarithm of [Tensor.Softmax], x − max x − log Σ exp(x − max x), also
// where that would be 0. It panics as that does.
func (x *Tensor) LogSoftmax(axis int) *Tensor {
	return lowered(linewise("LogSoftmax", ops.LogSoftmax, axis, nil, x), x)
}

// Softmin returns [Tensor.Softmax] of −x, and panics as that does.
func (x *Tensor) Softmin(axis int) *Tensor {
	return lowered(linewise("Softmin", ops.Softmin, axis, nil, x), x)
}

// LayerNorm returns (x − mean)/√(variance + eps)·w + b, with mean and variance, without correction,
// over an axis and all axes after it, the shape of w and b; either may be nil, for 1 and 0.
// PyTorch's eps is 1e-5. A row whose variance overflows is NaN, as in PyTorch. It panics with
// ErrAxis for an axis that x has not, and with ErrShape for a w or b of another shape than those
// axes of x.
//
// Source: Ba, Kiros, Hinton, "Layer Normalization", 2016.
func (x *Tensor) LayerNorm(axis int, w, b *Tensor, eps float64) *Tensor {
	return lowered(x.layerNorm(axis, w, b, eps), x)
}

// RMSNorm returns x/√(mean x² + eps)·w, with the mean over an axis and all axes after it, the shape
// of w, which may be nil for 1. A row whose mean square overflows is NaN. It panics as
// [Tensor.LayerNorm] does.
//
// Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.
func (x *Tensor) RMSNorm(axis int, w *Tensor, eps float64) *Tensor {
	return lowered(x.rmsNorm(axis, w, eps), x)
}

// GroupNorm returns x [batch, channels, …] with the channels in groups of neighbours, each item's
// group less its mean, over the root of its variance, without correction, plus eps; times w and
// plus b, of one element for each channel, either of which may be nil. A group whose squares
// overflow is NaN. It panics with ErrShape for less than two axes, channels that do not fall into
// that many groups, and another w or b.
//
// Source: Wu, He, "Group Normalization", 2018.
func (x *Tensor) GroupNorm(groups int, w, b *Tensor, eps float64) *Tensor {
	return lowered(x.groupNorm(groups, w, b, eps), x)
}

// InstanceNorm returns [Tensor.GroupNorm] with a group for each channel, and panics as that does.
//
// Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization: The Missing Ingredient for Fast
// Stylization", 2016.
func (x *Tensor) InstanceNorm(w, b *Tensor, eps float64) *Tensor {
	return lowered(x.instanceNorm(w, b, eps), x)
}

// BatchNorm returns x [batch, channels, …] less its mean, over the root of its variance plus eps,
// each over all axes but the channels; times w and plus b, of one element for each channel, either
// of which may be nil. A channel whose variance overflows is NaN. The variance is without
// correction; that of which the running one gets its part has Bessel's. A batch without elements
// leaves those as they are. See [BatchNormOptions]. It panics with ErrShape for less than two axes,
// another w, b, Mean or Var, and channels of one element in training; with ErrType unless Mean and
// Var are of floats; with ErrValue for one without the other, with gaps, or none in evaluation, for
// one that shares elements with the other or an operand in training, a momentum outside [0, 1], and
// more than one Options.
//
// Source: Ioffe, Szegedy, "Batch Normalization", 2015.
func (x *Tensor) BatchNorm(w, b *Tensor, eps float64, options ...BatchNormOptions) *Tensor {
	return lowered(x.batchNorm(w, b, eps, options...), x)
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
// there may come through. Integers are converted to floats. It panics with ErrShape, with ErrType
// for a mask of another type or of a higher one than the others, and with ErrValue for a scale that
// is no finite number, and more than one Options. Error: that of the sums over s keys, and in
// gradients over l queries, is about (1024 + s/1024)·u·Σ|x| at most on cpu and on OpenCL CPUs; GPUs
// add the terms one after the other, and a product with the softmax whole has the error of
// [Tensor.MatMul].
//
// Source: Vaswani et al., "Attention Is All You Need", 2017.
func (x *Tensor) ScaledDotProductAttention(k, v, mask *Tensor, options ...AttentionOptions) *Tensor {
	return lowered(x.scaledDotProductAttention(k, v, mask, options...), x, k, v, mask)
}

// GLU returns the first half of x along an axis times the sigmoid of the second. It panics with
// ErrAxis, and with ErrShape unless the axis has two halves.
//
// Source: Dauphin, Fan, Auli, Grangier, "Language Modeling with Gated Convolutional Networks",
// 2016.
func (x *Tensor) GLU(axis int) *Tensor {
	return lowered(composed("GLU", func() *Tensor { return compose.GLU(asFloats(x, x), axis) }, x), x)
}

// Normalize returns x over its p-norm along an axis, or over eps where that is larger: PyTorch has
// 2 and 1e-12. It panics with ErrAxis, and with ErrValue for a p that is NaN.
func (x *Tensor) Normalize(p float64, axis int, eps float64) *Tensor {
	return lowered(composed("Normalize", func() *Tensor { return compose.Normalize(asFloats(x, x), p, axis, eps) }, x), x)
}

// Dropout returns, in training, x with each element times 0 with probability p, else times 1/(1 −
// p), by the next numbers of rng: the same for the same seed and call on every device. Otherwise it
// returns x, of a tensor a view, and rng stays as it is and may be nil. What is not of floats is
// converted to these in both. It panics with ErrValue unless p is in [0, 1], and for an rng that is
// nil in training; rng stays as it is then.
//
// Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
// Prevent Neural Networks from Overfitting", JMLR 15, 2014.
func (x *Tensor) Dropout(p float64, rng *RNG, train bool) *Tensor {
	return lowered(x.dropout(p, rng, train), x)
}
