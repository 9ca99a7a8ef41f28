package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(Operator{Domain: microsoft, Name: "GroupQueryAttention", Attributes: "causal do_rotary k_norm_epsilon " +
		"k_quant_type kv_cache_bit_width kv_num_heads local_window_size num_heads q_norm_epsilon qk_norm_epsilon " +
		"qk_output rotary_interleaved scale sliding_window_cache smooth_softmax softcap v_quant_type",
		Run: groupQueryAttention, Shape: groupQueryShape})
}

// chunk is what a call of GroupQueryAttention adds to a cache of keys and values: of each element of the batch so many
// tokens, behind those that are there.
type chunk struct {
	past, tokens []int
	length       int // of the queries, padded
	capacity     int // of the cache afterwards
}

// groupQueryAttention is attention over a cache, of which only a part may be in use.
func groupQueryAttention(c *Call) []*Value {
	for _, name := range []string{"k_quant_type", "v_quant_type"} {
		if c.String(name, "NONE") != "NONE" {
			c.Unsupported("a cache that is quantized")
		}
	}
	if c.Bool("sliding_window_cache", false) {
		c.Unsupported("sliding_window_cache")
	}
	heads, groups := c.Int("num_heads", 0), c.Int("kv_num_heads", 0)
	if heads < 1 || groups < 1 {
		c.Fail("num_heads is %d and kv_num_heads %d", heads, groups)
	}
	query := c.Node(0)
	var q, k, v *autograd.Node
	if c.Has(1) {
		q, k, v = splitHeads(c, query, heads), splitHeads(c, c.Node(1), groups), splitHeads(c, c.Node(2), groups)
	} else {
		all := splitHeads(c, query, heads+2*groups)
		q, k, v = all.Slice(1, 0, heads), all.Slice(1, heads, heads+groups), all.Slice(1, heads+groups, heads+2*groups)
	}
	if c.Has(14) != c.Has(15) || c.Has(3) != c.Has(4) {
		c.Fail("q_norm_weight and k_norm_weight, and past_key and past_value, are used together")
	}
	if c.Has(14) {
		eps := c.Float("qk_norm_epsilon", 1e-6)
		q = q.RMSNorm(-1, c.Node(14), c.Float("q_norm_epsilon", eps))
		k = k.RMSNorm(-1, c.Node(15), c.Float("k_norm_epsilon", eps))
	}
	n := chunkOf(c, q, k)
	if c.Bool("do_rotary", false) {
		cos, sin := n.rows(c, c.Node(7)), n.rows(c, c.Node(8))
		dim, interleaved := 2*cos.Shape()[2], c.Bool("rotary_interleaved", false)
		q, k = rotated(c, q, cos, sin, dim, interleaved), rotated(c, k, cos, sin, dim, interleaved)
	}
	var oldKey, oldValue *autograd.Node
	if c.Has(3) {
		oldKey, oldValue = c.Node(3), c.Node(4)
	}
	key, value := n.appended(c, oldKey, k), n.appended(c, oldValue, v)
	used := 0
	for i, past := range n.past {
		used = max(used, past+n.tokens[i])
	}
	used = min(max(used, n.past[0]+n.length), n.capacity)
	a := newAttention(c, q, key.Slice(2, 0, used), value.Slice(2, 0, used))
	if scale := c.Float("scale", 0); scale != 0 {
		a.scale = scale
	}
	a.softcap = max(c.Float("softcap", 0), 0)
	n.see(c, a, used)
	if bias := c.NodeOr(10); bias != nil {
		if bias.Rank() != 4 || bias.Shape()[3] < used {
			c.Fail("attention_bias %v for %d keys", bias.Shape(), used)
		}
		a.bias = bias.Slice(3, 0, used)
	}
	if sink := c.NodeOr(11); sink != nil {
		a.sink = sink.Reshape(1, heads, 1, 1)
	} else if c.Int("smooth_softmax", -1) == 1 {
		a.sink = autograd.Const(tensor.ZerosOf(c.Device(), q.Type(), 1, 1, 1, 1))
	}
	if !c.Wants(3) {
		return Out(joinHeads(a.run()), key, value)
	}
	scores := a.biased(a.capped(a.scores()))
	p := a.probabilities(scores)
	y := joinHeads(a.weigh(p))
	switch c.Int("qk_output", 0) {
	case 1: // 0 of what a query does not attend to, as ONNX Runtime has it
		return Out(y, key, value, scores.MaskedFill(scores.EqScalar(math.Inf(-1)), 0))
	case 2:
		return Out(y, key, value, p)
	}
	return Out(y, key, value)
}

// chunkOf reads seqlens_k, one less than how many tokens each element of the batch has afterwards, and query_seqlens.
func chunkOf(c *Call, q, k *autograd.Node) *chunk {
	batch, length := q.Shape()[0], q.Shape()[2]
	if k.Shape()[0] != batch || k.Shape()[2] != length || batch == 0 {
		c.Fail("queries %v and keys %v: their lengths differ, or there are none", q.Shape(), k.Shape())
	}
	totals := c.Ints(5)
	if len(totals) != batch {
		c.Fail("seqlens_k has %d numbers for a batch of %d", len(totals), batch)
	}
	n := &chunk{length: length, capacity: c.IntOf(6, 0)}
	old := 0
	if c.Has(3) {
		if s := c.Shape(3); len(s) != 4 {
			c.Fail("past_key is %v, want [b, heads, l, d]", s)
		}
		old = c.Shape(3)[2]
	}
	n.capacity = max(n.capacity, old)
	var tokens []int
	if c.Has(16) {
		if tokens = c.Ints(16); len(tokens) != batch {
			c.Fail("query_seqlens has %d numbers for a batch of %d", len(tokens), batch)
		}
	}
	for i, last := range totals {
		total := last + 1
		count := min(length, total)
		if tokens != nil {
			count = tokens[i]
		}
		past := total - count
		if count < 0 || count > length || past < 0 || past > old || total > n.capacity {
			c.Fail("%d tokens of %d behind %d of a cache of %d, then %d", count, length, past, old, n.capacity)
		}
		n.past, n.tokens = append(n.past, past), append(n.tokens, count)
	}
	return n
}

