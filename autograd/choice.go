package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Where returns x where cond, of Uint8, is not 0, else y: of cond, x and y, whose shapes broadcast.
// It panics with tensor.ErrShape unless they do, and with tensor.ErrType unless cond is of Uint8.
// Gradients: g to what was chosen, 0 to the other, infinite or NaN as that or g may be.
func (x *Node) Where(cond, y *Node) *Node {
	return elementwise("Where", fn.Where, nil, x, y, cond)
}

// MaskedFill returns x with v where mask, of Uint8, is not 0. It panics with tensor.ErrShape unless
// the shapes broadcast, and with tensor.ErrType unless mask is of Uint8, or if v is no number of
// x's type. Gradient: g, 0 where v is.
func (x *Node) MaskedFill(mask *Node, v float64) *Node {
	return elementwise("MaskedFill", fn.MaskedFill, []float64{v}, x, mask)
}

// MaskedSelect returns the elements of x for which mask is not 0, in the order of indices, along
// one axis, as [tensor.Tensor.MaskedSelect] does: the host reads the mask, so that a step that is
// recorded cannot do that. It panics with tensor.ErrShape unless the shapes broadcast, and with
// tensor.ErrType unless mask is of Uint8. Gradient: g in those places, 0 elsewhere.
func (x *Node) MaskedSelect(mask *Node) *Node {
	const op = "MaskedSelect"
	shape, index := tensorapi.Impl.MaskedIndex(op, x.use(op), mask.use(op))
	n := 1
	for _, d := range shape {
		n *= d
	}
	return x.Expand(shape...).Reshape(n, 1).GatherRows(index).Reshape(index.Len())
}

// ClampTensor returns x limited to [low, high], element by element; a NaN wins. Where low > high,
// the result is high. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g to x
// inside and at the limits, else to the limit that it is beyond, or to high where low > high; none
// at NaN.
func (x *Node) ClampTensor(low, high *Node) *Node {
	return elementwise("ClampTensor", fn.ClampTensor, nil, x, low, high)
}

// NanToNum returns x with other numbers in place of NaN, Inf and −Inf. Numbers beyond those of the
// device's reals become the greatest and the least of them, so that NanToNum(0, math.Inf(1),
// math.Inf(-1)) is that of NumPy and PyTorch. Gradient: g, 0 where there is another number.
func (x *Node) NanToNum(nan, posInf, negInf float64) *Node {
	real := x.use("NanToNum").Device().Real()
	return elementwise("NanToNum", fn.NanToNum, []float64{nan, real.Limit(posInf), real.Limit(negInf)}, x)
}
