package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// MultiHeadAttention is attention by several heads, each of which sees a part of the features:
//
//	y = concat(head₀, head₁, …)·Wₒ + bₒ, headᵢ = softmax(Qᵢ·Kᵢᵀ/√d + mask)·Vᵢ, d = size/heads,
//
// where Qᵢ, Kᵢ and Vᵢ are columns i·d to (i + 1)·d of three linear maps of queries, keys and
// values. With fewer heads of keys and values, several queries share one (grouped queries): head i of h
// attends to the keys and values ⌊i·groups/h⌋. State dicts hold it as PyTorch's nn.MultiheadAttention
// does. Sources: Vaswani et al., "Attention Is All You Need", 2017, §3.2; for groups Ainslie et al.,
// "GQA", 2023.
type MultiHeadAttention struct {
	// InWeight is the maps to queries, to keys and to values, beside each other: [size, 3·size], or with
	// fewer heads of keys and values [size, size + 2·groups·d].
	InWeight *autograd.Node `nn:"in_proj_weight,transposed"`
	// InQuantized is the three maps of a layer whose InWeight [QuantizeWeights] has replaced, nil of others.
	// InWeight is nil then.
	InQuantized []*tensor.QuantizedTensor `nn:"in_proj_weight"`
	InBias      *autograd.Node            `nn:"in_proj_bias"` // of the columns of InWeight; nil for a layer without
	Out         *Linear                   `nn:"out_proj"`     // of the heads, one after the other

	heads, groups int // of queries, and of keys and values
	causal        bool
	dropout       Dropout // of the softmax
	rotary        RotaryConfig
	frequencies   *tensor.Tensor // of the rotation, nil without
}

// MultiHeadAttentionConfig describes an attention.
type MultiHeadAttentionConfig struct {
	Size  int // of the features of queries, keys, values and results; required
	Heads int // they divide Size; required
	// KeyValueHeads is the heads of keys and values, which divide Heads: fewer make grouped queries, 1
	// makes multi-query attention. 0: as many as Heads.
	KeyValueHeads int
	Rotary        RotaryConfig // of queries and keys; the zero value: none
	Causal        bool         // query i attends to the keys up to i alone
	Dropout       float64      // probability, in [0, 1], that a query misses a key, in training
	NoBias        bool         // neither of the maps has one
	// Weight draws the weights of the maps to queries, keys and values, as one matrix, and
	// OutWeight those of the last map; nil: Xavier and UniformFanIn, as PyTorch does. Biases begin
	// as 0.
	Weight, OutWeight Initializer
}

// NewMultiHeadAttention returns a layer, with its parameters drawn from rng, which draws what is
// dropped, too. It panics with tensor.ErrShape for sizes below 1, and with tensor.ErrValue for
// heads that do not divide the size, or are not divided by those of keys and values, a rotation that the
// heads do not have, and a probability outside [0, 1].
func NewMultiHeadAttention(d tensor.Device, rng *tensor.RNG, cfg MultiHeadAttentionConfig) *MultiHeadAttention {
	defer tensorapi.Rename("nn", "NewMultiHeadAttention")
	const op = "NewMultiHeadAttention"
	mustSizes(op, "Size", cfg.Size)
	mustSizes(op, "Heads", cfg.Heads)
	if cfg.Size%cfg.Heads != 0 {
		misuse(op, tensor.ErrValue, "%d features do not fall into %d heads", cfg.Size, cfg.Heads)
	}
	if cfg.KeyValueHeads == 0 {
		cfg.KeyValueHeads = cfg.Heads
	}
	if cfg.KeyValueHeads < 0 || cfg.Heads%cfg.KeyValueHeads != 0 {
		misuse(op, tensor.ErrValue, "%d heads do not share %d heads of keys and values equally", cfg.Heads, cfg.KeyValueHeads)
	}
	mustProbability(op, cfg.Dropout)
	if cfg.Weight == nil {
		cfg.Weight = Xavier
	}
	features := cfg.Size / cfg.Heads
	columns := cfg.Size + 2*cfg.KeyValueHeads*features
	l := &MultiHeadAttention{InWeight: draw(d, rng, cfg.Weight, cfg.Size, columns, cfg.Size, columns),
		Out:   NewLinear(d, rng, LinearConfig{In: cfg.Size, Out: cfg.Size, NoBias: cfg.NoBias, Weight: cfg.OutWeight, Bias: Zeros}),
		heads: cfg.Heads, groups: cfg.KeyValueHeads, causal: cfg.Causal, dropout: Dropout{P: cfg.Dropout, RNG: rng},
		rotary: cfg.Rotary.mustFit(op, features)}
	if !cfg.NoBias {
		l.InBias = draw(d, rng, Zeros, cfg.Size, columns, columns)
	}
	if cfg.Rotary.Base > 0 {
		l.frequencies = l.rotary.frequencies(d)
	}
	return l
}

