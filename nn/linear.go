package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Linear is y = x·W + b, for x […, in], whose leading axes are rows. State dicts hold the weight as
// PyTorch does, [out, in].
type Linear struct {
	Weight *autograd.Node `nn:"weight,transposed"` // W [in, out]
	Bias   *autograd.Node // [out]; nil for a layer without
	// Quantized is W of a layer whose Weight [QuantizeWeights] has replaced, nil of others. Weight is nil then.
	Quantized *tensor.QuantizedTensor `nn:"weight"`
}

// LinearConfig describes a layer.
type LinearConfig struct {
	In, Out int // columns of x and of y; required
	// Weight and Bias draw the parameters; nil: UniformFanIn, as PyTorch does.
	Weight, Bias Initializer
	NoBias       bool // y = x·W
}

// NewLinear returns a layer, with its parameters drawn from rng. It panics with tensor.ErrShape for
// sizes below 1.
func NewLinear(d tensor.Device, rng *tensor.RNG, cfg LinearConfig) *Linear {
	defer tensorapi.Rename("nn", "NewLinear")
	mustSizes("NewLinear", "In", cfg.In)
	mustSizes("NewLinear", "Out", cfg.Out)
	l := &Linear{Weight: draw(d, rng, cfg.Weight, cfg.In, cfg.Out, cfg.In, cfg.Out)}
	if !cfg.NoBias {
		l.Bias = draw(d, rng, cfg.Bias, cfg.In, cfg.Out, cfg.Out)
	}
	return l
}

// Forward returns x·W + b, […, out]. It panics with tensor.ErrShape unless x is […, in].
func (l *Linear) Forward(x *autograd.Node) *autograd.Node { return Identity.after(l, x) }

// device returns the device of the layer.
func (l *Linear) device() tensor.Device {
	if l.Quantized != nil {
		return l.Quantized.Device()
	}
	return l.Weight.Value().Device()
}
