package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "LinearAttention", Since: 27,
			Attributes: "chunk_size kv_num_heads q_num_heads scale update_rule", Run: linearAttention, Shape: linearAttentionShape},
		Operator{Name: "CausalConvWithState", Since: 27, Attributes: "activation", Run: causalConv, Shape: causalConvShape},
	)
}

// linearAttention reads a state S [b, g, d, e] that every token writes to: S = exp(decay)·S + k ⊗ v, where by a rule of
// deltas v is beta·(v − Sᵀ·k). The output is scale·qᵀ·S. It is computed in float32 or more, token by token.
func linearAttention(c *Call) []*Value {
	rule := c.String("update_rule", "gated_delta")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	switch {
	case !gated && !delta && rule != "linear":
		c.Fail("update_rule is %q, and should be linear, gated, delta or gated_delta", rule)
	case gated != c.Has(4):
		c.Fail("a decay goes with the update_rule gated or gated_delta: it is %s", rule)
	case delta != c.Has(5):
		c.Fail("a beta goes with the update_rule delta or gated_delta: it is %s", rule)
	}
	heads, groups := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	if groups < 1 || heads < 1 || heads%groups != 0 {
		c.Fail("q_num_heads %d should be a multiple of kv_num_heads %d", heads, groups)
	}
	typ := c.Node(0).Type()
	in := func(i, heads int) *autograd.Node { return splitHeads(c, inSingle(c.Node(i)), heads) }
	q, k, v := in(0, heads), in(1, groups), in(2, groups)
	b, tokens, d, e := q.Shape()[0], q.Shape()[2], q.Shape()[3], v.Shape()[3]
	for i, x := range []*autograd.Node{q, k, v} {
		if s := x.Shape(); s[0] != b || s[2] != tokens || i == 1 && s[3] != d {
			c.Fail("query %v, key %v and value %v do not fit", c.Shape(0), c.Shape(1), c.Shape(2))
		}
	}
	q = q.MulScalar(linearScale(c, d)).Reshape(b, groups, heads/groups, tokens, d)
	state, stateType := autograd.Const(tensor.ZerosOf(c.Device(), q.Type(), b, groups, d, e)), typ
	if past := c.NodeOr(3); past != nil {
		stateType = past.Type()
		state = inSingle(past).Expand(b, groups, d, e)
	}
	var decay, beta *autograd.Node
	if gated { // a decay of each feature of the keys, or one of each head
		decay = in(4, groups).Exp().Expand(b, groups, tokens, d).Unsqueeze(4)
	}
	if delta {
		beta = in(5, c.Shape(5)[c.Value(5).any().Rank()-1]).Expand(b, groups, tokens, 1)
	}
	outputs := make([]*autograd.Node, 0, tokens)
	for t := range tokens {
		key, value := k.Slice(2, t, t+1), v.Slice(2, t, t+1)
		if gated {
			state = state.Mul(decay.Select(2, t))
		}
		if delta {
			value = value.Sub(key.MatMul(state)).Mul(beta.Slice(2, t, t+1))
		}
		state = state.Add(key.Transpose(0, 1, 3, 2).Mul(value))
		outputs = append(outputs, q.Select(3, t).MatMul(state).Reshape(b, 1, heads*e))
	}
	y := autograd.Const(tensor.ZerosOf(c.Device(), typ, b, 0, heads*e))
	if tokens > 0 {
		y = like(autograd.Concat(1, outputs...), typ)
	}
	return Out(y, like(state, stateType))
}

// linearScale is the attribute scale, 1/√d where it is 0.
func linearScale(c *Call, d int) float64 {
	if scale := c.Float("scale", 0); scale != 0 {
		return scale
	}
	return defaultScale(d)
}

// causalConv is the convolution of each channel with its own weights, over what came before: past_state [b, c, k−1].
func causalConv(c *Call) []*Value {
	x, w, bias := c.Node(0), c.Node(1), c.NodeOr(2)
	xs, ws := x.Shape(), w.Shape()
	if len(xs) != 3 || len(ws) != 3 || ws[0] != xs[1] || ws[1] != 1 || ws[2] < 1 {
		c.Fail("an input %v with weights %v, want [b, c, l] and [c, 1, k]", xs, ws)
	}
	state := ws[2] - 1
	past := c.NodeOr(3)
	if past == nil {
		past = autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), xs[0], xs[1], state))
	}
	all := autograd.Concat(2, past.Expand(xs[0], xs[1], state), x)
	y := autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), xs...))
	if y.Len() > 0 {
		y = like(all.Conv(w, bias, tensor.ConvOptions{Groups: xs[1]}), x.Type())
	}
	switch activation := c.String("activation", "none"); activation {
	case "none":
	case "silu", "swish":
		y = y.SiLU()
	default:
		c.Unsupported("activation %q", activation)
	}
	return Out(y, all.Slice(2, xs[2], xs[2]+state))
}

func linearAttentionShape(c *ShapeCall) []Known {
	heads, groups, stateType := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0), c.Type(0)
	q, v := splitDims(c.Dims(0), heads), splitDims(c.Dims(2), groups)
	if c.Has(3) {
		stateType = c.Type(3)
	}
	return []Known{{Type: c.Type(0), Dims: []Dim{q[0], q[2], NewDim(heads).Mul(v[3])}},
		{Type: stateType, Dims: []Dim{q[0], NewDim(groups), q[3], v[3]}}}
}

func causalConvShape(c *ShapeCall) []Known {
	state := ofRank(c.Type(0), 3)
	if x, w := c.Dims(0), c.Dims(1); len(x) == 3 && len(w) == 3 {
		state.Dims = []Dim{x[0], x[1], w[2].Sub(NewDim(1))}
	}
	return []Known{c.In(0).as(c.Type(0)), state}
}
