package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	const attributes = "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision"
	Register(
		Operator{Name: "Attention", Since: 23, Attributes: attributes, Run: attentionOf, Shape: attentionShape},
		Operator{Name: "Attention", Since: 25, Attributes: attributes + " left_window_size right_window_size",
			Run: attentionOf, Shape: attentionShape},
		Operator{Domain: "ai.onnx.preview", Name: "FlexAttention",
			Attributes: "prob_mod score_mod scale softmax_precision", Run: flexAttention, Shape: flexAttentionShape},
	)
}

// attention is softmax(cap(scale·q·kᵀ) + bias)·v, of q [b, h, l, d], k [b, g, s, d] and v [b, g, s, e]. Each head of k
// and v serves h/g heads of q that follow each other.
type attention struct {
	q, k, v *autograd.Node
	scale   float64
	softcap float64        // scores s become softcap·tanh(s/softcap); 0: they stay
	bias    *autograd.Node // of floats, added to the scores: it broadcasts to [b, h, l, s]; nil: nothing
	allowed *autograd.Node // Bool: where it is false a query does not attend to a key; nil: it does
	causal  bool           // query i attends to the keys up to i alone
	sink    *autograd.Node // a score of the softmax that has no value, which broadcasts to [b, h, l, 1]; or nil
	softmax tensor.Type    // in which the softmax is computed
}

// newAttention returns the attention of q, k and v with the scale 1/√d.
func newAttention(c *Call, q, k, v *autograd.Node) *attention {
	qs, ks, vs := q.Shape(), k.Shape(), v.Shape()
	if len(qs) != 4 || len(ks) != 4 || len(vs) != 4 {
		c.Fail("query %v, key %v and value %v: they have 4 axes", qs, ks, vs)
	}
	switch {
	case qs[0] != ks[0] || ks[0] != vs[0]:
		c.Fail("query %v, key %v and value %v: their batches differ", qs, ks, vs)
	case ks[1] != vs[1] || ks[1] == 0 || qs[1]%ks[1] != 0:
		c.Fail("query %v, key %v and value %v: the heads of the query are a multiple of those of key and value",
			qs, ks, vs)
	case qs[3] != ks[3] || ks[2] != vs[2]:
		c.Fail("query %v, key %v and value %v: queries have the features of keys, and there is a value for each key",
			qs, ks, vs)
	}
	return &attention{q: q, k: k, v: v, scale: defaultScale(qs[3]), softmax: q.Type()}
}

// defaultScale is 1/√d.
func defaultScale(d int) float64 { return 1 / math.Sqrt(float64(max(d, 1))) }

// sizes returns the batch, the heads of keys, how many heads of queries each of these serves, queries, and keys.
func (a *attention) sizes() (b, g, r, l, s int) {
	q, k := a.q.Shape(), a.k.Shape()
	return q[0], k[1], q[1] / k[1], q[2], k[2]
}

// run returns [b, h, l, e].
func (a *attention) run() *autograd.Node {
	typ := a.q.Type()
	half := typ == tensor.Float16 || typ == tensor.BFloat16
	if a.softcap != 0 || a.scale == 0 || a.sink != nil || a.softmax != typ && !(half && a.softmax == tensor.Float32) {
		return a.weigh(a.probabilities(a.biased(a.capped(a.scores()))))
	}
	mask := a.allowed
	if a.bias != nil {
		mask = like(a.additive(), typ)
	}
	options := tensor.AttentionOptions{Causal: a.causal, Scale: a.scale}
	b, g, r, l, s := a.sizes()
	q, k, v := a.q, a.k, a.v
	switch {
	case r == 1:
	case l == 1: // the queries of a group are rows of one matrix
		q = q.Reshape(b, g, r, q.Shape()[3])
		if mask = fourAxes(mask); mask != nil && mask.Shape()[1] > 1 {
			mask = mask.Reshape(mask.Shape()[0], g, r, mask.Shape()[3])
		}
		if a.causal && s > 1 {
			k, v = k.Slice(2, 0, 1), v.Slice(2, 0, 1)
			if mask != nil && mask.Shape()[3] > 1 {
				mask = mask.Slice(3, 0, 1)
			}
		}
		options.Causal = false
	default:
		q, k, v, mask = a.grouped(q), k.Unsqueeze(2), v.Unsqueeze(2), a.grouped(fourAxes(mask))
	}
	y := q.ScaledDotProductAttention(k, v, mask, options)
	return like(y.Reshape(b, g*r, l, v.Shape()[v.Rank()-1]), typ)
}

