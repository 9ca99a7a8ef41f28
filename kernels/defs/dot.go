package defs

import "github.com/clgrad/clgrad/kernels/ir"

// Dot is the sum of the products of two lines, or of parts of lines.
func Dot() *ir.Program {
	b := ir.NewRows("dots")
	b.Parts()
	x, w := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("W", ir.Outer, ir.N, ir.Inner)
	b.Result("Y", b.Sum(x.Mul(w), ir.N))
	return b.Program()
}
