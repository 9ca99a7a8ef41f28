package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// The update rules as formulas: those of optim.cl and adamw.cl.

// SGD, of parameters x, gradients w and velocities v, with the scalars lr, momentum and l2.
var (
	momentum     = expr.Param(1)
	sgdGradient  = expr.Param(2).FMA(x, w)
	sgdVelocity  = expr.Where(momentum.Eq(zero), sgdGradient, momentum.FMA(v, sgdGradient))
	sgdScalars   = []float64{0.01, 0.9, 0.1}
	velocity     = &kernels.Function{Name: "sgd_velocity", Value: sgdVelocity, Scalars: sgdScalars}
	sgdPlain     = &kernels.Function{Name: "sgd", Value: x.Sub(a.Mul(sgdVelocity)), Scalars: sgdScalars}
	sgdNesterovs = &kernels.Function{Name: "sgd_nesterov", Value: x.Sub(a.Mul(momentum.FMA(sgdVelocity, sgdGradient))), Scalars: sgdScalars}
)

// describeSGD: P, G, V, n, lr, momentum, l2, nesterov.
func describeSGD(in args) operations {
	p, g, v := view(in, 0, 0, 1), view(in, 1, 0, 1), view(in, 2, 0, 1)
	rule, scalars := sgdPlain, []operation.Scalar{passed(4), passed(5), passed(6)}
	if in[7].Int != 0 {
		rule = sgdNesterovs
	}
	return operations{&operation.Map{Dims: []int{int(in[3].Int)}, Operands: []kernels.View{p, g, v},
		Results: []operation.Result{{Function: rule, Scalars: scalars, View: p}, {Function: velocity, Scalars: scalars, View: v}}}}
}

// AdamW's two moments and its step, by the place of the gradient g among the operands: parameters
// x, moments v and u, with the scalars decay, b1, one_b1, b2, one_b2, step, root, eps.
func adamwFunctions(g *expr.Expr) (first, second, step *kernels.Function) {
	s := expr.Param
	m := s(1).FMA(v, s(2).Mul(g))
	squares := s(3).FMA(u, s(4).Mul(g).Mul(g))
	p := x.Mul(one.Sub(s(0))).Sub(s(5).Mul(m).Div(squares.Sqrt().FMA(s(6), s(7))))
	return &kernels.Function{Name: "adamw_first", Value: m, Scalars: adamwNumbers}, &kernels.Function{Name: "adamw_second", Value: squares, Scalars: adamwNumbers},
		&kernels.Function{Name: "adamw", Value: p, Scalars: adamwNumbers}
}

// The gradient of AdamW is operand 1, or that times a seed, operand 4.
var (
	adamwFirst, adamwSecond, adamwStep               = adamwFunctions(w)
	adamwSeededFirst, adamwSeededSecond, adamwSeeded = adamwFunctions(expr.Input(4).Mul(w))
)

// adamwMap is AdamW of n parameters, with the scalars from argument at on.
func adamwMap(n, at int, p, g, m, v kernels.View, seed ...kernels.View) kernels.Operation {
	scalars := make([]operation.Scalar, len(adamwScalars))
	for i := range scalars {
		scalars[i] = passed(at + i)
	}
	first, second, step := adamwFirst, adamwSecond, adamwStep
	if len(seed) > 0 {
		first, second, step = adamwSeededFirst, adamwSeededSecond, adamwSeeded
	}
	return &operation.Map{Rounds: true, Dims: []int{n}, Operands: append([]kernels.View{p, g, m, v}, seed...), Results: []operation.Result{
		{Function: step, Scalars: scalars, View: p}, {Function: first, Scalars: scalars, View: m}, {Function: second, Scalars: scalars, View: v}}}
}

// describeAdamW: P, G, M, V, n, and the scalars.
func describeAdamW(in args) operations {
	return operations{adamwMap(int(in[4].Int), 5, view(in, 0, 0, 1), view(in, 1, 0, 1), view(in, 2, 0, 1), view(in, 3, 0, 1))}
}

// sumPartialsOf is the sum of partial sums [groups, size] in an argument, in temporary 0.
func sumPartialsOf(in args, part, size, groups int) kernels.Operation {
	return &operation.Reduction{Function: fn.Add, Outer: 1, Len: groups, Inner: size, Shares: 1, Chunk: groups,
		X: view(in, part, 0, 0, size, 1), Y: temporary(0, 0, 0, 1)}
}

// describeReducePartials: PART, G, Y, size, groups.
func describeReducePartials(in args) operations {
	size := int(in[3].Int)
	return operations{sumPartialsOf(in, 0, size, int(in[4].Int)),
		mapped(fn.Mul, nil, []int{size}, view(in, 2, 0, 1), view(in, 1, 0, 0), temporary(0, 1))}
}

// describeAdamWPartials: P, PART, G, M, V, LOSS, SUM, size, groups, losses, scale, and the scalars.
func describeAdamWPartials(in args) operations {
	size, losses := int(in[7].Int), int(in[9].Int)
	list := operations{sumPartialsOf(in, 1, size, int(in[8].Int)),
		adamwMap(size, 11, view(in, 0, 0, 1), temporary(0, 1), view(in, 3, 0, 1), view(in, 4, 0, 1), view(in, 2, 0, 0))}
	if losses == 0 {
		return list
	}
	return append(list, &operation.Reduction{Function: fn.Add, Outer: 1, Len: losses, Inner: 1, Shares: 1, Chunk: losses,
		X: view(in, 5, 0, 0, 1, 0), Y: temporary(1, 0, 0, 0)},
		mapped(fn.MulScalar, []operation.Scalar{passed(10)}, []int{1}, view(in, 6, 0, 1), temporary(1, 1)))
}
