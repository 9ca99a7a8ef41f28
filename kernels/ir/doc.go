// Package ir says what an operation computes, once: as a short program of element-wise formulas and
// reductions at each index of a space. Everything else is made of that: OpenCL C for CPUs and GPUs,
// the vector loops of the Go device, the reference that both are compared with, the gradient.
//
// Softmax along the middle axis of [outer, n, inner] is
//
//	b := ir.New("softmax", "outer", "n", "inner")
//	x := b.Input("X", 0, 1, 2)
//	e := x.Sub(b.MaxNumber(x, 1)).Exp()
//	b.Result("Y", e.Mul(expr.Const(1).Div(b.Sum(e, 1))))
//
// which prints as
//
//	softmax [outer n inner]
//	%0 = input X [outer n inner]
//	%1 = max number over n of %0 [outer inner]
//	%2 = sum over n of exp((%0 - %1)) [outer inner]
//	Y [outer n inner] = (exp((%0 - %1)) * (1 / %2))
//
// A value is a formula of package expr: an input, a number that the launch passes, or a reduction
// is one of its leaves. Formulas have no order; reductions have that in which they were made.
//
// The program belongs to the numerics of the operation: which sums are taken, of what, and what is
// divided by what. How the sums are added is the lowering's, and the same for all: see docs/architecture.md.
package ir
