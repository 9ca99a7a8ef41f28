package defs

import (
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

var zero, one = expr.Const(0), expr.Const(1)

// exponentials returns the differences of a line from its maximum, and their exponentials. A line
// of NaN, or of −∞, has the maximum −∞, and NaN for each difference.
func exponentials(b *ir.Builder, x *expr.Expr) (difference, e *expr.Expr) {
	difference = x.Sub(b.MaxNumber(x, ir.N))
	return difference, difference.ExpOfNegative()
}

// Softmax is e/Σ e along n, with e = exp(x − max x).
func Softmax() *ir.Program {
	b := ir.NewRows("softmax")
	_, e := exponentials(b, b.Input("X", ir.Outer, ir.N, ir.Inner))
	b.Result("Y", e.Mul(one.Div(b.Sum(e, ir.N))))
	return b.Program()
}

// Softmin is the softmax of −x.
func Softmin() *ir.Program {
	b := ir.NewRows("softmin")
	_, e := exponentials(b, b.Input("X", ir.Outer, ir.N, ir.Inner).Neg())
	b.Result("Y", e.Mul(one.Div(b.Sum(e, ir.N))))
	return b.Program()
}

// LogSoftmax is log(e/Σ e), also where that is of 0.
func LogSoftmax() *ir.Program {
	b := ir.NewRows("log_softmax")
	d, e := exponentials(b, b.Input("X", ir.Outer, ir.N, ir.Inner))
	b.Result("Y", d.Sub(b.Sum(e, ir.N).Log()))
	return b.Program()
}

// SoftmaxGrad is y·(g − Σ g·y) of a softmax y.
func SoftmaxGrad() *ir.Program {
	b := ir.NewRows("softmax_grad")
	y, g := b.Input("Y", ir.Outer, ir.N, ir.Inner), b.Input("GY", ir.Outer, ir.N, ir.Inner)
	b.Result("DX", y.Mul(g.Sub(b.Sum(g.Mul(y), ir.N))))
	return b.Program()
}

// SoftminGrad is −y·(g − Σ g·y) of a softmin y.
func SoftminGrad() *ir.Program {
	b := ir.NewRows("softmin_grad")
	y, g := b.Input("Y", ir.Outer, ir.N, ir.Inner), b.Input("GY", ir.Outer, ir.N, ir.Inner)
	b.Result("DX", y.Mul(b.Sum(g.Mul(y), ir.N).Sub(g)))
	return b.Program()
}

// LogSoftmaxGrad is g − exp(y)·Σ g of the logarithm of a softmax, y.
func LogSoftmaxGrad() *ir.Program {
	b := ir.NewRows("log_softmax_grad")
	y, g := b.Input("Y", ir.Outer, ir.N, ir.Inner), b.Input("GY", ir.Outer, ir.N, ir.Inner)
	b.Result("DX", g.Sub(y.ExpOfNegative().Mul(b.Sum(g, ir.N))))
	return b.Program()
}
