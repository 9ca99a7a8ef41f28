package defs

import "github.com/clgrad/clgrad/kernels/ir"

// SquaredError is the sum of (x − t)² of two lines, or of parts of lines, and its gradient by x, 2(x − t).
func SquaredError() *ir.Program {
	b := ir.NewRows("squared_error")
	b.Parts()
	x, t := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("T", ir.Outer, ir.N, ir.Inner)
	e := x.Sub(t)
	b.Result("P", b.Sum(e.Mul(e), ir.N))
	b.Result("D", e.Add(e))
	return b.Program()
}
