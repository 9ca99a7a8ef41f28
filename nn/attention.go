package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// MultiHeadAttention is attention by several heads, each of which sees a part of the features:
//
//	y = concat(head₀, head₁, …)·Wₒ + bₒ, headᵢ = softmax(Qᵢ·Kᵢᵀ/√d + mask)·Vᵢ, d = size/heads,
//
// where Qᵢ, Kᵢ and Vᵢ are columns i·d to (i + 1)·d of three linear maps of queries, keys and
// values. State dicts hold it as PyTorch's nn.MultiheadAttention does. Source: Vaswani et al.,
// "Attention Is All You Need", 2017, §3.2.2.
type MultiHeadAttention struct {
	InWeight *autograd.Node `nn:"in_proj_weight,transposed"` // [size, 3·size]: of queries, of keys, of values
	// InQuantized is the maps to queries, to keys and to values, [size, size] each, of a layer whose InWeight
	// [QuantizeWeights] has replaced, nil of others. InWeight is nil then.
	InQuantized []*tensor.QuantizedTensor `nn:"in_proj_weight"`
	InBias      *autograd.Node            `nn:"in_proj_bias"` // [3·size]; nil for a layer without
	Out         *Linear                   `nn:"out_proj"`     // of the heads, one after the other

	heads   int
	causal  bool
	dropout Dropout // of the softmax
}

// MultiHeadAttentionConfig describes an attention.
type MultiHeadAttentionConfig struct {
	Size    int     // of the features of queries, keys, values and results; required
	Heads   int     // they divide Size; required
	Causal  bool    // query i attends to the keys up to i alone
	Dropout float64 // probability, in [0, 1], that a query misses a key, in training
	NoBias  bool    // neither of the maps has one
	// Weight draws the weights of the maps to queries, keys and values, as one matrix, and
	// OutWeight those of the last map; nil: Xavier and UniformFanIn, as PyTorch does. Biases begin
	// as 0.
	Weight, OutWeight Initializer
}

// NewMultiHeadAttention returns a layer, with its parameters drawn from rng, which draws what is
// dropped, too. It panics with tensor.ErrShape for sizes below 1, and with tensor.ErrValue for
// heads that do not divide the size, and a probability outside [0, 1].
func NewMultiHeadAttention(d tensor.Device, rng *tensor.RNG, cfg MultiHeadAttentionConfig) *MultiHeadAttention {
	defer tensorapi.Rename("nn", "NewMultiHeadAttention")
	const op = "NewMultiHeadAttention"
	mustSizes(op, "Size", cfg.Size)
	mustSizes(op, "Heads", cfg.Heads)
	if cfg.Size%cfg.Heads != 0 {
		misuse(op, tensor.ErrValue, "%d features do not fall into %d heads", cfg.Size, cfg.Heads)
	}
	mustProbability(op, cfg.Dropout)
	if cfg.Weight == nil {
		cfg.Weight = Xavier
	}
	l := &MultiHeadAttention{InWeight: draw(d, rng, cfg.Weight, cfg.Size, 3*cfg.Size, cfg.Size, 3*cfg.Size),
		Out:   NewLinear(d, rng, LinearConfig{In: cfg.Size, Out: cfg.Size, NoBias: cfg.NoBias, Weight: cfg.OutWeight, Bias: Zeros}),
		heads: cfg.Heads, causal: cfg.Causal, dropout: Dropout{P: cfg.Dropout, RNG: rng}}
	if !cfg.NoBias {
		l.InBias = draw(d, rng, Zeros, cfg.Size, 3*cfg.Size, 3*cfg.Size)
	}
	return l
}

// Forward returns the attention of x […, length, size] to itself, of x's shape.
func (l *MultiHeadAttention) Forward(x *autograd.Node) *autograd.Node { return l.Attend(x, x, x, nil) }

// Attend returns, for queries […, l, size], keys […, s, size] and as many values, whose leading
// axes broadcast, the attention […, l, size]. mask broadcasts to […, heads, l, s], or is nil, as
// that of [autograd.Node.ScaledDotProductAttention]: where one of Bool is false, and where one of
// floats is −∞, a query does not attend to a key; else what is real is added. (PyTorch's boolean
// mask of this layer says the opposite: where not to attend.) A padded batch, of Bool [batch, s],
// is masked by its view [batch, 1, 1, s]. What is the same Node goes through one product of
// matrices. It panics with tensor.ErrShape.
func (l *MultiHeadAttention) Attend(query, key, value, mask *autograd.Node) *autograd.Node {
	const op = "MultiHeadAttention"
	mustBeMade(op, l != nil && l.heads > 0)
	q, k, v := l.project(op, query, key, value)
	var y *autograd.Node
	if l.dropout.off() {
		y = q.ScaledDotProductAttention(k, v, mask, tensor.AttentionOptions{Causal: l.causal})
	} else {
		y = l.dropout.Forward(l.softmax(q, k, mask)).MatMul(v)
	}
	return l.Out.Forward(swapped(y, -3, -2).Flatten(-2, -1))
}