// Forward returns the attention of x […, length, size] to itself, of x's shape.
func (l *MultiHeadAttention) Forward(x *autograd.Node) *autograd.Node { return l.Attend(x, x, x, nil) }

// Attend returns, for queries […, l, size], keys […, s, size] and as many values, whose leading
// axes broadcast, the attention […, l, size]. mask broadcasts to […, heads, l, s], or is nil, as
// that of [autograd.Node.ScaledDotProductAttention]: where one of Bool is false, and where one of
// floats is −∞, a query does not attend to a key; else what is a float is added. (PyTorch's boolean
// mask of this layer says the opposite: where not to attend.) A padded batch, of Bool [batch, s],
// is masked by its view [batch, 1, 1, s]. What is the same Node goes through one product of
// matrices. It panics with tensor.ErrShape.
func (l *MultiHeadAttention) Attend(query, key, value, mask *autograd.Node) *autograd.Node {
	const op = "MultiHeadAttention"
	mustBeMade(op, l != nil && l.heads > 0)
	defer inLayer(l.InWeight, l.InBias)
	return traced(l, func() *autograd.Node {
		q, k, v := l.project(op, query, key, value, kernels.IntArg(0))
		if l.groups < l.heads {
			q, k, v, mask = l.grouped(q), k.Unsqueeze(-3), v.Unsqueeze(-3), l.groupedMask(mask)
		}
		var y *autograd.Node
		if l.dropout.off() {
			y = q.ScaledDotProductAttention(k, v, mask, tensor.AttentionOptions{Causal: l.causal})
		} else {
			y = l.dropout.Forward(l.masking().softmax(q, k, mask)).MatMul(v)
		}
		return l.joined(y)
	})
}

// Cached returns the attention of x [batch, n, size], the n positions of a step that Next of the cache
// began, to itself and to the positions before, of x's shape: query i of the step attends to keys up to
// its own position. With a nil cache it is Forward. A cache is for evaluation: Cached panics with
// tensor.ErrValue outside [autograd.NoGrad], for a layer in training that drops, for one that is not
// Causal, not of the cache's model, or called twice in a step; and with tensor.ErrShape for other sequences or positions.
func (l *MultiHeadAttention) Cached(x *autograd.Node, cache *KVCache) *autograd.Node {
	if cache == nil {
		return l.Forward(x)
	}
	const op = "MultiHeadAttention"
	mustBeMade(op, l != nil && l.heads > 0)
	defer inLayer(l.InWeight, l.InBias)
	kv := cache.of(l, x.ValueFor(op))
	first := cache.step.first.Arg(0)
	q, k, v := l.project(op, x, x, x, first)
	switch {
	case k.NeedsGrad():
		misuse("Cached", tensor.ErrValue, "a cache keeps no graph: call it within autograd.NoGrad")
	case !l.causal:
		misuse("Cached", tensor.ErrValue, "the attention is not Causal: what came before would attend to what comes later")
	case !l.dropout.off():
		misuse("Cached", tensor.ErrValue, "the layer is in training, and drops: call nn.Eval")
	}
	keys, values := cache.put(kv.keys, k), cache.put(kv.values, v)
	if l.groups < l.heads {
		q, keys, values = l.grouped(q), keys.Unsqueeze(-3), values.Unsqueeze(-3)
	}
	m := l.masking()
	m.first = &first
	y := m.softmax(q, keys, nil).MatMul(values)
	if y.Type() != q.Type() { // of 16 bits, and the cache is not
		y = y.To(q.Type())
	}
	return l.joined(y)
}

// grouped returns queries or scores […, heads, l, n] as […, groups, heads/groups, l, n]: a row of each
// group, of those that share keys and values.
func (l *MultiHeadAttention) grouped(x *autograd.Node) *autograd.Node {
	shape := x.Shape()
	n := len(shape) - 3
	return x.Reshape(slices.Concat(shape[:n], []int{l.groups, l.heads / l.groups}, shape[n+1:])...)
}

// groupedMask is grouped of a mask, which broadcasts, or nil.
func (l *MultiHeadAttention) groupedMask(mask *autograd.Node) *autograd.Node {
	if mask == nil || mask.ValueFor("MultiHeadAttention").Rank() < 3 {
		return mask
	}
	if mask.Shape()[mask.Rank()-3] == l.heads {
		return l.grouped(mask)
	}
	return mask.Unsqueeze(-3)
}

