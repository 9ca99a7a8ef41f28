package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Attention of the domain com.microsoft.
func init() {
	Register(
		Operator{Domain: microsoft, Name: "Attention", Attributes: "do_rotary mask_filter_value num_heads " +
			"past_present_share_buffer qkv_hidden_sizes rotary_embedding_dim scale unidirectional",
			Run: projectedAttention, Shape: projectedAttentionShape},
		Operator{Domain: microsoft, Name: "MultiHeadAttention",
			Attributes: "mask_filter_value num_heads scale unidirectional", Run: multiHeadAttention,
			Shape: multiHeadShape},
		Operator{Domain: microsoft, Name: "RotaryEmbedding", Attributes: "interleaved is_packed_batching num_heads " +
			"rotary_embedding_dim scale", Run: positionedRotary, Shape: sameAs(0)},
	)
}

// projectedAttention computes queries, keys and values as x·w + bias.
func projectedAttention(c *Call) []*Value {
	if c.Bool("do_rotary", false) || c.Bool("past_present_share_buffer", false) {
		c.Unsupported("do_rotary, and caches that are shared")
	}
	x, w, heads := c.Node(0), c.Node(1), c.Int("num_heads", 0)
	if x.Rank() != 3 || w.Rank() != 2 {
		c.Fail("an input %v and weights %v, want [b, l, in] and [in, out]", x.Shape(), w.Shape())
	}
	all := x.MatMul(w)
	if bias := c.NodeOr(2); bias != nil {
		all = all.Add(bias)
	}
	sizes, width := c.IntList("qkv_hidden_sizes"), w.Shape()[1]
	if sizes == nil {
		sizes = []int{width / 3, width / 3, width / 3}
	}
	if len(sizes) != 3 || slices.Min(sizes) < 0 || sizes[0]+sizes[1]+sizes[2] != width {
		c.Fail("weights %v of hidden sizes %v", w.Shape(), sizes)
	}
	parts := all.SplitWithSizes(2, sizes...)
	q, k, v := splitHeads(c, parts[0], heads), splitHeads(c, parts[1], heads), splitHeads(c, parts[2], heads)
	past := 0
	if old := c.NodeOr(4); old != nil {
		if s := old.Shape(); len(s) != 5 || s[0] != 2 {
			c.Fail("the past is %v, want [2, b, heads, l, d]", s)
		}
		past = old.Shape()[3]
		k, v = autograd.Concat(2, old.Select(0, 0), k), autograd.Concat(2, old.Select(0, 1), v)
	}
	a := newAttention(c, q, k, v)
	a.paddedBy(c, 3, past)
	a.biasedBy(c, 5)
	a.unidirectional(c, past)
	var present *autograd.Node
	if c.Wants(1) {
		present = autograd.Stack(0, k, v)
	}
	return Out(joinHeads(a.run()), present)
}

// multiHeadAttention takes queries, keys and values that may be packed, with a bias that is added to them.
func multiHeadAttention(c *Call) []*Value {
	if c.Has(8) || c.Has(9) {
		c.Unsupported("past_sequence_length and cache_indirection")
	}
	heads := c.Int("num_heads", 0)
	q, k, v := c.Node(0), c.NodeOr(1), c.NodeOr(2)
	cached := k != nil && k.Rank() == 4 // keys and values as a cache has them
	switch {
	case k == nil: // [b, l, heads, 3, d]
		if q.Rank() != 5 || q.Shape()[3] != 3 {
			c.Fail("packed queries, keys and values are %v, want [b, l, heads, 3, d]", q.Shape())
		}
		q, k, v = packedPart(q, 0), packedPart(q, 1), packedPart(q, 2)
	case v == nil: // [b, l, heads, 2, d]
		if k.Rank() != 5 || k.Shape()[3] != 2 {
			c.Fail("packed keys and values are %v, want [b, l, heads, 2, d]", k.Shape())
		}
		k, v = packedPart(k, 0), packedPart(k, 1)
	}
	if bias := c.NodeOr(3); bias != nil {
		from := 0
		add := func(x *autograd.Node) *autograd.Node {
			width := x.Shape()[x.Rank()-1]
			from += width
			return x.Add(bias.Slice(0, from-width, from))
		}
		if q = add(q); !cached {
			k = add(k)
			v = add(v)
		}
	}
	q = splitHeads(c, q, heads)
	if !cached {
		k, v = splitHeads(c, k, heads), splitHeads(c, v, heads)
	}
	past := 0
	if c.Has(6) != c.Has(7) {
		c.Fail("past_key and past_value are used together")
	}
	if c.Has(6) {
		key, value := c.Node(6), c.Node(7)
		if key.Rank() != 4 {
			c.Fail("past_key is %v, want [b, heads, l, d]", key.Shape())
		}
		past = key.Shape()[2]
		k, v = autograd.Concat(2, key, k), autograd.Concat(2, value, v)
	}
	a := newAttention(c, q, k, v)
	a.paddedBy(c, 4, past)
	a.biasedBy(c, 5)
	a.unidirectional(c, past)
	if !c.Wants(3) {
		return Out(joinHeads(a.run()), k, v)
	}
	scores := a.scores()
	y := a.weigh(a.probabilities(a.biased(scores)))
	return Out(joinHeads(y), k, v, scores)
}

