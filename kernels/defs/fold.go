package defs

import (
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// FoldKind says what a line is folded to.
type FoldKind int

// The kinds.
const (
	FoldSum       FoldKind = iota // Σ x
	FoldProd                      // Π x
	FoldAbs                       // Σ |x|
	FoldSquare                    // Σ x²
	FoldNorm                      // √Σ x²
	FoldPower                     // Σ |x|ᵖ
	FoldPowerNorm                 // (Σ |x|ᵖ)^(1/p)
	FoldCount                     // how many x are not 0, an int
	FoldMax                       // the largest x, NaN if one is
	FoldMin                       // the smallest x, NaN if one is
	FoldMaxAbs                    // the largest |x|
	FoldMinAbs                    // the smallest |x|
	FoldLogSumExp                 // log Σ eˣ, without overflow
	FoldKinds     = iota
)

// foldNames are the names of their programs.
var foldNames = [FoldKinds]string{
	"sums", "prods", "sums_abs", "sums_square", "norms", "sums_power", "power_norms", "counts",
	"maxima", "minima", "maxima_abs", "minima_abs", "log_sum_exps",
}

// Fold is the fold of lines, or of parts of lines.
func Fold(kind FoldKind) *ir.Program {
	b := ir.NewRows(foldNames[kind])
	b.Parts()
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	switch kind {
	case FoldSum:
		b.Result("Y", b.Sum(x, ir.N))
	case FoldProd:
		b.Result("Y", b.Prod(x, ir.N))
	case FoldAbs:
		b.Result("Y", b.Sum(x.Abs(), ir.N))
	case FoldSquare:
		b.Result("Y", b.Sum(x.Square(), ir.N))
	case FoldNorm:
		b.Result("Y", b.Sum(x.Square(), ir.N).Sqrt())
	case FoldPower:
		b.Result("Y", b.Sum(x.Abs().Pow(b.Number("p")), ir.N))
	case FoldPowerNorm:
		p := b.Number("p")
		b.Result("Y", b.Sum(x.Abs().Pow(p), ir.N).Pow(one.Div(p)))
	case FoldCount:
		b.IntResult("Y", b.Sum(expr.Where(x.Eq(zero), zero, one), ir.N))
	case FoldMax:
		b.Result("Y", b.Max(x, ir.N))
	case FoldMin:
		b.Result("Y", b.Min(x, ir.N))
	case FoldMaxAbs:
		b.Result("Y", b.Max(x.Abs(), ir.N))
	case FoldMinAbs:
		b.Result("Y", b.Min(x.Abs(), ir.N))
	case FoldLogSumExp:
		most := b.MaxNumber(x, ir.N)
		finite := expr.Where(most.Sub(most).Eq(zero), most, zero)
		e := x.Sub(finite).Min(zero).ExpOfNegative() // of an infinite maximum, which is the result, any finite number
		b.Result("Y", b.Sum(e, ir.N).Log().Add(most))
	}
	return b.Program()
}

// ExtremeGrad is the gradient of a maximum or minimum y of a line x: g in equal parts to the elements
// that attain it.
func ExtremeGrad() *ir.Program {
	b := ir.NewRows("extreme_grad")
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	y, g := b.Input("Y", ir.Outer, ir.Inner), b.Input("G", ir.Outer, ir.Inner)
	share := g.Div(b.Sum(ir.Attained(x, y, one, zero), ir.N))
	b.Result("D", ir.Attained(x, y, share, zero))
	return b.Program()
}
