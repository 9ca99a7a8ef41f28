//go:build linux

package main

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// products are those of matrices.
func products() []row {
	// tall are a matrix of n elements and a weight for its rows.
	tall := func(n int) []operand {
		width := 64
		if n >= 1e6 {
			width = 256
		}
		return []operand{param(max(1, n/width), width), param(width, width), param(width)}
	}
	batch := func(n int) []operand {
		return []operand{param(max(1, n/4096), 64, 64), param(max(1, n/4096), 64, 64)}
	}
	vectors := func(n int) []operand { return []operand{param(n), param(n)} }
	return []row{
		{"MatMul", "square", func(n int) []operand { n = min(n, 1e6); return two(n) }, binary((*node).MatMul), "a @ b"},
		{"MatMul", "tall", func(n int) []operand { return tall(n)[:2] }, binary((*node).MatMul), "a @ b"},
		{"MatMul", "batch", batch, binary((*node).MatMul), "a @ b"},
		{"MatMul", "column", func(n int) []operand { return []operand{param(square(n)...), param(square(n)[1], 1)} },
			binary((*node).MatMul), "a @ b"},
		{"Dot", "", vectors, binary((*node).Dot), "a.dot(b)"},
		{"Outer", "", func(n int) []operand { return []operand{param(square(n)[0]), param(square(n)[0])} },
			binary((*node).Outer), "a.outer(b)"},
		{"TensorDot", "", batch, binary(func(x, w *node) *node { return x.TensorDot(w, []int{0, 1}, []int{0, 1}) }),
			"torch.tensordot(a, b, dims=([0, 1], [0, 1]))"},
		{"autograd.Einsum", "batch", batch, func(in []*node) *node { return autograd.Einsum("bik,bkj->bij", in...) },
			"torch.einsum('bik,bkj->bij', a, b)"},
		{"autograd.Einsum", "heads", func(n int) []operand {
			b, h, t := heads(n)[0], heads(n)[1], heads(n)[2]
			return []operand{param(b, t, h, 64), param(b, t, h, 64)}
		}, func(in []*node) *node { return autograd.Einsum("bthd,bshd->bhts", in...) }, "torch.einsum('bthd,bshd->bhts', a, b)"},
		{"autograd.Einsum", "sum", two, func(in []*node) *node { return autograd.Einsum("ij,ij->i", in...) },
			"torch.einsum('ij,ij->i', a, b)"},
		{"Linear", "", tall, func(in []*node) *node { return in[0].Linear(in[1], in[2], nil) }, "F.linear(a, b.t(), c)"},
		{"Linear", "tanh", tall, func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.Tanh) },
			"torch.tanh(F.linear(a, b.t(), c))"},
		{"SquaredError", "", two, binary((*node).SquaredError), "F.mse_loss(a, b, reduction='sum')"},
		{"OuterAccInPlace", "", func(n int) []operand {
			rows := tall(n)[0].Shape[0]
			return []operand{constant(64, 64), constant(rows, 64), constant(rows, 64)}
		}, func(in []*node) *node {
			in[0].Value().OuterAccInPlace(in[1].Value(), in[2].Value())
			return in[0]
		}, "a.addmm_(b.t(), c)"},
	}
}

