// Package expr is element-wise functions as formulas: an [Expr] is built once from operands,
// scalars, constants and some forty primitives, and everything else is made of it: OpenCL C for
// vectors of any width ([Program.Function]), the same computation in Go by blocks of elements
// ([Eval]), derivatives ([Expr.Derivative]), and a bound of what rounding may do to a result
// ([Program.Bound]).
//
//	x := expr.Input(0)
//	f := expr.Where(x.Gt(expr.Const(0)), x.Square(), x)
//	slope := f.Derivative(0, expr.Const(1)) // by the first operand, for a gradient of 1
//
// Beside numbers there are ints: indices of elements, numbers that a launch passes as ints, words
// of random numbers ([Random]) and what is made of them. An operand may be read at a computed index
// ([Load]). A [Program] may compute several formulas, which share what they have in common.
//
// What loses accuracy or leaves the range when it is composed of others is a primitive, such as
// expm1 or hypot. Package fn has the functions that are made of these formulas.
package expr
