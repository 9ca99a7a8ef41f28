package autograd

import "github.com/clgrad/clgrad/tensor"

func (x *Node) to(typ tensor.Type) *Node {
	return NewOp("To", x.use("To").To(typ), []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g) })
}
