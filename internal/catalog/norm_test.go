package catalog

import "github.com/clgrad/clgrad/tensor"

// norms are those of lines that are divided by their size or their sum, attention, and dropout.
var norms = family{"norm", []operation{
	{"Softmax", softmax((*node).Softmax)},
	{"LogSoftmax", softmax((*node).LogSoftmax)},
	{"Softmin", softmax((*node).Softmin)},
	{"LayerNorm", cases{
		"rows":  one(func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-5) }),
		"long":  one(func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-5) }),
		"empty": one(func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-5) }),
		"axes":  binary(func(x, w *node) *node { return x.LayerNorm(-2, w, nil, 1e-3) }),
		"plain": plain((*node).LayerNorm), "special": plain((*node).LayerNorm), "nan": plain((*node).LayerNorm),
	}},
	{"RMSNorm", cases{ // which PyTorch 1.13 has not: composed
		"rows":    binary(func(x, w *node) *node { return x.RMSNorm(-1, w, 1e-5) }),
		"axes":    binary(func(x, w *node) *node { return x.RMSNorm(1, w, 1e-3) }),
		"special": unary(func(x *node) *node { return x.RMSNorm(-1, nil, 1e-5) }),
		"nan":     unary(func(x *node) *node { return x.RMSNorm(-1, nil, 1e-5) }),
	}},
	{"GroupNorm", cases{
		"odd":     one(func(in []*node) *node { return in[0].GroupNorm(3, in[1], in[2], 1e-5) }),
		"flat":    binary(func(x, w *node) *node { return x.GroupNorm(2, w, nil, 1e-3) }),
		"plain":   unary(func(x *node) *node { return x.GroupNorm(1, nil, nil, 1e-5) }),
		"special": unary(func(x *node) *node { return x.GroupNorm(2, nil, nil, 1e-5) }),
		"nan":     unary(func(x *node) *node { return x.GroupNorm(2, nil, nil, 1e-5) }),
	}},
	{"InstanceNorm", cases{
		"odd":     one(func(in []*node) *node { return in[0].InstanceNorm(in[1], in[2], 1e-5) }),
		"volume":  unary(func(x *node) *node { return x.InstanceNorm(nil, nil, 1e-3) }),
		"special": unary(func(x *node) *node { return x.InstanceNorm(nil, nil, 1e-5) }),
		"nan":     unary(func(x *node) *node { return x.InstanceNorm(nil, nil, 1e-5) }),
	}},
	{"BatchNorm", cases{
		"flat": one(trained), "line": one(trained), "picture": one(trained),
		"volume": one(trained), "special": one(trained), "nan": one(trained),
		"eval": one(func(in []*node) *node {
			return in[0].BatchNorm(in[1], in[2], 1e-5, tensor.BatchNormOptions{Mean: in[3].Value(), Var: in[4].Value(), Eval: true})
		}),
		"running": values(func(in []*tensor.Tensor) []*tensor.Tensor {
			y := in[0].BatchNorm(nil, nil, 1e-5, tensor.BatchNormOptions{Mean: in[1], Var: in[2], Momentum: 0.3})
			return []*tensor.Tensor{y, in[1], in[2]}
		}),
	}},
	{"ScaledDotProductAttention", cases{
		"odd": one(attention()), "mask": one(attention()), "added": one(attention()), "special": one(attention()), "nan": one(attention()),
		"causal": one(attention(tensor.AttentionOptions{Causal: true})),
		"long":   one(attention(tensor.AttentionOptions{Causal: true})),
		"shared": one(attention(tensor.AttentionOptions{Scale: 0.3})),
	}},
	{"Dropout", cases{ // PyTorch's stream is another
		"eval": unary(func(x *node) *node { return x.Dropout(0.5, nil, false) }),
		"none": unary(func(x *node) *node { return x.Dropout(0, tensor.NewRNG(1), true) }),
		"all":  unary(func(x *node) *node { return x.Dropout(1, tensor.NewRNG(1), true) }),
	}},
	{"GLU", cases{
		"odd": unary(func(x *node) *node { return x.GLU(1) }), "last": unary(func(x *node) *node { return x.GLU(-1) }),
		"special": unary(func(x *node) *node { return x.GLU(-1) }),
	}},
	{"Normalize", cases{
		"odd":     unary(func(x *node) *node { return x.Normalize(2, 1, 1e-12) }),
		"power":   unary(func(x *node) *node { return x.Normalize(3, -1, 1e-12) }),
		"small":   unary(func(x *node) *node { return x.Normalize(1, 0, 4) }),
		"special": unary(func(x *node) *node { return x.Normalize(2, 1, 1e-12) }),
	}},
}}

func softmax(f func(x *node, axis int) *node) cases {
	along := func(axis int) func(in []*node) []*node { return unary(func(x *node) *node { return f(x, axis) }) }
	return cases{"rows": along(-1), "columns": along(0), "middle": along(1), "long": along(-1), "scalar": along(0), "empty": along(1),
		"large": along(1), "special": along(1), "nan": along(1)}
}

func plain(f func(x *node, axis int, w, b *node, eps float64) *node) func(in []*node) []*node {
	return unary(func(x *node) *node { return f(x, -1, nil, nil, 1e-5) })
}

// trained is a batch norm with weights and biases, if there are any.
func trained(in []*node) *node {
	if len(in) == 1 {
		return in[0].BatchNorm(nil, nil, 1e-5)
	}
	return in[0].BatchNorm(in[1], in[2], 1e-5)
}

// attention is that of queries, keys and values, with a mask if there is one.
func attention(options ...tensor.AttentionOptions) func(in []*node) *node {
	return func(in []*node) *node {
		var mask *node
		if len(in) > 3 {
			mask = in[3]
		}
		return in[0].ScaledDotProductAttention(in[1], in[2], mask, options...)
	}
}