// fourAxes returns x with axes of 1 before its own, nil of nil.
func fourAxes(x *autograd.Node) *autograd.Node {
	for x != nil && x.Rank() < 4 {
		x = x.Unsqueeze(0)
	}
	return x
}

// grouped returns x [b, h, …] as [b, g, h/g, …], and [b, 1, …] as [b, 1, 1, …]; nil of nil.
func (a *attention) grouped(x *autograd.Node) *autograd.Node {
	if x == nil {
		return nil
	}
	_, g, r, _, _ := a.sizes()
	shape := x.Shape()
	if shape[1] == 1 {
		return x.Unsqueeze(2)
	}
	return x.Reshape(shape[0], g, r, shape[2], shape[3])
}

// product returns x·y of x [b, h, m, k] and y [b, g, k, n].
func (a *attention) product(x, y *autograd.Node) *autograd.Node {
	b, g, r, _, _ := a.sizes()
	if r == 1 {
		return x.MatMul(y)
	}
	m, n := x.Shape()[2], y.Shape()[3]
	return x.Reshape(b, g, r, m, x.Shape()[3]).MatMul(y.Unsqueeze(2)).Reshape(b, g*r, m, n)
}

// scores returns the products of queries and keys [b, h, l, s]. Both are scaled by the root, so that products of 16
// bits do not overflow.
func (a *attention) scores() *autograd.Node {
	root := math.Sqrt(math.Abs(a.scale))
	return a.product(a.q.MulScalar(math.Copysign(root, a.scale)), a.k.MulScalar(root).Transpose(0, 1, 3, 2))
}

func (a *attention) capped(s *autograd.Node) *autograd.Node {
	if a.softcap == 0 {
		return s
	}
	return s.DivScalar(a.softcap).Tanh().MulScalar(a.softcap)
}

// additive returns the bias, −∞ where a query does not attend to a key, or nil if there is nothing. What is causal is
// left out.
func (a *attention) additive() *autograd.Node {
	if a.allowed == nil {
		return a.bias
	}
	bias := a.bias
	if bias == nil {
		bias = autograd.Const(tensor.ZerosOf(a.q.Device(), a.q.Type()))
	}
	return bias.MaskedFill(a.allowed.LogicalNot(), math.Inf(-1))
}

// biased returns scores with all that is added to them, which is then a's bias.
func (a *attention) biased(scores *autograd.Node) *autograd.Node {
	if a.causal {
		_, _, _, l, s := a.sizes()
		a.allow(autograd.Const(distances(a.q.Device(), l, s)).LeScalar(0))
		a.causal = false
	}
	a.bias, a.allowed = a.additive(), nil
	if a.bias == nil {
		return scores
	}
	return scores.Add(like(a.bias, scores.Type()))
}

// allow takes away the keys for which cond is false.
func (a *attention) allow(cond *autograd.Node) {
	if a.allowed != nil {
		cond = a.allowed.LogicalAnd(cond)
	}
	a.allowed = cond
}

// distances returns j − i [l, s] of Int32.
func distances(d tensor.Device, l, s int) *tensor.Tensor {
	i := tensor.ArangeOf(d, tensor.Int32, 0, float64(l), 1).Reshape(l, 1)
	return tensor.ArangeOf(d, tensor.Int32, 0, float64(s), 1).Sub(i)
}

// probabilities returns the softmax of scores that biased has made, of a's type: 0 for a query that attends to no key.
func (a *attention) probabilities(s *autograd.Node) *autograd.Node {
	if a.sink != nil {
		shape := s.Shape()
		sink := like(a.sink, s.Type()).Expand(shape[0], shape[1], shape[2], 1)
		p := like(autograd.Concat(3, s, sink), a.softmax).Softmax(-1).Slice(3, 0, shape[3])
		return like(p, a.q.Type())
	}
	if a.bias == nil || s.Len() == 0 {
		return like(like(s, a.softmax).Softmax(-1), a.q.Type())
	}
	bias := a.bias.Value()
	if bias.Rank() == 0 {
		bias = bias.Reshape(1)
	}
	blind := autograd.Const(bias.Max(-1, tensor.Keepdims).EqScalar(math.Inf(-1)))
	return like(like(s.MaskedFill(blind, 0), a.softmax).Softmax(-1), a.q.Type()).MaskedFill(blind, 0)
}

// weigh returns the means of the values [b, h, l, e].
func (a *attention) weigh(p *autograd.Node) *autograd.Node {
	return like(a.product(p, a.v), a.q.Type())
}

