package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Softmax returns e/Σ e along an axis, with e = exp(x − max x): shares of 1. A line of −∞, and one
// with NaN or +∞, is NaN. It panics with tensor.ErrAxis for an axis that x has not; a scalar has
// the axes 0 and −1 here. Gradient: y·(g − Σ g·y).
func (x *Node) Softmax(axis int) *Node {
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

// LogSoftmax returns the logarithm of [Node.Softmax], x − max x − log Σ exp(x − max x), also where
// that would be 0. It panics as that does. Gradient: g − exp(y)·Σ g.
func (x *Node) LogSoftmax(axis int) *Node {
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

// Softmin returns [Node.Softmax] of −x, and panics as that does. Gradient: −y·(g − Σ g·y).
func (x *Node) Softmin(axis int) *Node {
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
