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
}

// Norm is (x − mean)·rstd·w + b of lines x, with rstd = 1/√(variance + eps), and the mean and rstd.
// The mean is computed twice: Σx/n, then plus the mean of the differences from it. The square of the
// correction is subtracted from the mean square. A line whose squares overflow has the rstd NaN. Source:
// Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician 37,
// 1983, the corrected two-pass algorithm.
func Norm(f NormForm) *ir.Program {
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
	b := ir.NewRows(name)
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
		mean, square = meanAndSquares(b, x, zero, n)
		square = square.Div(n)
	} else {
		square = b.Sum(x.Square(), ir.N).Div(n)
	}
	rstd := expr.Where(square.Eq(expr.Const(math.Inf(1))), expr.Const(math.NaN()), one.Div(square.Add(b.Number("eps")).Sqrt()))
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
