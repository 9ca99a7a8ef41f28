package autograd

import (
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) logSumExp(axes ...int) *Node {
	xv := x.use("LogSumExp")
	y, kept := xv.LogSumExp(axes...), keepDims(xv.Shape(), tensorapi.Impl.Axes("LogSumExp", xv, axes...))
	return NewOp("LogSumExp", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, element(ops.LogSumExpGrad, nil, x, in.Output().Reshape(kept...), g.Reshape(kept...)))
	}, xv, y)
}

func (x *Node) pNorm(p float64, axes ...int) *Node {
	const op = "Norm"
	xv := x.use(op)
	y := xv.Norm(p, axes...)
	over := tensorapi.Impl.Axes(op, xv, axes...)
	kept := keepDims(xv.Shape(), over)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		if math.IsInf(p, 0) {
			in.AccumulateNode(0, element(ops.Norm1Grad, nil, x, g.toAttained(Const(xv).Abs().value, y, over)))
			return
		}
		g = g.Reshape(kept...)
		switch p {
		case 0:
			in.AccumulateNode(0, constant(tensor.ZerosLike(xv)))
		case 1:
			in.AccumulateNode(0, element(ops.Norm1Grad, nil, x, g))
		case 2:
			in.AccumulateNode(0, element(ops.Norm2Grad, nil, x, in.Output().Reshape(kept...), g))
		default:
			in.AccumulateNode(0, element(ops.NormPowGrad, []float64{p}, x, in.Output().Reshape(kept...), g))
		}
	}, xv, y)
}

func (x *Node) variance(correction int, axes ...int) *Node {
	xv := x.use("Var")
	mean, y := tensorapi.Impl.Moments("Var", xv, correction, axes...)
	kept, divisor := x.deviations("Var", y, correction, axes)
	return NewOp("Var", y, []*Node{x}, func(g *Node, in *Grads) {
		m := x.ofMean(mean.View(), axes)
		in.AccumulateNode(0, element(ops.VarGrad, []float64{2 / divisor}, x, m.Reshape(kept...), g.Reshape(kept...)))
	}, xv).keeping(mean)
}

func (x *Node) std(correction int, axes ...int) *Node {
	xv := x.use("Std")
	mean, y := tensorapi.Impl.Moments("Std", xv, correction, axes...)
	y.MapInPlace(fn.Sqrt, nil)
	kept, divisor := x.deviations("Std", y, correction, axes)
	return NewOp("Std", y, []*Node{x}, func(g *Node, in *Grads) {
		m := x.ofMean(mean.View(), axes)
		in.AccumulateNode(0, element(ops.StdGrad, []float64{1 / divisor}, x, m.Reshape(kept...), g.Reshape(kept...), in.Output().Reshape(kept...)))
	}, xv, y).keeping(mean)
}

// deviations returns the shape with the reduced axes at 1, and by what the sum of squares of a variance is divided: n −
// correction, or 0.
func (x *Node) deviations(op string, y *tensor.Tensor, correction int, axes []int) (kept []int, divisor float64) {
	n := x.Len() / max(y.Len(), 1)
	return keepDims(x.Shape(), tensorapi.Impl.Axes(op, x.value, axes...)), float64(max(n-correction, 0))
}
