//go:build ignore

package table

// Softmax returns e/Σ e along an axis, with e = exp(x − max x): shares of 1. A line of −∞, and one
// with NaN or +∞, is NaN. It panics with ErrAxis for an axis that x has not; a scalar has the axes
// 0 and −1 here.
//
// Gradient: y·(g − Σ g·y).
//
//op:torch torch.nn.functional.softmax
//op:linewise
//op:autocast float32
func (x T) Softmax(axis int) T

// LogSoftmax returns the logarithm of [Tensor.Softmax], x − max x − log Σ exp(x − max x), also
// where that would be 0. It panics as that does.
//
// Gradient: g − exp(y)·Σ g.
//
//op:torch torch.nn.functional.log_softmax
//op:linewise
//op:autocast float32
func (x T) LogSoftmax(axis int) T

// Softmin returns [Tensor.Softmax] of −x, and panics as that does.
//
// Gradient: −y·(g − Σ g·y).
//
//op:torch torch.nn.functional.softmin
//op:linewise
//op:autocast float32
func (x T) Softmin(axis int) T

// LayerNorm returns (x − mean)/√(variance + eps)·w + b, with mean and variance, without correction,
// over an axis and all axes after it, the shape of w and b; either may be nil, for 1 and 0.
// PyTorch's eps is 1e-5. A row whose variance overflows is NaN, as in PyTorch. It panics with ErrAxis
// for an axis that x has not, and with ErrShape for a w or b of another shape than those axes of x.
//
// Gradients, with h = (x − mean)/√(variance + eps) and u = w·g: (u − mean u −
// h·mean(u·h))/√(variance + eps), and the sums of g·h and of g over the axes before.
//
// Source: Ba, Kiros, Hinton, "Layer Normalization", 2016.
//
//op:torch torch.nn.functional.layer_norm
//op:autocast float32
//op:typed x
func (x T) LayerNorm(axis int, w, b T, eps float64) T

// RMSNorm returns x/√(mean x² + eps)·w, with the mean over an axis and all axes after it, the shape
// of w, which may be nil for 1. A row whose mean square overflows is NaN. It panics as
// [Tensor.LayerNorm] does.
//
// Gradients, with h = x/√(mean x² + eps) and u = w·g: (u − h·mean(u·h))/√(mean x² + eps), and the
// sum of g·h over the axes before.
//
// Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.
//
//op:torch torch.nn.functional.rms_norm
//op:autocast float32
//op:typed x
func (x T) RMSNorm(axis int, w T, eps float64) T

// GroupNorm returns x [batch, channels, …] with the channels in groups of neighbours, each item's
// group less its mean, over the root of its variance, without correction, plus eps; times w and
// plus b, of one element for each channel, either of which may be nil. A group whose squares
// overflow is NaN. It panics with ErrShape for less than two axes, channels that do not fall into
// that many groups, and another w or b.
//
// Gradients: as of [Tensor.LayerNorm], within groups, those of w and b over all axes but the
// channels.
//
// Source: Wu, He, "Group Normalization", 2018.
//
//op:torch torch.nn.functional.group_norm
//op:autocast float32
//op:typed x
func (x T) GroupNorm(groups int, w, b T, eps float64) T

// InstanceNorm returns [Tensor.GroupNorm] with a group for each channel, and panics as that does.
//
// Gradients: as of [Tensor.GroupNorm].
//
// Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization: The Missing Ingredient for Fast
// Stylization", 2016.
//
//op:torch torch.nn.functional.instance_norm
//op:typed x
func (x T) InstanceNorm(w, b T, eps float64) T

// BatchNorm returns x [batch, channels, …] less its mean, over the root of its variance plus eps,
// each over all axes but the channels; times w and plus b, of one element for each channel, either
// of which may be nil. A channel whose variance overflows is NaN. The variance is without correction;
// that of which the running one gets its part has Bessel's. A batch without elements leaves those
// as they are. See [BatchNormOptions]. It panics with ErrShape for less than two axes, another w,
// b, Mean or Var, and channels of one element in training; with ErrType unless Mean and Var are of
// floats; with ErrValue for one without the other, with gaps, or none in evaluation, for one that
// shares elements with the other or an operand in training, a momentum outside [0, 1], and more
// than one Options.
//
// Gradients: as of [Tensor.LayerNorm], within channels; in evaluation, where mean and variance are
// constants, u/√(variance + eps).
//
// Source: Ioffe, Szegedy, "Batch Normalization", 2015.
//
//op:torch torch.nn.functional.batch_norm
//op:typed x
func (x T) BatchNorm(w, b T, eps float64, options ...tensor.BatchNormOptions) T

// ScaledDotProductAttention returns the means of the values v […, s, e] that the queries x […, l,
// d] give the keys k […, s, d],
//
//	y = softmax(scale·x·kᵀ + mask)·v
//
// of shape […, l, e]; the leading axes broadcast. mask broadcasts to […, l, s], or is nil: where
// one of Bool is false, and where one of floats is −∞, a query does not attend to a key; else what is
// float is added. A query that attends to no key is 0, as in PyTorch from 2.5 on. What a query does
// not attend to is multiplied by 0 or passed over, as the shape asks: what is NaN or infinite there
// may come through. Integers are converted to floats. It panics with ErrShape, with ErrType for a
// mask of another type or of a higher one than the others, and with ErrValue for a scale that is no
// finite number, and more than one Options. Error: that of the sums over s keys, and in gradients
// over l queries, is about (1024 + s/1024)·u·Σ|x| at most on cpu and on OpenCL CPUs; GPUs add the
// terms one after the other, and a product with the softmax whole has the error of [Tensor.MatMul].
//
// Gradients, with p the softmax and d = p·(g·vᵀ − Σ p·g·vᵀ): scale·d·k of x, scale·dᵀ·x of k, pᵀ·g
// of v, and d of a mask of floats.
//
// Source: Vaswani et al., "Attention Is All You Need", 2017.
//
//op:torch torch.nn.functional.scaled_dot_product_attention
//op:autocast low
func (x T) ScaledDotProductAttention(k, v, mask T, options ...tensor.AttentionOptions) T

// GLU returns the first half of x along an axis times the sigmoid of the second. It panics with ErrAxis,
// and with ErrShape unless the axis has two halves.
//
// Gradients are those of the product and the sigmoid.
//
// Source: Dauphin, Fan, Auli, Grangier, "Language Modeling with Gated Convolutional Networks", 2016.
//
//op:torch torch.nn.functional.glu
//op:composed wide
func (x T) GLU(axis int) T

// Normalize returns x over its p-norm along an axis, or over eps where that is larger: PyTorch has 2 and
// 1e-12. It panics with ErrAxis, and with ErrValue for a p that is NaN.
//
// Gradients are those of the quotient and the norm; g/eps where the norm is below eps.
//
//op:torch torch.nn.functional.normalize
//op:composed wide
//op:autocast float32
func (x T) Normalize(p float64, axis int, eps float64) T

// Dropout returns, in training, x with each element times 0 with probability p, else times 1/(1 −
// p), by the next numbers of rng: the same for the same seed and call on every device. Otherwise it
// returns x, of a tensor a view, and rng stays as it is and may be nil. What is not of floats is
// converted to these in both. It panics with ErrValue unless p is in [0, 1], and for an rng that is
// nil in training; rng stays as it is then.
//
// Gradient: g times the same factors, which are made again and not kept.
//
// Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
// Prevent Neural Networks from Overfitting", JMLR 15, 2014.
//
//op:torch torch.nn.functional.dropout
func (x T) Dropout(p float64, rng *tensor.RNG, train bool) T
