package autograd

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// MatMulQuantized returns the product of x […, k], whose leading axes are rows, and a matrix [k, n] of constant
// weights, […, n]: see [tensor.MatMulQuantized]. Autocast changes nothing. It panics as that does.
//
// Gradient: g·Wᵀ, of W as floats, which are made for it and freed behind it.
func MatMulQuantized(x *Node, w *tensor.QuantizedTensor) *Node {
	const op = "MatMulQuantized"
	xv := x.use(op)
	if typ := xv.Type(); typ.Half() {
		return MatMulQuantized(x.To(tensor.Float32), w).To(typ)
	}
	y := tensor.MatMulQuantized(xv, w)
	node := NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		product := g.Reshape(intmath.Product(x.Shape()[:x.Rank()-1]), w.Shape()[1]).MatMul(constant(w.Dequantize()).T())
		in.AccumulateNode(0, product.Reshape(x.Shape()...))
	}, tensorapi.Impl.QuantizedMemory(w)...)
	if trace.On() {
		trace.Record(op, []any{x, w}, node)
	}
	return node
}

// ConvQuantized returns the convolution of x with constant weights [out, in/groups, …], plus a bias [out], or nil: see
// [tensor.ConvQuantized]. Autocast changes nothing. It panics as that does.
//
// Gradient: of x, that of a convolution with the weights as floats, which are made for it and freed behind it; of the
// bias, the sum of g over images and positions.
func ConvQuantized(x *Node, w *tensor.QuantizedTensor, bias *Node, options ...tensor.ConvOptions) *Node {
	const op = "ConvQuantized"
	xv, bv := x.use(op), bias.useOptional(op)
	if typ := xv.Type(); typ.Half() {
		return ConvQuantized(x.To(tensor.Float32), w, bias, options...).To(typ)
	}
	y, s := tensorapi.Impl.ConvQuantized(xv, w, bv, options)
	inputs := []*Node{x}
	if bias != nil {
		inputs = append(inputs, bias)
	}
	node := NewOp(op, y, inputs, func(g *Node, in *Grads) {
		if in.NeedsGrad(0) {
			in.accumulateNew(0, g.convolve(s, true, constant(w.Dequantize()), x.Shape()))
		}
		if bias != nil && in.NeedsGrad(1) {
			in.accumulatePositions(1, g, len(w.Shape())-2)
		}
	}, tensorapi.Impl.QuantizedMemory(w)...)
	if trace.On() {
		trace.Record(op, []any{x, w, bias, options}, node)
	}
	return node
}
