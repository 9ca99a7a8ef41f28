package defs

import (
	"math"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// meanAndSquares returns the mean of a line of n elements, what rounding took off it, and the sum of the
// squared differences from the mean. The mean is computed twice: about + Σ(x − about)/n, then plus the
// mean of the differences from it, if that is finite, of which the square is taken off. Source: Chan,
// Golub, LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician 37, 1983, the
// corrected two-pass algorithm.
func meanAndSquares(b *ir.Builder, x, about, n *expr.Expr) (mean, off, squares *expr.Expr) {
	if about == zero {
		mean = b.Sum(x, ir.N).Div(n)
	} else {
		mean = about.Add(b.Sum(x.Sub(about), ir.N).Div(n))
	}
	difference := x.Sub(mean)
	squares = b.Sum(difference.Square(), ir.N)
	rest := b.Sum(difference, ir.N).Div(n)
	rest = finite(rest) // an infinite mean has none
	squares = rest.Neg().FMA(rest.Mul(n), squares)
	rounded := mean.Add(rest)
	off = finite(rest.Sub(rounded.Sub(mean)))
	return rounded, off, expr.Where(squares.Lt(zero), zero, squares) // rounding may leave less than nothing
}

// finite is x, 0 if that is infinite or NaN.
func finite(x *expr.Expr) *expr.Expr { return expr.Where(x.Sub(x).Eq(zero), x, zero) }

// Moments is the mean M of a line, or a part of one, what rounding took off it, OFF, and scale times the
// sum V of the squared differences from the mean. Where V is NaN, M is. The first mean is that of the
// differences from the first element: equal elements have exactly their mean, and 0, however many and
// large they are.
func Moments() *ir.Program {
	b := ir.NewRows("moments")
	b.Parts()
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	mean, off, squares := meanAndSquares(b, x, finite(b.First(x, ir.N)), b.Length(ir.N))
	momentsResults(b, mean, squares)
	b.Result("OFF", off)
	return b.Program()
}

func momentsResults(b *ir.Builder, mean, squares *expr.Expr) {
	b.Result("M", expr.Where(squares.IsNaN(), expr.Const(math.NaN()), mean))
	b.Result("V", b.Number("scale").Mul(squares))
}

// MomentsJoin is M and V of Moments of lines of count elements, for the means X, the squares Y and the
// OFF of their parts, with scale 1: parts of chunk elements, of which the last has `last`. Without OFF the
// variance of numbers around 10⁴ times their deviation has three digits.
func MomentsJoin() *ir.Program {
	b := ir.NewRows("moments_join")
	mean, squares := joinedMoments(b, b.Number("count"))
	momentsResults(b, mean, squares)
	return b.Program()
}

// joinedMoments returns the mean of lines and the sum of their squared differences from it, by those of
// their parts. Source: Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing
// Sample Variances", 1979.
func joinedMoments(b *ir.Builder, count *expr.Expr) (mean, squares *expr.Expr) {
	x, y := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("Y", ir.Outer, ir.N, ir.Inner)
	off := b.Input("OFF", ir.Outer, ir.N, ir.Inner)
	elements := expr.Where(expr.Index(ir.N).Float().Eq(b.Length(ir.N).Sub(one)), b.Number("last"), b.Number("chunk"))
	about := finite(b.First(x, ir.N))
	mean = about.Add(b.Sum(x.Sub(about).Add(off).Mul(elements.Div(count)), ir.N))
	return mean, b.Sum(x.Sub(mean).Add(off).Square().FMA(elements, y), ir.N)
}

// BatchStatistics is what a norm over a batch takes of MomentsJoin: the mean M, R = 1/√(variance + eps),
// and the variance V with Bessel's correction.
func BatchStatistics() *ir.Program {
	b := ir.NewRows("batch_statistics")
	count := b.Number("count")
	mean, squares := joinedMoments(b, count)
	b.Result("M", mean)
	b.Result("R", inverseDeviation(squares.Div(count), b.Number("eps")))
	b.Result("V", squares.Div(count.Sub(one)))
	return b.Program()
}
