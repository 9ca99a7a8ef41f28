package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// usualEps is PyTorch's for all norms but the RMS norm.
const usualEps = 1e-5

// LayerNorm is [autograd.Node.LayerNorm] over the last axes.
type LayerNorm struct {
	Weight *autograd.Node // of the normalised axes; nil for a layer without
	Bias   *autograd.Node // the same

	axes int // normalised
	eps  float64
}

// LayerNormConfig describes a layer norm.
type LayerNormConfig struct {
	Shape    []int   // of the last axes, those that are normalised; required
	Eps      float64 // added to the variance; 0: 1e-5
	NoAffine bool    // neither weight nor bias
	NoBias   bool    // no bias
}

// NewLayerNorm returns a layer of weight 1 and bias 0. It panics with tensor.ErrValue for a config
// without Shape, and with tensor.ErrShape for sizes below 1.
func NewLayerNorm(d tensor.Device, cfg LayerNormConfig) *LayerNorm {
	defer tensorapi.Rename("nn", "NewLayerNorm")
	mustAxes("NewLayerNorm", cfg.Shape)
	l := &LayerNorm{axes: len(cfg.Shape), eps: orElse(cfg.Eps, usualEps)}
	l.Weight, l.Bias = affine(d, cfg.NoAffine, cfg.NoBias, cfg.Shape...)
	return l
}

// Forward returns x normalised over its last axes.
func (l *LayerNorm) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("LayerNorm", l != nil && l.axes > 0)
	defer inLayer(l.Weight, l.Bias)
	return traced(l, func() *autograd.Node { return x.LayerNorm(-l.axes, l.Weight, l.Bias, l.eps) })
}

// RMSNorm is [autograd.Node.RMSNorm] over the last axes.
type RMSNorm struct {
	Weight *autograd.Node // of the normalised axes; nil for a layer without

	axes int // normalised
	eps  float64
}

// RMSNormConfig describes an RMS norm.
type RMSNormConfig struct {
	Shape    []int   // of the last axes, those that are normalised; required
	Eps      float64 // added to the mean square; 0: 2⁻²³, as in PyTorch, the spacing of float32 at 1
	NoAffine bool    // no weight
}

// NewRMSNorm returns a layer of weight 1. It panics as [NewLayerNorm] does.
func NewRMSNorm(d tensor.Device, cfg RMSNormConfig) *RMSNorm {
	defer tensorapi.Rename("nn", "NewRMSNorm")
	mustAxes("NewRMSNorm", cfg.Shape)
	l := &RMSNorm{axes: len(cfg.Shape), eps: orElse(cfg.Eps, 0x1p-23)}
	l.Weight, _ = affine(d, cfg.NoAffine, true, cfg.Shape...)
	return l
}

// Forward returns x over the root of its mean square over the last axes.
func (l *RMSNorm) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("RMSNorm", l != nil && l.axes > 0)
	defer inLayer(l.Weight)
	return traced(l, func() *autograd.Node { return x.RMSNorm(-l.axes, l.Weight, l.eps) })
}

// GroupNorm is [autograd.Node.GroupNorm]; with a group for each channel it is an instance norm.
type GroupNorm struct {
	Weight *autograd.Node // [channels]; nil for a layer without
	Bias   *autograd.Node // the same

	groups int
	eps    float64
}

// GroupNormConfig describes a group norm.
type GroupNormConfig struct {
	Channels, Groups int     // required
	Eps              float64 // added to the variance; 0: 1e-5
	NoAffine         bool    // neither weight nor bias, as PyTorch's InstanceNorm is by default
}

// NewGroupNorm returns a layer of weight 1 and bias 0. It panics with tensor.ErrShape for sizes
// below 1, and with tensor.ErrValue for groups that do not divide the channels.
func NewGroupNorm(d tensor.Device, cfg GroupNormConfig) *GroupNorm {
	defer tensorapi.Rename("nn", "NewGroupNorm")
	const op = "NewGroupNorm"
	mustSizes(op, "Channels", cfg.Channels)
	mustSizes(op, "Groups", cfg.Groups)
	if cfg.Channels%cfg.Groups != 0 {
		misuse(op, tensor.ErrValue, "%d channels do not fall into %d groups", cfg.Channels, cfg.Groups)
	}
	l := &GroupNorm{groups: cfg.Groups, eps: orElse(cfg.Eps, usualEps)}
	l.Weight, l.Bias = affine(d, cfg.NoAffine, false, cfg.Channels)
	return l
}

