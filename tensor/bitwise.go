package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Functions of the bits of integers: Int32 in two's complement, or Uint8.

// BitwiseNot returns the bits that are not set in t: of Uint8, 255 − t, so that of a mask it is no
// mask (see [Tensor.LogicalNot]). It panics with ErrType of reals.
func (t *Tensor) BitwiseNot() *Tensor { return elementwise("BitwiseNot", fn.BitwiseNot, nil, t) }

// BitwiseAnd returns the bits that are set in t and y. It panics with ErrShape unless the shapes
// broadcast, and with ErrType of reals.
func (t *Tensor) BitwiseAnd(y *Tensor) *Tensor {
	return elementwise("BitwiseAnd", fn.BitwiseAnd, nil, t, y)
}

// BitwiseOr returns the bits that are set in t or y. It panics with ErrShape unless the shapes
// broadcast, and with ErrType of reals.
func (t *Tensor) BitwiseOr(y *Tensor) *Tensor {
	return elementwise("BitwiseOr", fn.BitwiseOr, nil, t, y)
}

// BitwiseXor returns the bits that are set in one of t and y. It panics with ErrShape unless the
// shapes broadcast, and with ErrType of reals.
func (t *Tensor) BitwiseXor(y *Tensor) *Tensor {
	return elementwise("BitwiseXor", fn.BitwiseXor, nil, t, y)
}

// BitwiseLeftShift returns t·2ʸ, of which the low bits of the type stay; 0 unless y is 0 to 31. It
// panics with ErrShape unless the shapes broadcast, and with ErrType of reals.
func (t *Tensor) BitwiseLeftShift(y *Tensor) *Tensor {
	return elementwise("BitwiseLeftShift", fn.BitwiseLeftShift, nil, t, y)
}

// BitwiseRightShift returns ⌊t/2ʸ⌋; where y is not 0 to 31, 0, or −1 for t below 0. It panics with
// ErrShape unless the shapes broadcast, and with ErrType of reals.
func (t *Tensor) BitwiseRightShift(y *Tensor) *Tensor {
	return elementwise("BitwiseRightShift", fn.BitwiseRightShift, nil, t, y)
}
