package ops

import (
	"fmt"
	"sync"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// sumAxisTerms is a launch of SumAxis of few terms on a GPU as a map of them, added in the order of
// k_sum_axis.
func sumAxisTerms(a []kernels.Arg, l kernels.Target) *operation.Map {
	outer, n, inner := int(a[2].Int), int(a[3].Int), int(a[4].Int)
	scalar, _, _ := a[5].StepScalar()
	if l.CPU || n < 2 || n > kernels.MapOperands || a[5].Float != 1 || scalar != nil || a[6].Int != 0 {
		return nil
	}
	m := &operation.Map{Codegen: true, Dims: []int{outer, inner}}
	for k := range n {
		m.Operands = append(m.Operands, kernels.ViewOf(a, 0, k*inner, n*inner, 1))
	}
	m.Results = []operation.Result{{Function: addOf(n, sumAxisGrid(a, l).Local[1]),
		View: kernels.ViewOf(a, 1, 0, inner, 1)}}
	return m
}

var sums sync.Map // by how many terms they have, and slices: see addOf

// addOf returns the function that adds n operands as a work-group of k_sum_axis with so many slices
// does.
func addOf(n, slices int) *kernels.Function {
	key := [2]int{n, slices}
	if f, ok := sums.Load(key); ok {
		return f.(*kernels.Function)
	}
	add := func(x, y *expr.Expr) *expr.Expr {
		switch {
		case x == nil:
			return y
		case y == nil:
			return x
		}
		return x.Add(y)
	}
	x := expr.Input
	parts := make([]*expr.Expr, slices) // nil: 0
	for s := range parts {
		k := s
		for ; k+7*slices < n; k += 8 * slices {
			at := func(j int) *expr.Expr { return x(k + j*slices) }
			parts[s] = add(parts[s], at(0).Add(at(1)).Add(at(2).Add(at(3))).Add(at(4).Add(at(5)).Add(at(6).Add(at(7)))))
		}
		for ; k < n; k += slices {
			parts[s] = add(parts[s], x(k))
		}
	}
	for span := slices / 2; span > 0; span /= 2 {
		for s := range span {
			parts[s] = add(parts[s], parts[s+span])
		}
	}
	// The sums of the kernel begin with 0, so that of terms that are all −0 it is 0.
	f := &kernels.Function{Name: fmt.Sprintf("sum_of_%d_in_%d", n, slices), Value: parts[0].Add(expr.Const(0))}
	now, _ := sums.LoadOrStore(key, f)
	return now.(*kernels.Function)
}
