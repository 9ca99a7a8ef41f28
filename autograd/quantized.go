package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// MatMulQuantized returns the product of x […, k], whose leading axes are rows, and a matrix [k, n] of constant
// weights, […, n]: see [tensor.MatMulQuantized]. Autocast changes nothing. It panics as that does.
//
// Gradient: g·Wᵀ, of W as floats, which are made for it and freed behind it.
func MatMulQuantized(x *Node, w *tensor.QuantizedMatrix) *Node {
	const op = "MatMulQuantized"
	xv := x.use(op)
	if typ := xv.Type(); typ.Half() {
		return MatMulQuantized(x.To(tensor.Float32), w).To(typ)
	}
	y := tensor.MatMulQuantized(xv, w)
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		floats := w.Dequantize()
		if !in.CreateGraph() { // else the product of the gradient needs it
			defer floats.Free()
		}
		rows := 1
		for _, n := range x.Shape()[:x.Rank()-1] {
			rows *= n
		}
		product := g.Reshape(rows, w.Shape()[1]).MatMul(Const(floats).T())
		in.AccumulateNode(0, product.Reshape(x.Shape()...))
	}, tensorapi.Impl.QuantizedMemory(w)...)
}
