package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// Embedding is a table of rows that are looked up by their number: see [autograd.Node.Embedding].
type Embedding struct {
	Weight *autograd.Node // [rows, size]
	// Quantized is the transpose of a table whose Weight [QuantizeWeights] has replaced, nil of others. Weight is nil
	// then.
	Quantized *tensor.QuantizedTensor `nn:"weight"`

	options tensor.EmbeddingOptions
}

// EmbeddingConfig describes a table.
type EmbeddingConfig struct {
	Rows, Size              int         // required
	tensor.EmbeddingOptions             // a row that is not trained; it begins as 0 where the others are drawn
	Weight                  Initializer // draws the table; nil: normal with variance 1, as PyTorch does
}

// NewEmbedding returns a table drawn from rng. It panics with tensor.ErrShape for sizes below 1,
// and with tensor.ErrIndex for a padding that is no row.
func NewEmbedding(d tensor.Device, rng *tensor.RNG, cfg EmbeddingConfig) *Embedding {
	defer tensorapi.Rename("nn", "NewEmbedding")
	mustSizes("NewEmbedding", "Rows", cfg.Rows)
	mustSizes("NewEmbedding", "Size", cfg.Size)
	if cfg.Weight == nil {
		cfg.Weight = Normal(1)
	}
	l := &Embedding{Weight: draw(d, rng, cfg.Weight, cfg.Rows, cfg.Size, cfg.Rows, cfg.Size), options: cfg.EmbeddingOptions}
	if cfg.Padded {
		l.Weight.Value().Select(0, cfg.Padding).ZeroInPlace()
	}
	return l
}

// Forward returns the rows that an index tensor of integers names: its shape, and an axis of the
// rows behind.
func (l *Embedding) Forward(index *tensor.Tensor) *autograd.Node {
	mustBeMade("Embedding", l != nil && (l.Weight != nil || l.Quantized != nil))
	defer inLayer(l.Weight)
	return traced(l, func() *autograd.Node {
		if l.Quantized != nil {
			y := autograd.Const(tensor.EmbeddingQuantized(l.Quantized, index))
			if trace.On() {
				trace.Record("EmbeddingQuantized", []any{l.Quantized, index}, y)
			}
			return y
		}
		return l.Weight.Embedding(index, l.options)
	})
}
