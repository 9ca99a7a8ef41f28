//go:build linux

package main

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// reductions are those over axes: of whole tensors, of rows (the last axis) and of columns (the
// first).
func reductions() (rows []row) {
	positive := one(func(n int) operand { return between(0.5, 1.5, square(n)...) })
	over := func(op string, operands func(n int) []operand, f func(x *node, axes ...int) *node, all, axis string) {
		rows = append(rows, row{op, "all", operands, unary(func(x *node) *node { return f(x) }), all})
		for _, a := range []struct {
			name, torch string
			axis        int
		}{{"rows", "-1", -1}, {"columns", "0", 0}} {
			rows = append(rows, row{op, a.name, operands, unary(func(x *node) *node { return f(x, a.axis) }), axis + a.torch + ")"})
		}
	}
	over("Sum", matrix, (*node).Sum, "torch.sum(a)", "torch.sum(a, ")
	over("Mean", matrix, (*node).Mean, "torch.mean(a)", "torch.mean(a, ")
	over("Max", matrix, (*node).Max, "torch.amax(a)", "torch.amax(a, ")
	over("Min", matrix, (*node).Min, "torch.amin(a)", "torch.amin(a, ")
	over("LogSumExp", matrix, (*node).LogSumExp, "torch.logsumexp(a, (0, 1))", "torch.logsumexp(a, ")
	over("Var", matrix, func(x *node, axes ...int) *node { return x.Var(1, axes...) }, "torch.var(a)", "torch.var(a, ")
	over("Std", matrix, func(x *node, axes ...int) *node { return x.Std(1, axes...) }, "torch.std(a)", "torch.std(a, ")
	over("Prod", positive, (*node).Prod, "torch.prod(a)", "torch.prod(a, ")
	over("Norm", matrix, func(x *node, axes ...int) *node { return x.Norm(2, axes...) },
		"torch.linalg.vector_norm(a)", "torch.linalg.vector_norm(a, 2, ")
	index := func(f func(x *node, axes ...int) (*node, *tensor.Tensor)) func(x *node, axes ...int) *node {
		return func(x *node, axes ...int) *node { y, _ := f(x, axes...); return y }
	}
	over("MaxWithIndex", matrix, index((*node).MaxWithIndex), "torch.max(a)", "torch.max(a, ")
	over("MinWithIndex", matrix, index((*node).MinWithIndex), "torch.min(a)", "torch.min(a, ")
	over("Median", matrix, index((*node).Median), "torch.median(a)", "torch.median(a, ")
	plain := one(func(n int) operand { return constant(square(n)...) })
	found := func(f func(x *node, axes ...int) *tensor.Tensor) func(x *node, axes ...int) *node {
		return func(x *node, axes ...int) *node { return autograd.Const(f(x, axes...)) }
	}
	over("ArgMax", plain, found((*node).ArgMax), "torch.argmax(a)", "torch.argmax(a, ")
	over("ArgMin", plain, found((*node).ArgMin), "torch.argmin(a)", "torch.argmin(a, ")
	over("CountNonzero", plain, found((*node).CountNonzero), "torch.count_nonzero(a)", "torch.count_nonzero(a, ")
	over("Any", plain, found((*node).Any), "torch.any(a)", "torch.any(a, ")
	over("All", plain, found((*node).All), "torch.all(a)", "torch.all(a, ")
	whole := one(func(n int) operand { return integers(100, square(n)...) })
	over("Sum", whole, (*node).Sum, "torch.sum(a, dtype=torch.int32)", "torch.sum(a, dtype=torch.int32, dim=")
	for i := len(rows) - 3; i < len(rows); i++ {
		rows[i].what = "int32 " + rows[i].what
	}
	rows = append(rows,
		row{"SumTo", "row", matrix, unary(func(x *node) *node { return x.SumTo(x.Shape()[1]) }), "a.sum_to_size(a.shape[1])"},
		row{"SumTo", "column", matrix, unary(func(x *node) *node { return x.SumTo(x.Shape()[0], 1) }), "a.sum_to_size(a.shape[0], 1)"},
		row{"Norm", "1", matrix, unary(func(x *node) *node { return x.Norm(1, -1) }), "torch.linalg.vector_norm(a, 1, -1)"},
		row{"Norm", "inf", matrix, unary(func(x *node) *node { return x.Norm(math.Inf(1), -1) }), "torch.linalg.vector_norm(a, float('inf'), -1)"},
	)
	along := func(op string, operands func(n int) []operand, f func(x *node, axis int) *node, torch, after string) {
		rows = append(rows,
			row{op, "rows", operands, unary(func(x *node) *node { return f(x, -1) }), torch + "-1" + after},
			row{op, "columns", operands, unary(func(x *node) *node { return f(x, 0) }), torch + "0" + after})
	}
	values := func(f func(x *node, axis int) (*node, *tensor.Tensor)) func(x *node, axis int) *node {
		return func(x *node, axis int) *node { y, _ := f(x, axis); return y }
	}
	sort := func(x *node, axis int) (*node, *tensor.Tensor) { return x.Sort(axis) }
	along("CumSum", matrix, (*node).CumSum, "torch.cumsum(a, ", ")")
	along("CumProd", positive, (*node).CumProd, "torch.cumprod(a, ", ")")
	along("LogCumSumExp", matrix, (*node).LogCumSumExp, "torch.logcumsumexp(a, ", ")")
	along("CumMax", matrix, values((*node).CumMax), "torch.cummax(a, ", ")[0]")
	along("CumMin", matrix, values((*node).CumMin), "torch.cummin(a, ", ")[0]")
	along("Sort", matrix, values(sort), "torch.sort(a, ", ")[0]")
	along("ArgSort", plain, func(x *node, axis int) *node { return autograd.Const(x.ArgSort(axis)) }, "torch.argsort(a, ", ")")
	along("TopK", matrix, values(func(x *node, axis int) (*node, *tensor.Tensor) { return x.TopK(10, axis) }), "torch.topk(a, 10, ", ")[0]")
	along("KeepTopK", matrix, func(x *node, axis int) *node { return x.KeepTopK(10, axis) }, "keep_top_k(a, 10, ", ")")
	return append(rows,
		row{"CumSum", "line", line, unary(func(x *node) *node { return x.CumSum(0) }), "torch.cumsum(a, 0)"},
		row{"Sort", "line", line, unary(func(x *node) *node { y, _ := x.Sort(0); return y }), "torch.sort(a, 0)[0]"},
		row{"TopK", "line", line, unary(func(x *node) *node { y, _ := x.TopK(10, 0); return y }), "torch.topk(a, 10, 0)[0]"},
	)
}