// splitHeads returns x [b, l, h·d] as [b, h, l, d].
func splitHeads(c *Call, x *autograd.Node, heads int) *autograd.Node {
	shape := x.Shape()
	if len(shape) != 3 || heads < 1 || shape[2]%heads != 0 {
		c.Fail("%v is not [batch, length, heads·features] of %d heads", shape, heads)
	}
	return x.Reshape(shape[0], shape[1], heads, shape[2]/heads).Transpose(0, 2, 1, 3)
}

// joinHeads returns x [b, h, l, d] as [b, l, h·d].
func joinHeads(x *autograd.Node) *autograd.Node {
	shape := x.Shape()
	return x.Transpose(0, 2, 1, 3).Reshape(shape[0], shape[2], shape[1]*shape[3])
}

// inSingle returns floats in float32 or more.
func inSingle(x *autograd.Node) *autograd.Node {
	if x.Type() == tensor.Float64 {
		return x
	}
	return like(x, tensor.Float32)
}

// attentionOf is the operator Attention.
func attentionOf(c *Call) []*Value {
	q, k, v := c.Node(0), c.Node(1), c.Node(2)
	joined := q.Rank() == 3
	if joined {
		heads := c.Int("kv_num_heads", 0)
		q, k, v = splitHeads(c, q, c.Int("q_num_heads", 0)), splitHeads(c, k, heads), splitHeads(c, v, heads)
	}
	past := 0
	if c.Has(4) != c.Has(5) {
		c.Fail("past_key and past_value are used together")
	}
	if c.Has(4) {
		if c.Has(6) {
			c.Fail("nonpad_kv_seqlen is not used with past_key")
		}
		key, value := c.Node(4), c.Node(5)
		if key.Rank() != 4 || k.Rank() != 4 || v.Rank() != 4 {
			c.Fail("past_key %v before key %v: they have 4 axes", key.Shape(), k.Shape())
		}
		past = key.Shape()[2]
		k, v = autograd.Concat(2, key, k), autograd.Concat(2, value, v)
	}
	a := newAttention(c, q, k, v)
	if c.HasAttribute("scale") {
		a.scale = c.Float("scale", 0)
	}
	a.softcap = max(c.Float("softcap", 0), 0)
	a.softmax = c.TypeAttribute("softmax_precision", q.Type())
	if !a.softmax.Float() {
		c.Fail("softmax_precision is %v, and should be of floats", a.softmax)
	}
	a.see(c, past)
	if mask := c.NodeOr(3); mask != nil {
		a.mask(c, mask)
	}
	out := []*autograd.Node{nil, k, v, nil}
	if c.Wants(3) {
		out[0], out[3] = a.both(c)
	} else {
		out[0] = a.run()
	}
	if joined {
		out[0] = joinHeads(out[0])
	}
	return Out(out...)
}

// see limits the keys by is_causal, the windows and nonpad_kv_seqlen.
func (a *attention) see(c *Call, past int) {
	b, _, _, l, s := a.sizes()
	left, right := c.Int("left_window_size", -1), c.Int("right_window_size", -1)
	if left < -1 || right < -1 {
		c.Fail("the windows are %d and %d, and should be -1 or more", left, right)
	}
	causal := c.Bool("is_causal", false)
	if causal {
		right = 0
	}
	lengths := c.NodeOr(6)
	if lengths == nil {
		switch {
		case causal && left < 0 && past == 0:
			a.causal = true
			return
		case left < 0 && (right < 0 || past+right >= s-1):
			return
		}
	}
	distance := autograd.Const(distances(a.q.Device(), l, s))
	if lengths != nil {
		if lengths.Len() != b {
			c.Fail("nonpad_kv_seqlen is %v for a batch of %d", lengths.Shape(), b)
		}
		lengths = lengths.To(tensor.Int32).Reshape(b, 1, 1, 1)
		a.allow(autograd.Const(tensor.ArangeOf(a.q.Device(), tensor.Int32, 0, float64(s), 1)).Lt(lengths))
		distance = distance.Sub(lengths.SubScalar(float64(l)))
	} else {
		distance = distance.SubScalar(float64(past))
	}
	if right >= 0 {
		a.allow(distance.LeScalar(float64(min(right, math.MaxInt32))))
	}
	if left >= 0 {
		a.allow(distance.GeScalar(-float64(min(left, math.MaxInt32))))
	}
}