// alike reports whether all elements of the batch have as much in the cache.
func (n *chunk) alike() bool {
	return slices.Max(n.past) == slices.Min(n.past) && slices.Max(n.tokens) == slices.Min(n.tokens)
}

// rows returns the rows [b or 1, l, r] of a cache of cosines or sines for the positions of the tokens.
func (n *chunk) rows(c *Call, cache *autograd.Node) *autograd.Node {
	if cache.Rank() != 2 || cache.Shape()[0] == 0 {
		c.Fail("a cache of cosines or sines %v, want [most, r]", cache.Shape())
	}
	most := cache.Shape()[0]
	if c.Has(9) {
		return cachedRows(c, cache, c.Tensor(9))
	}
	ids := make([]int64, 0, len(n.past)*n.length)
	for i, past := range n.past {
		if past+n.tokens[i] > most {
			c.Fail("%d positions from %d on, and the cache %v", n.tokens[i], past, cache.Shape())
		}
		if past+n.length <= most && n.alike() {
			return cache.Slice(0, past, past+n.length).Unsqueeze(0)
		}
		for j := range n.length {
			ids = append(ids, int64(min(past+j, most-1)))
		}
	}
	return cachedRows(c, cache, tensor.New(c.Device(), ids, len(n.past), n.length))
}

// appended returns the cache [b, g, capacity, d] with the tokens of x [b, g, l, d] behind those that were there, and 0
// behind them.
func (n *chunk) appended(c *Call, old, x *autograd.Node) *autograd.Node {
	shape := x.Shape()
	if old != nil {
		if s := old.Shape(); len(s) != 4 || s[0] != shape[0] || s[1] != shape[1] || s[3] != shape[3] {
			c.Fail("a cache %v for %v", s, shape)
		}
	}
	join := func(old, x *autograd.Node, past, tokens int) *autograd.Node {
		parts := []*autograd.Node{x.Slice(2, 0, tokens)}
		if past > 0 {
			parts = []*autograd.Node{old.Slice(2, 0, past), parts[0]}
		}
		if rest := n.capacity - past - tokens; rest > 0 {
			s := x.Shape()
			parts = append(parts, autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), s[0], s[1], rest, s[3])))
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return autograd.Concat(2, parts...)
	}
	if n.alike() {
		return join(old, x, n.past[0], n.tokens[0])
	}
	list := make([]*autograd.Node, len(n.past))
	for i, past := range n.past {
		part := old
		if old != nil {
			part = old.Slice(0, i, i+1)
		}
		list[i] = join(part, x.Slice(0, i, i+1), past, n.tokens[i])
	}
	return autograd.Concat(0, list...)
}

// see limits the keys to those up to a query's own, and to a window before it.
func (n *chunk) see(c *Call, a *attention, used int) {
	causal, window := c.Bool("causal", true), c.Int("local_window_size", -1)
	if n.alike() && window < 0 {
		if causal {
			a.upTo(n.past[0])
		}
		if !causal || n.tokens[0] == n.length {
			return
		}
	}
	pasts, ends := make([]int32, len(n.past)), make([]int32, len(n.past))
	for i, past := range n.past {
		pasts[i], ends[i] = int32(past), int32(past+n.tokens[i])
	}
	d := a.q.Device()
	distance := autograd.Const(distances(d, n.length, used).Sub(tensor.New(d, pasts, len(pasts), 1, 1, 1)))
	if causal {
		a.allow(distance.LeScalar(0))
	} else {
		end := tensor.New(d, ends, len(ends), 1, 1, 1)
		a.allow(autograd.Const(tensor.ArangeOf(d, tensor.Int32, 0, float64(used), 1).Lt(end)))
	}
	if window >= 0 {
		a.allow(distance.GtScalar(-float64(window)))
	}
}

func groupQueryShape(c *ShapeCall) []Known {
	typ, heads, groups := c.Type(0), c.Int("num_heads", 0), c.Int("kv_num_heads", 0)
	var q, k, v []Dim
	if c.Has(1) {
		q, k, v = splitDims(c.Dims(0), heads), splitDims(c.Dims(1), groups), splitDims(c.Dims(2), groups)
	} else {
		q = splitDims(c.Dims(0), heads+2*groups)
		q[1] = NewDim(heads)
		k = []Dim{q[0], NewDim(groups), q[2], q[3]}
		v = slices.Clone(k)
	}
	capacity := NewDim(0)
	if c.Has(6) {
		capacity = c.dimOf(6)
	}
	if c.Has(3) {
		past := c.Dims(3)
		capacity = capacity.Max(padDims(past, len(past) == 4, 4)[2])
	}
	k[2], v[2] = capacity, capacity
	return []Known{{Type: typ, Dims: []Dim{q[0], q[2], q[1].Mul(v[3])}}, {Type: typ, Dims: k}, {Type: typ, Dims: v}, {Type: typ}}
}
