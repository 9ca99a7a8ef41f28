package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) softmax(axis int) *Node {
	const op = "Softmax"
	y := x.use(op).Softmax(axis)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			y := in.Output()
			in.AccumulateNode(0, y.Mul(g.Sub(y.Mul(g).alongSum(axis))))
			return
		}
		in.Accumulate(0, tensorapi.Impl.SoftmaxGrad(y, g.value, axis, false))
	}, y)
}

func (x *Node) logSoftmax(axis int) *Node {
	const op = "LogSoftmax"
	y := x.use(op).LogSoftmax(axis)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			in.AccumulateNode(0, g.Sub(in.Output().Exp().Mul(g.alongSum(axis))))
			return
		}
		in.Accumulate(0, tensorapi.Impl.SoftmaxGrad(y, g.value, axis, true))
	}, y)
}

func (x *Node) softmin(axis int) *Node {
	const op = "Softmin"
	y := x.use(op).Softmin(axis)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			y := in.Output()
			in.AccumulateNode(0, y.Mul(y.Mul(g).alongSum(axis).Sub(g)))
			return
		}
		minus := tensorapi.Impl.SoftmaxGrad(y, g.value, axis, false)
		in.Accumulate(0, minus.Neg())
		minus.Free()
	}, y)
}

// alongSum returns the sums along an axis, which stays at 1. A scalar has one, of one element.
func (x *Node) alongSum(axis int) *Node {
	if x.Value().Rank() == 0 {
		return x
	}
	return x.Sum(axis, tensor.Keepdims)
}