// joined returns the last map of what the heads made, […, heads, l, d] or grouped.
func (l *MultiHeadAttention) joined(y *autograd.Node) *autograd.Node {
	if l.groups < l.heads {
		y = y.Flatten(-4, -3)
	}
	return l.Out.Forward(swapped(y, -3, -2).Flatten(-2, -1))
}

// project returns the linear maps of query, key and value, […, heads, length, d], and turns queries and
// keys, which are at positions from first on, an int that may be a step scalar.
func (l *MultiHeadAttention) project(op string, query, key, value *autograd.Node, first kernels.Arg) (q, k, v *autograd.Node) {
	size := l.size()
	for _, x := range []*autograd.Node{query, key, value} {
		if s := x.ValueFor(op).Shape(); len(s) < 2 || s[len(s)-1] != size {
			panic(&tensor.Error{Pkg: "nn", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{query.Shape(), key.Shape(), value.Shape()},
				Detail: fmt.Sprintf("queries, keys and values are […, length, %d]", size)})
		}
	}
	heads := []int{l.heads, l.groups, l.groups}
	// The maps from first on, as many as there are, of x, […, length, heads, d]: one product.
	maps := func(x *autograd.Node, from, n int) []*autograd.Node {
		if len(l.InQuantized) > 0 {
			return l.quantizedMaps(x, from, heads[from:from+n])
		}
		parts, lead := heads[from:from+n], x.Shape()[:x.Rank()-1]
		w, b := l.InWeight, l.InBias
		if n < 3 {
			low, high := l.columns(from), l.columns(from+n)
			w = w.Slice(1, low, high)
			if b != nil {
				b = b.Slice(0, low, high)
			}
		}
		y := x.Linear(w, b, nil).Reshape(slices.Concat(lead, []int{sum(parts), size / l.heads})...)
		return y.SplitWithSizes(-2, parts...)
	}
	var all []*autograd.Node
	switch {
	case query == key && key == value:
		all = maps(query, 0, 3)
	case key == value:
		all = append(maps(query, 0, 1), maps(key, 1, 2)...)
	default:
		all = slices.Concat(maps(query, 0, 1), maps(key, 1, 1), maps(value, 2, 1))
	}
	if l.frequencies != nil {
		l.rotate(all, first)
	}
	for i := range all {
		all[i] = swapped(all[i], -3, -2)
	}
	return all[0], all[1], all[2]
}

// rotate turns queries and keys, which begin at one position.
func (l *MultiHeadAttention) rotate(all []*autograd.Node, first kernels.Arg) {
	length := func(x *autograd.Node) int { return x.Shape()[x.Rank()-3] }
	cos, sin := angles(l.frequencies, first, max(length(all[0]), length(all[1])))
	for i, x := range all[:2] {
		all[i] = RotaryEmbedding(x, cos.Slice(0, 0, length(x)), sin.Slice(0, 0, length(x)), l.rotary.Interleaved)
	}
}

// columns returns where the columns of the maps of InWeight begin: of queries, of keys, of values, and
// behind them.
func (l *MultiHeadAttention) columns(i int) int {
	size := l.size()
	return []int{0, size, size + size/l.heads*l.groups, size + 2*size/l.heads*l.groups}[i]
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// size returns how many features queries, keys and values have.
func (l *MultiHeadAttention) size() int {
	if len(l.InQuantized) > 0 {
		return l.InQuantized[0].Shape()[0]
	}
	return l.InWeight.Shape()[0]
}

// cached returns the device of the layer, and the type in which keys and values are cached.
func (l *MultiHeadAttention) cached() (tensor.Device, tensor.Type) {
	if len(l.InQuantized) > 0 {
		return l.Out.device(), tensor.Float32
	}
	w := l.InWeight.Value()
	return w.Device(), w.Type().Widened()
}

// quantizedMaps returns the maps from first on of x, of so many heads each, […, length, heads, d].
func (l *MultiHeadAttention) quantizedMaps(x *autograd.Node, first int, heads []int) []*autograd.Node {
	parts := make([]*autograd.Node, len(heads))
	for i, n := range heads {
		b := l.InBias
		if b != nil {
			b = b.Slice(0, l.columns(first+i), l.columns(first+i+1))
		}
		y := quantizedLinear(x, l.InQuantized[first+i], b)
		parts[i] = y.Reshape(slices.Concat(x.Shape()[:x.Rank()-1], []int{n, l.size() / l.heads})...)
	}
	return parts
}

// masking returns that of scores, whose off is a number far below all of them, and not −∞: a query that
// attends to nothing has a softmax, which is then put to 0.
func (l *MultiHeadAttention) masking() masking {
	return masking{causal: l.causal, add: true, scale: 1 / math.Sqrt(float64(l.size()/l.heads)), off: -1e30}
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