// packedPart returns part i of x [b, l, heads, parts, d] as [b, l, heads·d].
func packedPart(x *autograd.Node, i int) *autograd.Node {
	shape := x.Shape()
	return x.Select(3, i).Reshape(shape[0], shape[1], shape[2]*shape[4])
}

// unidirectional sets the scale, and limits queries to keys up to their own.
func (a *attention) unidirectional(c *Call, past int) {
	if scale := c.Float("scale", 0); scale != 0 {
		a.scale = scale
	}
	if c.Bool("unidirectional", false) {
		a.upTo(past)
	}
}

// upTo limits query i to the keys up to past + i.
func (a *attention) upTo(past int) {
	_, _, _, l, s := a.sizes()
	switch {
	case past == 0:
		a.causal = true
	case past < s-1:
		a.allow(autograd.Const(distances(a.q.Device(), l, s)).LeScalar(float64(past)))
	}
}

// biasedBy adds input i to the scores.
func (a *attention) biasedBy(c *Call, i int) {
	bias := c.NodeOr(i)
	if bias == nil {
		return
	}
	if a.bias != nil {
		bias = a.bias.Add(bias)
	}
	a.bias = bias
}

// paddedBy adds mask_filter_value to the scores of keys that input i leaves out: a mask [b, s], [b, l, s] or
// [b, 1, most, most] of 0 and 1, or the ends [b] of the keys, or their ends and where they begin [2·b].
func (a *attention) paddedBy(c *Call, i, past int) {
	mask := c.NodeOr(i)
	if mask == nil {
		return
	}
	b, _, _, l, s := a.sizes()
	shape := mask.Shape()
	var out *autograd.Node // true of what is left out
	switch {
	case len(shape) == 1 && (shape[0] == b || shape[0] == 2*b):
		at := autograd.Const(tensor.ArangeOf(a.q.Device(), tensor.Int32, 0, float64(s), 1))
		mask = mask.To(tensor.Int32)
		out = at.Ge(mask.Slice(0, 0, b).Reshape(b, 1, 1, 1))
		if shape[0] == 2*b {
			out = out.LogicalOr(at.Lt(mask.Slice(0, b, 2*b).Reshape(b, 1, 1, 1)))
		}
	case len(shape) == 2 && shape[0] == b && shape[1] == s:
		out = mask.Reshape(b, 1, 1, s).EqScalar(0)
	case len(shape) == 3 && slices.Equal(shape, []int{b, l, s}):
		out = mask.Unsqueeze(1).EqScalar(0)
	case len(shape) == 4 && shape[0] == b && shape[1] == 1 && shape[2] >= past+l && shape[3] >= s:
		out = mask.Slice(2, past, past+l).Slice(3, 0, s).EqScalar(0)
	default:
		c.Unsupported("a mask %v for %d queries and %d keys of %d", shape, l, s, b)
	}
	zero := autograd.Const(tensor.ZerosOf(a.q.Device(), a.q.Type()))
	a.bias = zero.MaskedFill(out, c.Float("mask_filter_value", -10000))
}

