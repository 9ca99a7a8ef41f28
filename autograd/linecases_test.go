package autograd_test

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// lineCases are the cases of operations along lines.
func lineCases() []gradCase {
	first := func(f func(x *node) (*node, *tensor.Tensor)) func(x *node) *node {
		return func(x *node) *node {
			y, _ := f(x)
			return y
		}
	}
	of := func(op string, shape []int, low, high float64, f func(x *node) *node) gradCase {
		return gradCase{op, [][]int{shape}, low, high, func(in []*node) *node { return f(in[0]) }}
	}
	cube := []int{2, 3, 4}
	scan := func(f func(x *node, axis int) (*node, *tensor.Tensor), axis int) func(x *node) *node {
		return first(func(x *node) (*node, *tensor.Tensor) { return f(x, axis) })
	}
	return []gradCase{
		unaryCase("Prod", -2, 2, func(x *node) *node { return x.Prod() }),
		unaryCase("Prod", -2, 2, func(x *node) *node { return x.Prod(0, tensor.Keepdims) }),
		of("Prod", cube, -2, 2, func(x *node) *node { return x.Prod(0, 2) }),
		unaryCase("Prod", -2, 2, func(x *node) *node { return x.ReLU().Prod(1) }), // of zeros, too
		of("Prod", []int{}, -2, 2, func(x *node) *node { return x.Prod() }),
		unaryCase("CumSum", -2, 2, func(x *node) *node { return x.CumSum(1) }),
		of("CumSum", cube, -2, 2, func(x *node) *node { return x.Transpose().CumSum(-2) }),
		unaryCase("CumProd", -2, 2, func(x *node) *node { return x.CumProd(-1) }),
		of("CumProd", cube, -2, 2, func(x *node) *node { return x.CumProd(1) }),
		of("CumProd", []int{4, 1}, -2, 2, func(x *node) *node { return x.CumProd(1) }),
		unaryCase("LogCumSumExp", -2, 2, func(x *node) *node { return x.LogCumSumExp(1) }),
		of("LogCumSumExp", cube, -2, 2, func(x *node) *node { return x.LogCumSumExp(0) }),
		unaryCase("CumMax", -2, 2, scan((*node).CumMax, 1)),
		of("CumMax", cube, -2, 2, scan((*node).CumMax, -2)),
		unaryCase("CumMin", -2, 2, scan((*node).CumMin, 0)),
		of("CumMin", []int{}, -2, 2, scan((*node).CumMin, 0)),
		unaryCase("Sort", -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.Sort(1) })),
		of("Sort", cube, -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.Sort(-2, tensor.SortOptions{Descending: true}) })),
		of("Sort", []int{}, -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.Sort(0) })),
		unaryCase("TopK", -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.TopK(2, -1) })),
		of("TopK", cube, -2, 2, first(func(x *node) (*node, *tensor.Tensor) {
			return x.Transpose().TopK(2, 1, tensor.TopKOptions{Smallest: true})
		})),
		unaryCase("KeepTopK", -2, 2, func(x *node) *node { return x.KeepTopK(2, 1) }),
		of("KeepTopK", cube, -2, 2, func(x *node) *node { return x.KeepTopK(1, 0) }),
		unaryCase("Median", -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.Median() })),
		of("Median", cube, -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.Median(0, tensor.Keepdims, 2) })),
		of("LinearScan", []int{3, 5}, -2, 2, func(g *node) *node { // the gradient of products, which has one by both
			x := autograd.Param(devtest.New(g.Device(), []float64{1, 2, -1, 0.5, 3, 1, 1, 2, 2, 1, 3, 1, -1, 1, 2}, 3, 5), "x")
			slope, err := autograd.Grad(x.CumProd(1), []*node{x}, autograd.GradOptions{Seed: g, CreateGraph: true})
			if err != nil {
				panic(err)
			}
			return slope[0]
		}),
		unaryCase("LogSumExp", -3, 3, func(x *node) *node { return x.LogSumExp() }),
		unaryCase("LogSumExp", -3, 3, func(x *node) *node { return x.T().LogSumExp(0) }),
		of("LogSumExp", []int{2, 3, 4}, -3, 3, func(x *node) *node { return x.LogSumExp(0, -1, tensor.Keepdims) }),
		unaryCase("Norm", 0.3, 2, func(x *node) *node { return x.Norm(2) }),
		unaryCase("Norm", -2, -0.3, func(x *node) *node { return x.Norm(1, 0) }),
		unaryCase("Norm", 0.3, 2, func(x *node) *node { return x.Norm(3, -1, tensor.Keepdims) }),
		unaryCase("Norm", -2, -0.3, func(x *node) *node { return x.Norm(0.5, 1) }),
		unaryCase("Norm", 0.3, 2, func(x *node) *node { return x.Norm(0, 1) }),
		unaryCase("Norm", -2, -0.3, func(x *node) *node { return x.Norm(math.Inf(1), 1) }),
		unaryCase("Norm", -2, -0.3, func(x *node) *node { return x.Norm(math.Inf(-1), 1) }),
		of("Norm", []int{2, 3, 4}, 0.3, 2, func(x *node) *node { return x.Norm(2, 0, 2) }),
		unaryCase("Var", -2, 2, func(x *node) *node { return x.Var(1) }),
		unaryCase("Var", -2, 2, func(x *node) *node { return x.Var(0, 0, tensor.Keepdims) }),
		of("Var", []int{2, 3, 4}, -2, 2, func(x *node) *node { return x.Transpose(1, 2, 0).Var(1, 0, 2) }),
		unaryCase("Std", -2, 2, func(x *node) *node { return x.Std(1) }),
		unaryCase("Std", -2, 2, func(x *node) *node { return x.Std(2, -1) }),
		unaryCase("MaxWithIndex", -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.MaxWithIndex(1) })),
		unaryCase("MaxWithIndex", -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.T().MaxWithIndex() })),
		of("MaxWithIndex", []int{2, 3, 4}, -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.MaxWithIndex(2, tensor.Keepdims, 0) })),
		unaryCase("MinWithIndex", -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.MinWithIndex(0, tensor.Keepdims) })),
		of("MinWithIndex", []int{}, -2, 2, first(func(x *node) (*node, *tensor.Tensor) { return x.MinWithIndex() })),
		of("AddRuns", []int{3, 5}, -2, 2, func(g *node) *node {
			return pulled(g, []int{3, 5}, first(func(x *node) (*node, *tensor.Tensor) { return x.CumMax(1) }))
		}),
		of("PlaceAlong", []int{3}, -2, 2, func(g *node) *node {
			return pulled(g, []int{3, 5}, first(func(x *node) (*node, *tensor.Tensor) { return x.MaxWithIndex(1) }))
		}),
		of("TakeAlong", []int{3, 5}, -2, 2, func(h *node) *node { // the gradient of that gradient
			return pulled(h, []int{3}, func(g *node) *node {
				return pulled(g, []int{3, 5}, first(func(x *node) (*node, *tensor.Tensor) { return x.MaxWithIndex(1) }))
			})
		}),
	}
}
