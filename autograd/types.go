package autograd

import "github.com/clgrad/clgrad/tensor"

// as is To of a type that x may have already.
func (x *Node) as(typ tensor.Type) *Node {
	if x.value.Type() == typ {
		return x
	}
	return x.To(typ)
}

func (x *Node) to(typ tensor.Type) *Node {
	return NewOp("To", x.use("To").To(typ), []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g) })
}