// convolutions are those, pooling and interpolation.
func convolutions() (rows []row) {
	conv := func(what string, maps, kernel, groups, stride int) {
		rows = append(rows, row{"Conv", what, func(n int) []operand {
			x := images(n)
			inner := x[1]
			m := maps
			if groups > 1 {
				inner, m = 1, x[1]
			}
			return []operand{param(x...), param(m, inner, kernel, kernel), param(m)}
		}, func(in []*node) *node {
			o := tensor.ConvOptions{Padding: []int{kernel / 2}, Stride: []int{stride}}
			if groups > 1 {
				o.Groups = in[0].Shape()[1]
			}
			return in[0].Conv(in[1], in[2], o)
		}, fmt.Sprintf("F.conv2d(a, b, c, padding=%d, stride=%d, groups=a.shape[1] if %d > 1 else 1)", kernel/2, stride, groups)})
	}
	conv("3x3", 32, 3, 1, 1)
	conv("3x3 stride 2", 32, 3, 1, 2)
	conv("1x1", 32, 1, 1, 1)
	conv("5x5", 32, 5, 1, 1)
	conv("depthwise 3x3", 0, 3, 2, 1)
	conv("depthwise 3x3 stride 2", 0, 3, 2, 2)
	conv("depthwise 5x5", 0, 5, 2, 1)
	of := func(op, what string, f func(x *node) *node, torch string) {
		rows = append(rows, row{op, what, picture, unary(f), torch})
	}
	signal := func(op, what string, f func(x *node) *node, torch string) {
		rows = append(rows, row{op, what, one(func(n int) operand { return param(signals(n)...) }), unary(f), torch})
	}
	rows = append(rows,
		row{"Conv", "one axis", func(n int) []operand { return []operand{param(signals(n)...), param(16, 16, 5), param(16)} },
			func(in []*node) *node { return in[0].Conv(in[1], in[2], tensor.ConvOptions{Padding: []int{2}}) }, "F.conv1d(a, b, c, padding=2)"},
		row{"ConvTranspose", "", func(n int) []operand { x := images(n); return []operand{param(x...), param(x[1], 16, 2, 2), param(16)} },
			func(in []*node) *node {
				return in[0].ConvTranspose(in[1], in[2], tensor.ConvTransposeOptions{Stride: []int{2}})
			}, "F.conv_transpose2d(a, b, c, stride=2)"})
	type maxOptions = tensor.MaxPoolOptions
	of("MaxPool", "2", func(x *node) *node { return x.MaxPool([]int{2, 2}) }, "F.max_pool2d(a, 2)")
	of("MaxPool", "3 stride 2", func(x *node) *node {
		return x.MaxPool([]int{3, 3}, maxOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
	}, "F.max_pool2d(a, 3, 2, 1)")
	signal("MaxPool", "one axis", func(x *node) *node { return x.MaxPool([]int{3}) }, "F.max_pool1d(a, 3)")
	of("MaxPoolWithIndex", "", func(x *node) *node { y, _ := x.MaxPoolWithIndex([]int{2, 2}); return y },
		"F.max_pool2d(a, 2, return_indices=True)[0]")
	of("AvgPool", "2", func(x *node) *node { return x.AvgPool([]int{2, 2}) }, "F.avg_pool2d(a, 2)")
	of("AvgPool", "3 stride 1", func(x *node) *node {
		return x.AvgPool([]int{3, 3}, tensor.AvgPoolOptions{Stride: []int{1, 1}, Padding: []int{1, 1}})
	}, "F.avg_pool2d(a, 3, 1, 1)")
	of("AvgPool", "3 stride 2", func(x *node) *node {
		return x.AvgPool([]int{3, 3}, tensor.AvgPoolOptions{Stride: []int{2, 2}, Padding: []int{1, 1}, ExcludePadding: true})
	}, "F.avg_pool2d(a, 3, 2, 1, count_include_pad=False)")
	signal("AvgPool", "one axis", func(x *node) *node { return x.AvgPool([]int{3}) }, "F.avg_pool1d(a, 3)")
	for _, size := range []int{1, 7} {
		what, s := fmt.Sprint(size), []int{size, size}
		of("AdaptiveAvgPool", what, func(x *node) *node { return x.AdaptiveAvgPool(s) }, "F.adaptive_avg_pool2d(a, "+what+")")
		of("AdaptiveMaxPool", what, func(x *node) *node { return x.AdaptiveMaxPool(s) }, "F.adaptive_max_pool2d(a, "+what+")")
	}
	of("AdaptiveMaxPoolWithIndex", "", func(x *node) *node { y, _ := x.AdaptiveMaxPoolWithIndex([]int{7, 7}); return y },
		"F.adaptive_max_pool2d(a, 7, return_indices=True)[0]")
	quarter := one(func(n int) operand {
		shape := images(n)
		return param(shape[0], shape[1], shape[2]/2, shape[3]/2)
	})
	for _, mode := range []struct {
		name string
		o    tensor.InterpolateOptions
	}{{"nearest", tensor.InterpolateOptions{}}, {"bilinear", tensor.InterpolateOptions{Linear: true}}} {
		rows = append(rows, row{"Interpolate", mode.name, quarter, unary(func(x *node) *node {
			return x.Interpolate([]int{2 * x.Shape()[2], 2 * x.Shape()[3]}, mode.o)
		}), "F.interpolate(a, (2 * a.shape[2], 2 * a.shape[3]), mode='" + mode.name + "')"})
	}
	return rows
}

// norms are those of lines divided by their size or their sum, attention and dropout.
func norms() (rows []row) {
	for _, s := range []struct {
		op, torch string
		f         func(x *node, axis int) *node
	}{{"Softmax", "F.softmax", (*node).Softmax}, {"LogSoftmax", "F.log_softmax", (*node).LogSoftmax}, {"Softmin", "F.softmin", (*node).Softmin}} {
		rows = append(rows,
			row{s.op, "rows", matrix, unary(func(x *node) *node { return s.f(x, -1) }), s.torch + "(a, -1)"},
			row{s.op, "columns", matrix, unary(func(x *node) *node { return s.f(x, 0) }), s.torch + "(a, 0)"},
			row{s.op, "channels", picture, unary(func(x *node) *node { return s.f(x, 1) }), s.torch + "(a, 1)"})
	}
	// weighted are lines of an image batch, and a weight and a bias for each channel.
	weighted := func(n int) []operand {
		c := images(n)[1]
		return []operand{param(images(n)...), param(c), param(c)}
	}
	lines := func(n int) []operand {
		w := square(n)[1]
		return []operand{param(square(n)...), param(w), param(w)}
	}
	qkv := func(n int) []operand { return slices.Repeat([]operand{param(heads(n)...)}, 3) }
	rng := tensor.NewRNG(5)
	return append(rows,
		row{"LayerNorm", "", lines, func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-5) },
			"F.layer_norm(a, a.shape[-1:], b, c)"},
		row{"RMSNorm", "", func(n int) []operand { return lines(n)[:2] }, func(in []*node) *node { return in[0].RMSNorm(-1, in[1], 1e-5) },
			"F.rms_norm(a, a.shape[-1:], b, 1e-5)"},
		row{"GroupNorm", "", weighted, func(in []*node) *node { return in[0].GroupNorm(2, in[1], in[2], 1e-5) },
			"F.group_norm(a, 2, b, c)"},
		row{"InstanceNorm", "", weighted, func(in []*node) *node { return in[0].InstanceNorm(in[1], in[2], 1e-5) },
			"F.instance_norm(a, weight=b, bias=c)"},
		row{"BatchNorm", "images", weighted, func(in []*node) *node { return in[0].BatchNorm(in[1], in[2], 1e-5) },
			"F.batch_norm(a, None, None, b, c, training=True)"},
		row{"BatchNorm", "rows", lines, func(in []*node) *node { return in[0].BatchNorm(in[1], in[2], 1e-5) },
			"F.batch_norm(a, None, None, b, c, training=True)"},
		row{"ScaledDotProductAttention", "", qkv, func(in []*node) *node {
			return in[0].ScaledDotProductAttention(in[1], in[2], nil)
		}, "F.scaled_dot_product_attention(a, b, c)"},
		row{"ScaledDotProductAttention", "causal", qkv, func(in []*node) *node {
			return in[0].ScaledDotProductAttention(in[1], in[2], nil, tensor.AttentionOptions{Causal: true})
		}, "F.scaled_dot_product_attention(a, b, c, is_causal=True)"},
		row{"Dropout", "", matrix, unary(func(x *node) *node { return x.Dropout(0.3, rng, true) }), "F.dropout(a, 0.3, True)"},
	)
}