// project returns the linear maps of query, key and value, […, heads, length, d].
func (l *MultiHeadAttention) project(op string, query, key, value *autograd.Node) (q, k, v *autograd.Node) {
	size := l.size()
	for _, x := range []*autograd.Node{query, key, value} {
		if s := x.ValueFor(op).Shape(); len(s) < 2 || s[len(s)-1] != size {
			panic(&tensor.Error{Pkg: "nn", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{query.Shape(), key.Shape(), value.Shape()},
				Detail: fmt.Sprintf("queries, keys and values are […, length, %d]", size)})
		}
	}
	// The maps from first on, as many as there are, of x: one product.
	maps := func(x *autograd.Node, first, n int) []*autograd.Node {
		if len(l.InQuantized) > 0 {
			return l.quantizedMaps(x, first, n)
		}
		w, b := l.InWeight, l.InBias
		if n < 3 {
			w = w.Slice(1, first*size, (first+n)*size)
			if b != nil {
				b = b.Slice(0, first*size, (first+n)*size)
			}
		}
		shape := x.Shape()
		y := x.Linear(w, b, nil).Reshape(append(slices.Clone(shape[:len(shape)-1]), n, l.heads, size/l.heads)...)
		parts := make([]*autograd.Node, n)
		for i := range parts {
			parts[i] = swapped(y.Select(-3, i), -3, -2)
		}
		return parts
	}
	switch {
	case query == key && key == value:
		all := maps(query, 0, 3)
		return all[0], all[1], all[2]
	case key == value:
		both := maps(key, 1, 2)
		return maps(query, 0, 1)[0], both[0], both[1]
	}
	return maps(query, 0, 1)[0], maps(key, 1, 1)[0], maps(value, 2, 1)[0]
}

// size returns how many features queries, keys and values have.
func (l *MultiHeadAttention) size() int {
	if len(l.InQuantized) > 0 {
		return l.InQuantized[0].Shape()[0]
	}
	return l.InWeight.Shape()[0]
}

// quantizedMaps returns the maps from first on, as many as there are, of x, [length, heads, d] in the order of
// heads.
func (l *MultiHeadAttention) quantizedMaps(x *autograd.Node, first, n int) []*autograd.Node {
	size, shape := l.size(), x.Shape()
	parts := make([]*autograd.Node, n)
	for i := range parts {
		b := l.InBias
		if b != nil {
			b = b.Slice(0, (first+i)*size, (first+i+1)*size)
		}
		y := quantizedLinear(x, l.InQuantized[first+i], b)
		parts[i] = swapped(y.Reshape(append(slices.Clone(shape[:len(shape)-1]), l.heads, size/l.heads)...), -3, -2)
	}
	return parts
}

// softmax returns what each query takes of each value, […, heads, l, s]: of none where it attends
// to no key.
func (l *MultiHeadAttention) softmax(q, k, mask *autograd.Node) *autograd.Node {
	scores := q.MatMul(swapped(k, -2, -1))
	if mask != nil {
		mustMask(mask.ValueFor("MultiHeadAttention"), scores.Shape())
	}
	// A number far below all scores, and not −∞: a query that attends to nothing has a softmax,
	// which is then put to 0.
	m := masking{causal: l.causal, add: true, scale: 1 / math.Sqrt(float64(q.Shape()[q.Rank()-1])), off: -1e30}
	p := m.node(scores, mask).Softmax(-1)
	if mask == nil { // and every query attends to the first key, if there is one
		return p
	}
	return masking{causal: l.causal, scale: 1}.node(p, mask)
}

// swapped returns x with two axes, counted from the end, in each other's place.
func swapped(x *autograd.Node, a, b int) *autograd.Node {
	axes := make([]int, x.Rank())
	for i := range axes {
		axes[i] = i
	}
	a, b = a+len(axes), b+len(axes)
	axes[a], axes[b] = b, a
	return x.Transpose(axes...)
}