// mask adds an attn_mask, whose keys may be fewer than there are: the others are not attended to.
func (a *attention) mask(c *Call, m *autograd.Node) {
	_, _, _, _, s := a.sizes()
	isBool := m.Type() == tensor.Bool
	if !isBool {
		m = like(m, a.q.Type())
	}
	if n := m.Rank(); n > 0 && m.Shape()[n-1] < s && (c.Version() >= 24 || m.Shape()[n-1] != 1) {
		options := tensor.PadOptions{}
		if !isBool {
			options.Value = math.Inf(-1)
		}
		m = m.Pad([][2]int{{0, s - m.Shape()[n-1]}}, options)
	}
	if isBool {
		a.allow(m)
		return
	}
	a.bias = m
}

// both returns what run does, and the scores that qk_matmul_output_mode asks for.
func (a *attention) both(c *Call) (y, scores *autograd.Node) {
	raw := a.scores()
	capped := a.capped(raw)
	biased := a.biased(capped)
	p := a.probabilities(biased)
	y = a.weigh(p)
	switch mode := c.Int("qk_matmul_output_mode", 0); mode {
	case 0:
		return y, raw
	case 1:
		return y, capped
	case 2:
		return y, biased.Expand(raw.Shape()...)
	case 3:
		return y, p
	default:
		c.Fail("qk_matmul_output_mode is %d, and should be 0 to 3", mode)
	}
	return nil, nil
}

// flexAttention is attention whose scores and probabilities graphs change.
func flexAttention(c *Call) []*Value {
	a := newAttention(c, c.Node(0), c.Node(1), c.Node(2))
	if c.HasAttribute("scale") {
		a.scale = c.Float("scale", 0)
	}
	wide := tensor.Float32
	if a.q.Type() == tensor.Float64 {
		wide = tensor.Float64
	}
	wide = c.TypeAttribute("softmax_precision", wide)
	if !wide.Float() {
		c.Fail("softmax_precision is %v, and should be of floats", wide)
	}
	change := func(name string, x *autograd.Node) *autograd.Node {
		if !c.HasAttribute(name) {
			return x
		}
		out := c.Graph(name, fromNode(x))
		if len(out) != 1 || out[0] == nil || out[0].any() == nil {
			c.Fail("%s gives %v, and should give one tensor", name, out)
		}
		return like(c.r.on(out[0], c.onHost), wide).Expand(x.Shape()...)
	}
	scores := change("score_mod", like(a.scores(), wide))
	p := change("prob_mod", scores.Softmax(-1))
	return Out(like(a.product(p, like(a.v, wide)), a.v.Type()))
}

// splitDims returns a shape [b, l, heads·d] as [b, heads, l, d].
func splitDims(dims []Dim, heads int) []Dim {
	if len(dims) != 3 {
		return make([]Dim, 4)
	}
	n := NewDim(heads)
	d, _ := dims[2].exactly(n)
	return []Dim{dims[0], n, dims[1], d}
}

func attentionShape(c *ShapeCall) []Known {
	q, k, v, typ := c.Dims(0), c.Dims(1), c.Dims(2), c.Type(0)
	if q == nil || k == nil || v == nil {
		return []Known{{Type: typ}, {Type: c.Type(1)}, {Type: c.Type(2)}, {Type: typ}}
	}
	joined := len(q) == 3
	if joined {
		heads := c.Int("kv_num_heads", 0)
		q, k, v = splitDims(q, c.Int("q_num_heads", 0)), splitDims(k, heads), splitDims(v, heads)
	}
	if len(q) != 4 || len(k) != 4 || len(v) != 4 {
		return nil
	}
	for i, x := range [][]Dim{k, v} {
		if c.Has(4 + i) {
			past := padDims(c.Dims(4+i), len(c.Dims(4+i)) == 4, 4)
			x[2] = x[2].Add(past[2])
		}
	}
	y := []Dim{q[0], q[1], q[2], v[3]}
	if joined {
		y = []Dim{q[0], q[2], q[1].Mul(v[3])}
	}
	return []Known{{Type: typ, Dims: y}, {Type: c.Type(1), Dims: k}, {Type: c.Type(2), Dims: v},
		{Type: typ, Dims: []Dim{q[0], q[1], q[2], k[2]}}}
}

func flexAttentionShape(c *ShapeCall) []Known {
	q, v := c.Dims(0), c.Dims(2)
	if len(q) != 4 || len(v) != 4 {
		return []Known{ofRank(c.Type(2), 4)}
	}
	return []Known{{Type: c.Type(2), Dims: []Dim{q[0], q[1], q[2], v[3]}}}
}