// losses are what is trained for.
func losses() []row {
	labelled := func(n int) []operand {
		classes := square(n)[1]
		return []operand{param(square(n)...), index(classes, square(n)[0])}
	}
	targets := func(n int) []operand { return []operand{param(square(n)...), constant(square(n)...)} }
	shares := func(n int) []operand {
		return []operand{param(square(n)...), {"real", 0.1, 1, square(n), false}}
	}
	each := func(op string, f func(x, t *node) *node, torch string) row {
		return row{op, "", targets, binary(f), torch}
	}
	return []row{
		{"autograd.CrossEntropy", "", labelled, func(in []*node) *node { return autograd.CrossEntropy(in[0], in[1].Value()) }, "F.cross_entropy(a, b)"},
		{"autograd.NLL", "", labelled, func(in []*node) *node { return autograd.NLL(in[0], in[1].Value()) }, "F.nll_loss(a, b)"},
		{"autograd.BCEWithLogits", "", shares, binary(func(x, t *node) *node { return autograd.BCEWithLogits(x, t) }),
			"F.binary_cross_entropy_with_logits(a, b)"},
		each("autograd.MSE", func(x, t *node) *node { return autograd.MSE(x, t) }, "F.mse_loss(a, b)"),
		each("autograd.L1", func(x, t *node) *node { return autograd.L1(x, t) }, "F.l1_loss(a, b)"),
		each("autograd.Huber", func(x, t *node) *node { return autograd.Huber(x, t, 0.75) }, "F.huber_loss(a, b, delta=0.75)"),
		each("autograd.SmoothL1", func(x, t *node) *node { return autograd.SmoothL1(x, t, 0.75) }, "F.smooth_l1_loss(a, b, beta=0.75)"),
		{"autograd.KLDivergence", "", shares, binary(func(x, t *node) *node { return autograd.KLDivergence(x, t) }), "F.kl_div(a, b, reduction='mean')"},
		{"autograd.CosineSimilarity", "", two, binary(func(x, y *node) *node { return autograd.CosineSimilarity(x, y, -1, 1e-8) }),
			"F.cosine_similarity(a, b, dim=-1)"},
		each("autograd.HingeEmbedding", func(x, t *node) *node { return autograd.HingeEmbedding(x, t, 1) }, "F.hinge_embedding_loss(a, b)"),
		{"autograd.TripletMargin", "", func(n int) []operand { return append(two(n), param(square(n)...)) }, func(in []*node) *node {
			return autograd.TripletMargin(in[0], in[1], in[2])
		}, "F.triplet_margin_loss(a, b, c)"},
	}
}
