package autograd

import (
	"math"
	"slices"

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
	d := x.deviations("Var", xv, y, mean, correction, axes)
	return NewOp("Var", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, element(ops.VarGrad, []float64{2 / d.divisor}, x, d.mean(in), g.Reshape(d.kept...)))
	}, xv).keeping(mean)
}

func (x *Node) std(correction int, axes ...int) *Node {
	xv := x.use("Std")
	mean, y := tensorapi.Impl.Moments("Std", xv, correction, axes...)
	y.MapInPlace(fn.Sqrt, nil)
	d := x.deviations("Std", xv, y, mean, correction, axes)
	return NewOp("Std", y, []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, element(ops.StdGrad, []float64{1 / d.divisor}, x, d.mean(in), g.Reshape(d.kept...), in.Output().Reshape(d.kept...)))
	}, xv, y).keeping(mean)
}

// deviations is what the gradients of a variance read beside its operand.
type deviations struct {
	divisor float64 // n − correction, or 0
	kept    []int   // the shape with the reduced axes at 1
	mean    func(in *Grads) *Node
}

func (x *Node) deviations(op string, xv, y, mean *tensor.Tensor, correction int, axes []int) deviations {
	over := tensorapi.Impl.Axes(op, xv, axes...)
	kept := keepDims(xv.Shape(), over)
	n := xv.Len() / max(y.Len(), 1)
	return deviations{float64(max(n-correction, 0)), kept, func(in *Grads) *Node {
		if in.CreateGraph() {
			if len(over) == 0 {
				return x.Mean(tensor.Keepdims)
			}
			return x.Mean(append(slices.Clip(over), tensor.Keepdims)...)
		}
		return Const(mean).Reshape(kept...)
	}}
}