// Forward returns x [batch, channels, …] with each group of channels of an item normalised.
func (l *GroupNorm) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("GroupNorm", l != nil && l.groups > 0)
	defer inLayer(l.Weight, l.Bias)
	return traced(l, func() *autograd.Node { return x.GroupNorm(l.groups, l.Weight, l.Bias, l.eps) })
}

// BatchNorm is [autograd.Node.BatchNorm] with running statistics, for inputs of any number of axes
// after the channels. In training it takes the statistics of the batch, and the running ones
// follow; in evaluation it takes those: see [Eval].
type BatchNorm struct {
	Weight *autograd.Node // [channels]; nil for a layer without
	Bias   *autograd.Node // the same

	Mean *tensor.Tensor `nn:"running_mean"` // [channels]
	Var  *tensor.Tensor `nn:"running_var"`  // [channels]
	// Batches is the number of batches that PyTorch counts, an Int64. Nothing here reads it, and
	// training leaves it as it is: PyTorch's state dicts have it, and require it.
	Batches *tensor.Tensor `nn:"num_batches_tracked"`

	eps, momentum float64
	eval          bool
}

// BatchNormConfig describes a batch norm.
type BatchNormConfig struct {
	Channels int     // required
	Eps      float64 // added to the variance; 0: 1e-5
	Momentum float64 // the part that a batch has of the running statistics; 0: 0.1
	NoAffine bool    // neither weight nor bias
}

// NewBatchNorm returns a layer of weight 1, bias 0, running mean 0 and running variance 1, in
// training. It panics with tensor.ErrShape for channels below 1.
func NewBatchNorm(d tensor.Device, cfg BatchNormConfig) *BatchNorm {
	defer tensorapi.Rename("nn", "NewBatchNorm")
	mustSizes("NewBatchNorm", "Channels", cfg.Channels)
	l := &BatchNorm{Mean: tensor.Zeros(d, cfg.Channels).Retain(), Var: tensor.Full(d, 1, cfg.Channels).Retain(),
		Batches: tensor.ZerosOf(d, tensor.Int64).Retain(), eps: orElse(cfg.Eps, usualEps), momentum: cfg.Momentum}
	l.Weight, l.Bias = affine(d, cfg.NoAffine, false, cfg.Channels)
	return l
}

// Forward returns x [batch, channels, …] with each channel normalised.
func (l *BatchNorm) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("BatchNorm", l != nil && l.eps != 0)
	defer inLayer(l.Weight, l.Bias)
	tensorapi.ReadsFlag(&l.eval, "a BatchNorm", "in evaluation", "in training")
	return traced(l, func() *autograd.Node {
		return x.BatchNorm(l.Weight, l.Bias, l.eps, tensor.BatchNormOptions{Mean: l.Mean, Var: l.Var, Momentum: l.momentum, Eval: l.eval})
	})
}

// SetTraining says which statistics are taken.
func (l *BatchNorm) SetTraining(on bool) {
	tensorapi.SetsFlags(&l.eval)
	l.eval = !on
}

func orElse(v, usual float64) float64 {
	if v == 0 {
		return usual
	}
	return v
}

// affine returns a weight of ones and a bias of zeros, or nil for what there is not to be.
func affine(d tensor.Device, none, noBias bool, shape ...int) (w, b *autograd.Node) {
	if none {
		return nil, nil
	}
	w = autograd.Param(tensor.Full(d, 1, shape...), "")
	if !noBias {
		b = autograd.Param(tensor.Zeros(d, shape...), "")
	}
	return w, b
}

func mustAxes(op string, shape []int) {
	if len(shape) == 0 {
		misuse(op, tensor.ErrValue, "the config has no Shape: name the sizes of the last axes, those that are normalised")
	}
	mustSizes(op, "Shape", shape...)
}
