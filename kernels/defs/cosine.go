package defs

import "github.com/clgrad/clgrad/kernels/ir"

// CosineSimilarity is Σxw / (√max(Σx², least)·√max(Σw², least)) of lines.
func CosineSimilarity() *ir.Program {
	b := ir.NewRows("cosine_similarity")
	x, w, least := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("W", ir.Outer, ir.N, ir.Inner), b.Number("least")
	xx, ww := b.Sum(x.Square(), ir.N).Max(least).Sqrt(), b.Sum(w.Square(), ir.N).Max(least).Sqrt()
	b.Result("Y", b.Sum(x.Mul(w), ir.N).Div(xx.Mul(ww)))
	return b.Program()
}
