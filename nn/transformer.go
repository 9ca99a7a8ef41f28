package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// TransformerBlock is an attention and a perceptron of two layers, each with a norm and added to
// its input: with the norms behind,
//
//	h = norm₁(x + attn(x)), y = norm₂(h + linear₂(f(linear₁(h)))),
//
// and with the norms first h = x + attn(norm₁(x)), y = h + linear₂(f(linear₁(norm₂(h)))). State
// dicts hold it as PyTorch's nn.TransformerEncoderLayer does. Sources: Vaswani et al., "Attention
// Is All You Need", 2017, §3.1; for norms first Xiong et al., "On Layer Normalization in the
// Transformer Architecture", ICML 2020.
type TransformerBlock struct {
	SelfAttn         *MultiHeadAttention // attn
	Linear1, Linear2 *Linear             // of the perceptron
	Norm1, Norm2     *LayerNorm          // of the attention, and of the perceptron

	activation Activation
	normFirst  bool
	dropout    Dropout
}

// TransformerBlockConfig describes a block.
type TransformerBlockConfig struct {
	Size, Heads   int          // as those of an attention; required
	KeyValueHeads int          // that of the attention
	Rotary        RotaryConfig // that of the attention
	Hidden        int          // outputs of the first layer; 0: 4·Size
	Activation    Activation   // between the layers; Identity, the zero value: ReLU. GELU is the other one of PyTorch
	NormFirst     bool         // the norms are before the attention and the perceptron, not behind
	Causal        bool         // position i attends to those up to i alone
	// Dropout is the probability, in [0, 1], that an element of the softmax, of the attention, of
	// the activation and of the last layer is dropped in training.
	Dropout float64
	Eps     float64 // of the norms; 0: 1e-5
	NoBias  bool    // no part has one
	// Weight draws the weights of both layers, and those of the attention; nil: as PyTorch does.
	Weight Initializer
}

// NewTransformerBlock returns a block, with its parameters drawn from rng, which draws what is
// dropped, too. It panics as [NewMultiHeadAttention] does.
func NewTransformerBlock(d tensor.Device, rng *tensor.RNG, cfg TransformerBlockConfig) *TransformerBlock {
	defer tensorapi.Rename("nn", "NewTransformerBlock")
	const op = "NewTransformerBlock"
	mustSizes(op, "Size", cfg.Size)
	if cfg.Hidden == 0 {
		cfg.Hidden = 4 * cfg.Size
	}
	mustSizes(op, "Hidden", cfg.Hidden)
	if cfg.Activation.f == nil && cfg.Activation.custom == nil {
		cfg.Activation = ReLU
	}
	norm := LayerNormConfig{Shape: []int{cfg.Size}, Eps: cfg.Eps, NoBias: cfg.NoBias}
	return &TransformerBlock{
		SelfAttn: NewMultiHeadAttention(d, rng, MultiHeadAttentionConfig{Size: cfg.Size, Heads: cfg.Heads,
			KeyValueHeads: cfg.KeyValueHeads, Rotary: cfg.Rotary, Causal: cfg.Causal, Dropout: cfg.Dropout,
			NoBias: cfg.NoBias, Weight: cfg.Weight, OutWeight: cfg.Weight}),
		Linear1: NewLinear(d, rng, LinearConfig{In: cfg.Size, Out: cfg.Hidden, NoBias: cfg.NoBias, Weight: cfg.Weight}),
		Linear2: NewLinear(d, rng, LinearConfig{In: cfg.Hidden, Out: cfg.Size, NoBias: cfg.NoBias, Weight: cfg.Weight}),
		Norm1:   NewLayerNorm(d, norm), Norm2: NewLayerNorm(d, norm),
		activation: cfg.Activation, normFirst: cfg.NormFirst, dropout: Dropout{P: cfg.Dropout, RNG: rng},
	}
}

// Forward returns what the block makes of x […, length, size], of x's shape.
func (b *TransformerBlock) Forward(x *autograd.Node) *autograd.Node { return b.Masked(x, nil) }

// Masked is Forward with a mask, or nil, as [MultiHeadAttention.Attend] takes it.
func (b *TransformerBlock) Masked(x, mask *autograd.Node) *autograd.Node {
	return b.around(x, func(x *autograd.Node) *autograd.Node { return b.SelfAttn.Attend(x, x, x, mask) })
}

// Cached is Forward with the keys and values of earlier positions, as [MultiHeadAttention.Cached] takes
// them, or nil.
func (b *TransformerBlock) Cached(x *autograd.Node, cache *KVCache) *autograd.Node {
	return b.around(x, func(x *autograd.Node) *autograd.Node { return b.SelfAttn.Cached(x, cache) })
}

// around returns what the block makes of x with its attention.
func (b *TransformerBlock) around(x *autograd.Node, attention func(x *autograd.Node) *autograd.Node) *autograd.Node {
	mustBeMade("TransformerBlock", b != nil && b.SelfAttn != nil && b.Linear1 != nil && b.Linear2 != nil && b.Norm1 != nil && b.Norm2 != nil)
	attend := func(x *autograd.Node) *autograd.Node { return b.dropout.Forward(attention(x)) }
	return traced(b, func() *autograd.Node {
		if b.normFirst {
			x = x.Add(attend(b.Norm1.Forward(x)))
			return x.Add(b.feed(b.Norm2.Forward(x)))
		}
		x = b.Norm1.Forward(x.Add(attend(x)))
		return b.Norm2.Forward(x.Add(b.feed(x)))
	})
}

func (b *TransformerBlock) feed(x *autograd.Node) *autograd.Node {
	hidden := b.dropout.Forward(b.activation.after(b.Linear1, x))
	return b.dropout.Forward(b.Linear2.Forward(hidden))
}
