package autograd

import "github.com/clgrad/clgrad/tensor"

// To returns x as another element type, as [tensor.Tensor.To] converts it. Gradient: as Float16,
// which rounds, and back as Real, that of x itself, in reals; as Int32 or Uint8 the node is a
// constant, for steps have no slope.
func (x *Node) To(typ tensor.Type) *Node {
	return NewOp("To", x.use("To").To(typ), []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g) })
}
