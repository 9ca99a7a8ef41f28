package autograd_test

import (
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// indexCases are those of what reads and writes by index.
func indexCases(d tensor.Device) []gradCase {
	ints := func(v []int32, shape ...int) *tensor.Tensor {
		if len(shape) == 0 {
			shape = []int{len(v)}
		}
		return devtest.New(d, v, shape...)
	}
	of := func(op string, shape []int, f func(x *node) *node) gradCase {
		return gradCase{op, [][]int{shape}, -2, 2, func(in []*node) *node { return f(in[0]) }}
	}
	two := func(op string, a, b []int, f func(x, y *node) *node) gradCase {
		return gradCase{op, [][]int{a, b}, 0.5, 2, func(in []*node) *node { return f(in[0], in[1]) }}
	}
	line, box := ints([]int32{2, 0, 2, 1}), ints([]int32{0, 2, 2, 1, 0, 0, 3, 3}, 2, 4)
	cases := []gradCase{
		of("Gather", []int{2, 4}, func(x *node) *node { return x.Square().Gather(1, box) }),
		of("Gather", []int{4, 3}, func(x *node) *node { return x.T().Gather(-1, box).Mul(x.Gather(0, box.Reshape(4, 2)).T()) }),
		two("Scatter", []int{4, 4}, []int{3, 5}, func(x, y *node) *node { return x.Square().Scatter(1, box, y.Exp()) }),
		two("ScatterAdd", []int{4, 4}, []int{3, 5}, func(x, y *node) *node { return x.Square().ScatterAdd(0, box, y.Exp()) }),
		of("ScatterAdd", []int{2, 4}, func(x *node) *node { return x.ScatterAdd(1, box, x.Square()) }),
		of("IndexSelect", []int{2, 3}, func(x *node) *node { return x.Exp().IndexSelect(-1, line) }),
		of("IndexSelect", []int{3, 2}, func(x *node) *node { return x.T().IndexSelect(1, line).Mul(x.IndexSelect(0, line).T()) }),
		two("IndexAdd", []int{3, 2}, []int{4, 2}, func(x, y *node) *node { return x.Square().IndexAdd(0, line, y.Exp()) }),
		two("IndexCopy", []int{2, 3}, []int{2, 4}, func(x, y *node) *node { return x.Square().IndexCopy(-1, line, y.Exp()) }),
		of("IndexFill", []int{2, 3}, func(x *node) *node { return x.Exp().IndexFill(1, ints([]int32{2, 2, 0}), 3) }),
		of("Index", []int{3, 4}, func(x *node) *node { return x.Square().Index(line, ints([]int32{-1, 0, 3, -1})) }),
		of("Index", []int{2, 3, 4}, func(x *node) *node {
			return x.Index(ints([]int32{1, -1}), nil, ints([]int32{0, 2, 0, 3}, 2, 2)).Square()
		}),
		two("IndexPut", []int{2, 3}, []int{2, 4}, func(x, y *node) *node { return x.Square().IndexPut([]*tensor.Tensor{nil, line}, y.Exp()) }),
		two("IndexPut", []int{3, 2}, []int{1}, func(x, y *node) *node {
			return x.Square().IndexPut([]*tensor.Tensor{line}, y.Exp(), tensor.IndexPutOptions{Accumulate: true})
		}),
		of("Embedding", []int{4, 3}, func(x *node) *node { return x.Exp().Embedding(box) }),
		of("Embedding", []int{4, 3}, func(x *node) *node {
			return x.Embedding(box, tensor.EmbeddingOptions{Padded: true, Padding: 1}).IndexFill(0, ints([]int32{0, 1}), 0)
		}),
		of("EmbeddingSum", []int{2, 4, 3}, func(g *node) *node {
			return pulled(g, []int{4, 3}, func(x *node) *node {
				return x.Embedding(box, tensor.EmbeddingOptions{Padded: true, Padding: -1})
			})
		}),
		of("Tril", []int{2, 3, 4}, func(x *node) *node { return x.Square().Tril(-1) }),
		of("Triu", []int{4, 3}, func(x *node) *node { return x.T().Square().Triu(1) }),
	}
	for _, exclude := range []bool{false, true} {
		for reduce := tensor.ScatterSum; reduce <= tensor.ScatterMax; reduce++ {
			cases = append(cases, two("ScatterReduce", []int{4, 5}, []int{3, 5}, func(x, y *node) *node {
				return x.Square().ScatterReduce(1, box, y.Exp(), reduce, tensor.ScatterOptions{ExcludeSelf: exclude})
			}))
		}
	}
	return firstOnOpenCL(d, cases)
}
