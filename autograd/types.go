package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// as is To of a type that x may have already.
func (x *Node) as(typ tensor.Type) *Node {
	if x.value.Type() == typ {
		return x
	}
	return x.To(typ)
}

// lowered returns y, which an operation on nodes computed in float32, in their type if that is of 16
// bits. Nodes that are nil do not count.
func lowered(y *Node, of ...*Node) *Node {
	half := func(n *Node) bool { return n != nil && n.value.Type().Half() }
	if y.value.Type() != tensor.Float32 || !slices.ContainsFunc(of, half) {
		return y
	}
	values := make([]*tensor.Tensor, 0, len(of))
	for _, n := range of {
		if n != nil {
			values = append(values, n.value)
		}
	}
	return y.as(tensorapi.Impl.Floats(values...))
}

func (x *Node) to(typ tensor.Type) *Node {
	return NewOp("To", x.use("To").To(typ), []*Node{x}, func(g *Node, in *Grads) { in.AccumulateNode(0, g) })
}
