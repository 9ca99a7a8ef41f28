//go:build linux

package main

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// shapes are views, copies, parts, padding, and what reads and writes elements by index.
func shapes() []row {
	batch := one(func(n int) operand { return param(images(n)...) })
	narrow := one(func(n int) operand { return param(max(16, n/16), 16) })
	padded := func(mode tensor.PadMode) func(in []*node) *node {
		return unary(func(x *node) *node {
			return x.Pad([][2]int{{3, 3}, {3, 3}}, tensor.PadOptions{Mode: mode})
		})
	}
	pair := func(f func(x, y *node) []*node) func(in []*node) *node {
		return func(in []*node) *node { return f(in[0], in[1])[0] }
	}
	parts := func(f func(x *node) []*node) func(in []*node) *node {
		return unary(func(x *node) *node { return f(x)[0] })
	}
	return []row{
		{"Reshape", "", matrix, unary(func(x *node) *node { return x.Reshape(-1) }), "a.reshape(-1)"},
		{"Transpose", "", batch, unary(func(x *node) *node { return x.Transpose(0, 2, 3, 1) }), "a.permute(0, 2, 3, 1)"},
		{"T", "", matrix, unary((*node).T), "a.t()"},
		{"Slice", "", matrix, unary(func(x *node) *node { return x.Slice(1, 3, -5) }), "a[:, 3:-5]"},
		{"Step", "", matrix, unary(func(x *node) *node { return x.Step(1, 2) }), "a[:, ::2]"},
		{"Select", "", matrix, unary(func(x *node) *node { return x.Select(1, 5) }), "a.select(1, 5)"},
		{"Expand", "", one(func(n int) operand { return param(square(n)[0], 1) }),
			unary(func(x *node) *node { return x.Expand(x.Shape()[0], x.Shape()[0]) }), "a.expand(a.shape[0], a.shape[0])"},
		{"Copy", "", matrix, unary((*node).Copy), "a.clone()"},
		{"Copy", "transposed", matrix, unary(func(x *node) *node { return x.T().Copy() }), "a.t().clone(memory_format=torch.contiguous_format)"},
		{"Copy", "permuted", batch, unary(func(x *node) *node { return x.Transpose(0, 2, 3, 1).Copy() }),
			"a.permute(0, 2, 3, 1).clone(memory_format=torch.contiguous_format)"},
		{"To", "int32", one(func(n int) operand { return constant(square(n)...) }),
			unary(func(x *node) *node { return x.To(tensor.Int32) }), "a.to(torch.int32)"},
		{"To", "real", one(func(n int) operand { return integers(100, square(n)...) }),
			unary(func(x *node) *node { return x.To(tensor.Float32) }), "a.to(torch.float32)"},
		{"autograd.Concat", "rows", two, binary(func(x, y *node) *node { return autograd.Concat(0, x, y) }), "torch.cat((a, b), 0)"},
		{"autograd.Concat", "columns", two, binary(func(x, y *node) *node { return autograd.Concat(1, x, y) }), "torch.cat((a, b), 1)"},
		{"autograd.Stack", "", two, binary(func(x, y *node) *node { return autograd.Stack(-1, x, y) }), "torch.stack((a, b), -1)"},
		{"Split", "", narrow, parts(func(x *node) []*node { return x.Split(1, 4) }), "torch.split(a, 4, 1)[0]"},
		{"SplitWithSizes", "", narrow, parts(func(x *node) []*node { return x.SplitWithSizes(1, 4, 10, 2) }),
			"torch.split_with_sizes(a, (4, 10, 2), 1)[0]"},
		{"Chunk", "", narrow, parts(func(x *node) []*node { return x.Chunk(1, 3) }), "torch.chunk(a, 3, 1)[0]"},
		{"Unbind", "", narrow, parts(func(x *node) []*node { return x.Unbind(1) }), "torch.unbind(a, 1)[0]"},
		{"Squeeze", "", one(func(n int) operand { return param(1, n, 1) }), unary(func(x *node) *node { return x.Squeeze() }), "a.squeeze()"},
		{"Unsqueeze", "", matrix, unary(func(x *node) *node { return x.Unsqueeze(1) }), "a.unsqueeze(1)"},
		{"MoveDim", "", batch, unary(func(x *node) *node { return x.MoveDim(1, -1) }), "a.movedim(1, -1)"},
		{"Flatten", "", batch, unary(func(x *node) *node { return x.Flatten(1, -1) }), "a.flatten(1, -1)"},
		{"Diagonal", "", matrix, unary(func(x *node) *node { return x.Diagonal(1, 0, 1) }), "a.diagonal(1)"},
		{"Unfold", "", matrix, unary(func(x *node) *node { return x.Unfold(1, 5, 3) }), "a.unfold(1, 5, 3)"},
		{"Tile", "", one(func(n int) operand { return param(square(n / 6)...) }), unary(func(x *node) *node { return x.Tile(2, 3) }), "a.tile(2, 3)"},
		{"RepeatInterleave", "", one(func(n int) operand { return param(square(n / 3)...) }),
			unary(func(x *node) *node { return x.RepeatInterleave(3, 1) }), "a.repeat_interleave(3, 1)"},
		{"Roll", "", matrix, unary(func(x *node) *node { return x.Roll(-7, 1) }), "a.roll(-7, 1)"},
		{"Flip", "", matrix, unary(func(x *node) *node { return x.Flip(0, -1) }), "a.flip(0, -1)"},
		{"Pad", "constant", batch, padded(tensor.PadConstant), "F.pad(a, (3, 3, 3, 3))"},
		{"Pad", "reflect", batch, padded(tensor.PadReflect), "F.pad(a, (3, 3, 3, 3), mode='reflect')"},
		{"Pad", "replicate", batch, padded(tensor.PadReplicate), "F.pad(a, (3, 3, 3, 3), mode='replicate')"},
		{"Pad", "circular", batch, padded(tensor.PadCircular), "F.pad(a, (3, 3, 3, 3), mode='circular')"},
		{"Tril", "", matrix, unary(func(x *node) *node { return x.Tril(0) }), "a.tril(0)"},
		{"Triu", "", matrix, unary(func(x *node) *node { return x.Triu(0) }), "a.triu(0)"},
		{"OneHot", "", one(func(n int) operand { return index(100, max(1, n/100)) }), unary(func(x *node) *node {
			return autograd.Const(x.Value().OneHot(100))
		}), "F.one_hot(a, 100)"},
		{"tensor.Arange", "", sized, counted(func(d tensor.Device, n int) *tensor.Tensor { return tensor.Arange(d, 0, float64(n), 1) }),
			"torch.arange(0.0, a.shape[0], 1)"},
		{"tensor.ArangeOf", "", sized, counted(func(d tensor.Device, n int) *tensor.Tensor {
			return tensor.ArangeOf(d, tensor.Int32, 0, float64(n), 1)
		}), "torch.arange(0, a.shape[0], 1, dtype=torch.int32)"},
		{"tensor.Linspace", "", sized, counted(func(d tensor.Device, n int) *tensor.Tensor { return tensor.Linspace(d, -1, 1, n) }),
			"torch.linspace(-1, 1, a.shape[0])"},
		{"tensor.Eye", "", one(func(n int) operand { return constant(square(n)[0]) }), counted(func(d tensor.Device, n int) *tensor.Tensor {
			return tensor.Eye(d, n, n)
		}), "torch.eye(a.shape[0])"},
		{"autograd.Meshgrid", "", func(n int) []operand { return []operand{param(square(n)[0]), constant(square(n)[0])} },
			pair(func(x, y *node) []*node { return autograd.Meshgrid(x, y) }), "torch.meshgrid(a, b, indexing='ij')[0]"},
	}
}

