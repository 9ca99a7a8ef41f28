//go:build linux

package main

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// composed are operations that are made of others.
func composed() []row {
	batch := one(func(n int) operand { return param(images(n)...) })
	shares := one(func(n int) operand { return between(0.1, 0.9, square(n)...) })
	pair := func(n int) []operand {
		return []operand{between(0.1, 0.9, square(n)...), operand{"real", 0.1, 0.9, square(n), false}}
	}
	numbers := one(func(n int) operand { return index(100, n) })
	list := one(func(n int) operand { return constant(n) })
	points := func(n int) []operand {
		side := max(2, square(n)[0]/4)
		return []operand{param(side, 16), param(side, 16)}
	}
	labelled := func(n int) []operand { return []operand{param(max(1, n/16), 16), index(16, max(1, n/16))} }
	value := func(f func(x *tensor.Tensor) *tensor.Tensor) func(in []*node) *node {
		return unary(func(x *node) *node { return autograd.Const(f(x.Value())) })
	}
	first := func(f func(x *node) (*node, *tensor.Tensor)) func(in []*node) *node {
		return unary(func(x *node) *node {
			y, _ := f(x)
			return y
		})
	}
	return []row{
		{"Kthvalue", "", matrix, first(func(x *node) (*node, *tensor.Tensor) { return x.Kthvalue(3, 1) }), "torch.kthvalue(a, 3, 1)[0]"},
		{"Mode", "", matrix, first(func(x *node) (*node, *tensor.Tensor) { return x.Mode(1) }), "torch.mode(a, 1)[0]"},
		{"Quantile", "", matrix, unary(func(x *node) *node { return x.Quantile(0.3, 1) }), "torch.quantile(a, 0.3, 1)"},
		{"Unique", "", numbers, value(func(x *tensor.Tensor) *tensor.Tensor {
			y, _, _ := x.Unique()
			return y
		}), "torch.unique(a, return_inverse=True, return_counts=True)[0]"},
		{"Bincount", "", numbers, value(func(x *tensor.Tensor) *tensor.Tensor { return x.Bincount(nil, 0) }), "torch.bincount(a)"},
		{"Histc", "", list, value(func(x *tensor.Tensor) *tensor.Tensor { return x.Histc(100, -1, 1) }), "torch.histc(a, 100, -1, 1)"},
		{"PixelShuffle", "", one(func(n int) operand { return param(max(1, n/1024), 16, 8, 8) }), unary(func(x *node) *node { return x.PixelShuffle(2) }), "torch.pixel_shuffle(a, 2)"},
		{"PixelUnshuffle", "", batch, unary(func(x *node) *node { return x.PixelUnshuffle(2) }), "torch.pixel_unshuffle(a, 2)"},
		{"Diff", "", matrix, unary(func(x *node) *node { return x.Diff(1, 1) }), "torch.diff(a)"},
		{"autograd.EmbeddingBag", "", func(n int) []operand { return []operand{param(100, 16), index(100, max(1, n/64), 4)} }, func(in []*node) *node {
			return autograd.EmbeddingBag(in[0], in[1].Value())
		}, "F.embedding_bag(b, a, mode='mean')"},
		{"tensor.LinspaceOf", "", list, value(func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.LinspaceOf(x.Device(), tensor.Int64, 0, 1000, x.Len())
		}),
			"torch.linspace(0, 1000, a.numel(), dtype=torch.int64)"},
		{"NonZero", "", one(func(n int) operand { return mask(n) }), value((*tensor.Tensor).NonZero), "torch.nonzero(a)"},
		{"SearchSorted", "", list, value(func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Linspace(x.Device(), -1, 1, 100).SearchSorted(x, false)
		}), "torch.searchsorted(torch.linspace(-1, 1, 100), a)"},
		{"Multinomial", "", one(func(n int) operand { return operand{"real", 0.1, 0.9, square(n), false} }), value(func(x *tensor.Tensor) *tensor.Tensor {
			return x.Multinomial(1, true, tensor.NewRNG(1))
		}), "torch.multinomial(a, 1)"},
		{"Bernoulli", "", one(func(n int) operand { return operand{"real", 0.1, 0.9, square(n), false} }), value(func(x *tensor.Tensor) *tensor.Tensor {
			return x.Bernoulli(tensor.NewRNG(1))
		}), "torch.bernoulli(a)"},
		{"Diag", "", matrix, unary(func(x *node) *node { return x.Diag(1) }), "torch.diag(a, 1)"},
		{"Trace", "", matrix, unary((*node).Trace), "torch.trace(a)"},
		{"Kron", "", func(n int) []operand { return []operand{param(square(n / 16)...), param(4, 4)} }, binary((*node).Kron), "torch.kron(a, b)"},
		{"Cdist", "", points, binary(func(x, y *node) *node { return x.Cdist(y, 2) }), "torch.cdist(a, b, 2.0)"},
		{"autograd.Bilinear", "", func(n int) []operand { return append(points(n), param(8, 16, 16)) }, func(in []*node) *node {
			return autograd.Bilinear(in[0], in[1], in[2], nil)
		}, "F.bilinear(a, b, c)"},
		{"autograd.MaxUnpool", "", func(n int) []operand { return []operand{param(max(1, n/64), 64), index(128, max(1, n/64), 64)} }, func(in []*node) *node {
			return autograd.MaxUnpool(in[0], in[1].Value(), []int{128})
		}, "F.max_unpool1d(a, b, 2)"},
		{"autograd.Fold", "", one(func(n int) operand { return param(max(1, n/1024), 16, 64) }), unary(func(x *node) *node {
			return autograd.Fold(x, []int{9, 9}, []int{2, 2})
		}), "F.fold(a, (9, 9), (2, 2))"},
		{"autograd.GridSample", "", func(n int) []operand { return []operand{param(1, 4, 16, 16), param(1, max(1, n/64), 16, 2)} },
			binary(func(x, grid *node) *node { return autograd.GridSample(x, grid) }), "F.grid_sample(a, b, align_corners=False)"},
		{"autograd.AffineGrid", "", one(func(n int) operand { return param(max(1, n/1024), 2, 3) }), unary(func(x *node) *node {
			return autograd.AffineGrid(x, []int{32, 32}, false)
		}), "F.affine_grid(a, (a.shape[0], 1, 32, 32), align_corners=False)"},
		{"GLU", "", batch, unary(func(x *node) *node { return x.GLU(1) }), "F.glu(a, 1)"},
		{"Normalize", "", matrix, unary(func(x *node) *node { return x.Normalize(2, 1, 1e-12) }), "F.normalize(a)"},
		{"autograd.BCE", "", pair, binary(func(x, t *node) *node { return autograd.BCE(x, t) }), "F.binary_cross_entropy(a, b)"},
		{"autograd.CrossEntropyOf", "", pair, binary(func(x, t *node) *node { return autograd.CrossEntropyOf(x, t) }), "F.cross_entropy(a, b)"},
		{"autograd.MultiMargin", "", labelled, func(in []*node) *node { return autograd.MultiMargin(in[0], in[1].Value()) }, "F.multi_margin_loss(a, b)"},
		{"autograd.CosineEmbedding", "", pair, binary(func(x, y *node) *node {
			return autograd.CosineEmbedding(x, y, autograd.Const(tensor.Full(x.Device(), 1, x.Shape()[0])), 0)
		}), "F.cosine_embedding_loss(a, b, torch.ones(a.shape[0]))"},
		{"autograd.GaussianNLL", "", shares, unary(func(x *node) *node { return autograd.GaussianNLL(x, x, x) }), "F.gaussian_nll_loss(a, a, a)"},
		{"autograd.CTC", "", func(n int) []operand { return []operand{param(10, max(1, n/100), 10), index(10, max(1, n/100), 4)} }, func(in []*node) *node {
			items := in[0].Shape()[1]
			inputs, lengths := make([]int, items), make([]int, items)
			for i := range items {
				inputs[i], lengths[i] = 10, 4
			}
			return autograd.CTC(in[0].LogSoftmax(2), in[1].Value(), inputs, lengths)
		}, "F.ctc_loss(F.log_softmax(a, 2), b, [10] * a.shape[1], [4] * a.shape[1])"},
	}
}
