package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Linear is y = x·W + b, for x […, in], whose leading axes are rows. State dicts hold the weight as
// PyTorch does, [out, in].
type Linear struct {
	Weight *autograd.Node `nn:"weight,transposed"` // W [in, out]; nil of a layer that is tied
	Bias   *autograd.Node // [out]; nil for a layer without
	// Tied is the table of an [Embedding], [out, in], whose transpose is W; nil of other layers.
	Tied *autograd.Node `nn:"weight"`
	// Quantized is W of a layer whose Weight [QuantizeWeights] has replaced, nil of others. Weight is nil then.
	Quantized *tensor.QuantizedTensor `nn:"weight"`
}

// LinearConfig describes a layer.
type LinearConfig struct {
	In, Out int // columns of x and of y; required, but for a layer that is tied
	// Tied has the layer share the weight of an embedding, as PyTorch's head.weight = embedding.weight does: In is its
	// Size, and Out its Rows. The parameter is one, which [Params] lists once, and a state dict has it at both paths.
	Tied *Embedding
	// Weight and Bias draw the parameters; nil: UniformFanIn, as PyTorch does.
	Weight, Bias Initializer
	NoBias       bool // y = x·W
}

// NewLinear returns a layer, with its parameters drawn from rng. It panics with tensor.ErrShape for
// sizes below 1 and for those of another table than Tied, and with tensor.ErrValue for a table that is quantized, and for
// one beside Weight.
func NewLinear(d tensor.Device, rng *tensor.RNG, cfg LinearConfig) *Linear {
	const op = "NewLinear"
	defer tensorapi.Rename("nn", op)
	l := &Linear{}
	if cfg.Tied != nil {
		l.Tied = tied(op, &cfg)
	}
	mustSizes(op, "In", cfg.In)
	mustSizes(op, "Out", cfg.Out)
	if cfg.Tied == nil {
		l.Weight = draw(d, rng, cfg.Weight, cfg.In, cfg.Out, cfg.In, cfg.Out)
	}
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
	return l.weight().Value().Device()
}

// tied returns the table that a layer shares, and gives the config its sizes.
func tied(op string, cfg *LinearConfig) *autograd.Node {
	e := cfg.Tied
	mustBeMade("Embedding", e.Weight != nil || e.Quantized != nil)
	switch {
	case e.Weight == nil:
		misuse(op, tensor.ErrValue, "the embedding is quantized, and its weight is gone: tie the layer before")
	case cfg.Weight != nil:
		misuse(op, tensor.ErrValue, "Weight draws what Tied has already: leave one out")
	}
	rows, size := e.Weight.Shape()[0], e.Weight.Shape()[1]
	if cfg.In != 0 && cfg.In != size || cfg.Out != 0 && cfg.Out != rows {
		misuse(op, tensor.ErrShape, "the layer goes from %d to %d features, and the embedding has %d rows of %d: leave In and Out out", cfg.In, cfg.Out, rows, size)
	}
	cfg.In, cfg.Out = size, rows
	return e.Weight
}

// weight returns W, nil of a layer that is quantized.
func (l *Linear) weight() *autograd.Node {
	if l.Tied != nil {
		return l.Tied.T()
	}
	return l.Weight
}
