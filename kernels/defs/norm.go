package defs

import (
	"math"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// NormForm says what a norm does beside dividing a line by the root of its mean square.
type NormForm struct {
	Centred bool // the mean is taken off first
	Weights bool // the result is multiplied by weights of channels
	Biases  bool // and biases are added
	Sums    bool // of a gradient: those of weights and biases, which all lines share, are wanted, too
}

// name is that of the program of a norm.
func (f NormForm) name() string {
	name := "rms_norm"
	if f.Centred {
		name = "layer_norm"
	}
	if f.Weights {
		name += "_w"
	}
	if f.Biases {
		name += "_b"
	}
	if f.Sums {
		name += "_sums"
	}
	return name
}

// inverseDeviation is 1/√(variance + eps). Of a variance that overflows it is NaN: 0 would hide that.
func inverseDeviation(variance, eps *expr.Expr) *expr.Expr {
	return expr.Where(variance.Eq(expr.Const(math.Inf(1))), expr.Const(math.NaN()), one.Div(variance.Add(eps).Sqrt()))
}

// Norm is (x − mean)·rstd·w + b of lines x, with rstd = 1/√(variance + eps), and the mean and rstd.
// The mean is computed twice: Σx/n, then plus the mean of the differences from it. The square of the
// correction is subtracted from the mean square. A line whose squares overflow has the rstd NaN. Source:
// Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician 37,
// 1983, the corrected two-pass algorithm.
func Norm(f NormForm) *ir.Program {
	b := ir.NewRows(f.name())
	x, n := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Length(ir.N)
	var w, bias *expr.Expr
	if f.Weights {
		w = b.Channels("W")
	}
	if f.Biases {
		bias = b.Channels("B")
	}
	mean, square := zero, (*expr.Expr)(nil)
	if f.Centred {
		mean, _, square = meanAndSquares(b, x, zero, n)
		square = square.Div(n)
	} else {
		square = b.Sum(x.Square(), ir.N).Div(n)
	}
	rstd := inverseDeviation(square, b.Number("eps"))
	y := x.Sub(mean).Mul(rstd)
	switch {
	case f.Weights && f.Biases:
		y = y.FMA(w, bias)
	case f.Weights:
		y = y.Mul(w)
	case f.Biases:
		y = x.Sub(mean).FMA(rstd, bias)
	}
	b.Result("Y", y)
	b.Result("MEAN", mean, ir.Outer, ir.Inner)
	b.Result("RSTD", rstd)
	return b.Program()
}

// NormLines is (x − mean)/√(variance + eps) of lines x, or x/√(mean square + eps): Norm alone, in a form from which
// gradients of any order are derived.
func NormLines(centred bool) *ir.Program {
	b := ir.NewRows(NormForm{Centred: centred}.name() + "_lines")
	d, variance := deviations(b, b.Input("X", ir.Outer, ir.N, ir.Inner), centred)
	b.Result("Y", d.Mul(inverseDeviation(variance, b.Number("eps"))))
	return b.Program()
}

// NormLinesGrad is the gradient of NormLines: rstd·(g − Σg/n − y·Σ(g·y)/n), without the second term if the mean is not
// taken off.
func NormLinesGrad(centred bool) *ir.Program {
	b := ir.NewRows(NormForm{Centred: centred}.name() + "_lines_grad")
	_, variance := deviations(b, b.Input("X", ir.Outer, ir.N, ir.Inner), centred)
	y, g, n := b.Input("Y", ir.Outer, ir.N, ir.Inner), b.Input("GY", ir.Outer, ir.N, ir.Inner), b.Length(ir.N)
	d := g.Sub(y.Mul(b.Sum(g.Mul(y), ir.N).Div(n)))
	if centred {
		d = d.Sub(b.Sum(g, ir.N).Div(n))
	}
	b.Result("DX", d.Mul(one.Div(variance.Add(b.Number("eps")).Sqrt())))
	return b.Program()
}

// deviations returns the elements of a line less their mean, if it is taken off, and the mean of their squares.
func deviations(b *ir.Builder, x *expr.Expr, centred bool) (d, square *expr.Expr) {
	n := b.Length(ir.N)
	if centred {
		x = x.Sub(b.Sum(x, ir.N).Div(n))
	}
	return x, b.Sum(x.Square(), ir.N).Div(n)
}

// NormGrad is the gradient D of Norm by x, for the gradient G of its result: with u = x − mean and
// g = G·w it is rstd·(g − Σg/n − u·rstd·Σ(g·u)·rstd/n), without the second term if the mean is not
// taken off. DW = ΣG·u·rstd and DB = ΣG are sums over lines.
func NormGrad(f NormForm) *ir.Program {
	f.Biases = false
	b := ir.NewRows(f.name() + "_grad")
	x, up, n := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("G", ir.Outer, ir.N, ir.Inner), b.Length(ir.N)
	g := up
	if f.Weights {
		g = up.Mul(b.Channels("W"))
	}
	mean, rstd := b.Input("MEAN", ir.Outer, ir.Inner), b.Input("RSTD", ir.Outer, ir.Inner)
	u := x.Sub(mean)
	d := g
	if f.Centred {
		d = d.Sub(b.Sum(g, ir.N).Div(n))
	}
	d = d.Sub(u.Mul(b.Sum(g.Mul(u), ir.N).Mul(rstd).Div(n).Mul(rstd)))
	b.Result("D", d.Mul(rstd))
	if f.Sums {
		b.SumOfLines("DW", up.Mul(u.Mul(rstd)))
		b.SumOfLines("DB", up)
	}
	return b.Program()
}

// NormSums is Σ G and Σ G·(x − mean)·rstd over a line or a part of one: the gradients of the bias and the
// weight of a norm's channel, for the gradient G of its result. Each line has a mean and rstd, or
// bySet each set of whole lines.
func NormSums(bySet bool) *ir.Program {
	name := "norm_sums"
	statistic := func(b *ir.Builder, name string) *expr.Expr { return b.Input(name, ir.Outer, ir.Inner) }
	if bySet {
		name, statistic = "norm_sums_of_sets", (*ir.Builder).Sets
	}
	b := ir.NewRows(name)
	if !bySet {
		b.Parts()
	}
	x, g := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("G", ir.Outer, ir.N, ir.Inner)
	mean, rstd := statistic(b, "MEAN"), statistic(b, "RSTD")
	b.Result("SG", b.Sum(g, ir.N))
	b.Result("SH", b.Sum(g.Mul(x.Sub(mean)), ir.N).Mul(rstd))
	return b.Program()
}
