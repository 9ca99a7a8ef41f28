package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
)

// ConvQuantized returns the convolution of x [batch, in, …] or [in, …] with quantized weights [out, in/groups, …], plus
// a bias [out] for each channel, or nil: [Tensor.Conv] with w.Dequantize(), which is made for the call and freed behind
// it. That is a launch, and the memory of one layer's weights as floats; a convolution takes much longer, unless it has
// few positions. It is computed in float32; an x of 16 bits is converted, and the result rounded to its type. An x of
// Float64 is convolved in that. It panics as Conv does, and with ErrShape for the weights of a matrix.
func ConvQuantized(x *Tensor, w *QuantizedTensor, bias *Tensor, options ...ConvOptions) *Tensor {
	y, _ := api{}.ConvQuantized(x, w, bias, options)
	return y
}

func (api) ConvQuantized(x *Tensor, w *QuantizedTensor, bias *Tensor, options []ConvOptions) (*Tensor, *ops.ConvShape) {
	const op = "ConvQuantized"
	w.check(op, x)
	mustFloat(op, x)
	if !w.ofConv() {
		panic(&Error{Op: op, Kind: ErrShape, Shapes: [][]int{x.Shape(), w.Shape()},
			Detail: "the weights are a matrix: see MatMulQuantized"})
	}
	floats := w.Dequantize()
	defer floats.Free()
	checkConv(op, x, floats, bias)
	s := convShape(op, x, floats, options)
	return lowered(api{}.Conv(op, &s.ConvShape, false, x, floats, bias, s.result), x), &s.ConvShape
}
