package autograd

import "github.com/clgrad/clgrad/tensor"

// adjoint is a linear operation and the one that is its gradient, of which it is the gradient in turn.
type adjoint struct {
	op, grad string // their names
	run      func(t *tensor.Tensor) *tensor.Tensor
	runGrad  func(t *tensor.Tensor) *tensor.Tensor
}

// applied returns what the operation makes of x.
func (a adjoint) applied(x *Node) *Node {
	return NewOp(a.op, a.run(x.use(a.op)), []*Node{x}, func(g *Node, in *Grads) {
		in.accumulateNew(0, adjoint{a.grad, a.op, a.runGrad, a.run}.applied(g))
	})
}