// sized is a vector of n elements, whose length is that of the result.
func sized(n int) []operand { return []operand{constant(n)} }

// counted makes a call of what has no operands but a device and a count.
func counted(f func(d tensor.Device, n int) *tensor.Tensor) func(in []*node) *node {
	return unary(func(x *node) *node { return autograd.Const(f(x.Device(), x.Shape()[0])) })
}

// indices are reads and writes by index.
func indices() []row {
	table := func(n int) (rows int) { return max(1, n/64) }
	// wide are a table of rows of 64, as many indices of rows, and rows for them.
	wide := func(n int) []operand {
		return []operand{param(table(n), 64), index(table(n), table(n)), param(table(n), 64)}
	}
	// each are a square matrix, an index for each element along rows, and a source.
	each := func(n int) []operand {
		side := square(n)[0]
		return []operand{param(side, side), index(side, side, side), param(side, side)}
	}
	rest := func(n int) []operand {
		side := square(n)[0]
		return []operand{param(side, side), index(side, n/10), index(side, n/10), param(n / 10)}
	}
	first := func(k int, operands func(n int) []operand) func(n int) []operand {
		return func(n int) []operand { return operands(n)[:k] }
	}
	reduce := func(name string, how tensor.ScatterReduction) row {
		return row{"ScatterReduce", name, each, func(in []*node) *node {
			return in[0].ScatterReduce(1, in[1].Value(), in[2], how)
		}, "a.scatter_reduce(1, b, c, '" + name + "')"}
	}
	return []row{
		{"GatherRows", "", first(2, wide), func(in []*node) *node { return in[0].GatherRows(in[1].Value()) }, "a[b]"},
		{"ScatterAddRowsInPlace", "", func(n int) []operand {
			return []operand{constant(table(n), 64), index(table(n), table(n)), constant(table(n), 64)}
		}, func(in []*node) *node {
			in[0].Value().ScatterAddRowsInPlace(in[1].Value(), in[2].Value())
			return in[0]
		}, "a.index_add_(0, b, c)"},
		{"Gather", "rows", first(2, each), func(in []*node) *node { return in[0].Gather(1, in[1].Value()) }, "a.gather(1, b)"},
		{"Gather", "columns", first(2, each), func(in []*node) *node { return in[0].Gather(0, in[1].Value()) }, "a.gather(0, b)"},
		{"Scatter", "", each, func(in []*node) *node { return in[0].Scatter(1, in[1].Value(), in[2]) }, "a.scatter(1, b, c)"},
		{"ScatterAdd", "", each, func(in []*node) *node { return in[0].ScatterAdd(1, in[1].Value(), in[2]) }, "a.scatter_add(1, b, c)"},
		reduce("sum", tensor.ScatterSum), reduce("prod", tensor.ScatterProd), reduce("mean", tensor.ScatterMean),
		reduce("amin", tensor.ScatterMin), reduce("amax", tensor.ScatterMax),
		{"IndexSelect", "rows", first(2, wide), func(in []*node) *node { return in[0].IndexSelect(0, in[1].Value()) }, "a.index_select(0, b)"},
		{"IndexSelect", "columns", func(n int) []operand {
			return []operand{param(square(n)...), index(square(n)[1], square(n)[1])}
		}, func(in []*node) *node { return in[0].IndexSelect(1, in[1].Value()) }, "a.index_select(1, b)"},
		{"IndexAdd", "", wide, func(in []*node) *node { return in[0].IndexAdd(0, in[1].Value(), in[2]) }, "a.index_add(0, b, c)"},
		{"IndexCopy", "", wide, func(in []*node) *node { return in[0].IndexCopy(0, in[1].Value(), in[2]) }, "a.index_copy(0, b, c)"},
		{"IndexFill", "", first(2, wide), func(in []*node) *node { return in[0].IndexFill(0, in[1].Value(), 2.5) }, "a.index_fill(0, b, 2.5)"},
		{"Index", "", first(3, rest), func(in []*node) *node { return in[0].Index(in[1].Value(), in[2].Value()) }, "a[b, c]"},
		{"IndexPut", "", rest, func(in []*node) *node {
			return in[0].IndexPut([]*tensor.Tensor{in[1].Value(), in[2].Value()}, in[3])
		}, "a.index_put((b, c), d)"},
		{"IndexPut", "sum", rest, func(in []*node) *node {
			return in[0].IndexPut([]*tensor.Tensor{in[1].Value(), in[2].Value()}, in[3], tensor.IndexPutOptions{Accumulate: true})
		}, "a.index_put((b, c), d, accumulate=True)"},
		{"Embedding", "", first(2, wide), func(in []*node) *node { return in[0].Embedding(in[1].Value()) }, "F.embedding(b, a)"},
	}
}