// positionedRotary is RotaryEmbedding with positions: one for each token, or the first one of all.
func positionedRotary(c *Call) []*Value {
	if c.Bool("is_packed_batching", false) || c.Float("scale", 1) != 1 {
		c.Unsupported("is_packed_batching, and a scale")
	}
	x, ids, cos, sin := c.Node(0), c.Tensor(1), c.Node(2), c.Node(3)
	if cos.Rank() != 2 || sin.Rank() != 2 {
		c.Fail("the caches are %v and %v: they have 2 axes", cos.Shape(), sin.Shape())
	}
	dim, heads := c.Int("rotary_embedding_dim", 0), c.Int("num_heads", 0)
	joined := x.Rank() == 3
	if joined {
		if width := 2 * cos.Shape()[1]; heads == 0 && dim == 0 && width > 0 {
			heads = x.Shape()[2] / width
		}
		x = splitHeads(c, x, heads)
	}
	if x.Rank() != 4 {
		c.Fail("the input is %v: it has 3 or 4 axes", x.Shape())
	}
	length := x.Shape()[2]
	if ids.Rank() == 1 && ids.Len() == 1 {
		first := c.IntOf(1, 0)
		if first < 0 || first > cos.Shape()[0]-length {
			c.Fail("%d positions from %d on, and the cache %v", length, first, cos.Shape())
		}
		cos, sin = cos.Slice(0, first, first+length).Unsqueeze(0), sin.Slice(0, first, first+length).Unsqueeze(0)
	} else {
		cos, sin = cachedRows(c, cos, ids), cachedRows(c, sin, ids)
	}
	y := rotated(c, x, cos, sin, dim, c.Bool("interleaved", false))
	if joined {
		y = joinHeads(y)
	}
	return Out(y)
}

func projectedAttentionShape(c *ShapeCall) []Known {
	x, w, typ := c.Dims(0), c.Dims(1), c.Type(0)
	if len(x) != 3 || len(w) != 2 {
		return []Known{ofRank(typ, 3), ofRank(typ, 5)}
	}
	width := w[1].Div(NewDim(3))
	if sizes := c.IntList("qkv_hidden_sizes"); len(sizes) == 3 {
		width = NewDim(sizes[2])
	}
	heads, length := NewDim(c.Int("num_heads", 0)), x[1]
	if c.Has(4) {
		past := c.Dims(4)
		length = length.Add(padDims(past, len(past) == 5, 5)[3])
	}
	d, _ := width.exactly(heads)
	return []Known{{Type: typ, Dims: []Dim{x[0], x[1], width}}, {Type: typ, Dims: []Dim{NewDim(2), x[0], heads, length, d}}}
}

func multiHeadShape(c *ShapeCall) []Known {
	typ, heads := c.Type(0), c.Int("num_heads", 0)
	unpacked := func(dims []Dim) []Dim { // of [b, l, heads, parts, d]
		if len(dims) != 5 {
			return make([]Dim, 4)
		}
		return []Dim{dims[0], dims[2], dims[1], dims[4]}
	}
	split := func(dims []Dim) []Dim {
		if len(dims) == 4 {
			return dims
		}
		return splitDims(dims, heads)
	}
	var q, k, v []Dim
	switch {
	case !c.Has(1):
		q = unpacked(c.Dims(0))
		k, v = slices.Clone(q), slices.Clone(q)
	case !c.Has(2):
		q, k = split(c.Dims(0)), unpacked(c.Dims(1))
		v = slices.Clone(k)
	default:
		q, k, v = split(c.Dims(0)), split(c.Dims(1)), split(c.Dims(2))
	}
	for i, x := range [][]Dim{k, v} {
		if c.Has(6 + i) {
			past := c.Dims(6 + i)
			x[2] = x[2].Add(padDims(past, len(past) == 4, 4)[2])
		}
	}
	return []Known{{Type: typ, Dims: []Dim{q[0], q[2], q[1].Mul(v[3])}}, {Type: typ, Dims: k}, {Type: typ, Dims: v},
		{Type: typ, Dims: []Dim{q[0], q[1], q[2], k[2]}}}
}
