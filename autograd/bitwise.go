package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Functions of the bits of integers: Int32 in two's complement, or Uint8. They have no gradient.

// BitwiseNot returns the bits that are not set in x: of Uint8, 255 − x, so that of a mask it is no
// mask (see [Node.LogicalNot]). It panics with tensor.ErrType of reals. Gradient: none.
func (x *Node) BitwiseNot() *Node { return elementwise("BitwiseNot", fn.BitwiseNot, nil, x) }

// BitwiseAnd returns the bits that are set in x and y. It panics with tensor.ErrShape unless the
// shapes broadcast, and with tensor.ErrType of reals. Gradient: none.
func (x *Node) BitwiseAnd(y *Node) *Node {
	return elementwise("BitwiseAnd", fn.BitwiseAnd, nil, x, y)
}

// BitwiseOr returns the bits that are set in x or y. It panics with tensor.ErrShape unless the
// shapes broadcast, and with tensor.ErrType of reals. Gradient: none.
func (x *Node) BitwiseOr(y *Node) *Node {
	return elementwise("BitwiseOr", fn.BitwiseOr, nil, x, y)
}

// BitwiseXor returns the bits that are set in one of x and y. It panics with tensor.ErrShape unless
// the shapes broadcast, and with tensor.ErrType of reals. Gradient: none.
func (x *Node) BitwiseXor(y *Node) *Node {
	return elementwise("BitwiseXor", fn.BitwiseXor, nil, x, y)
}

// BitwiseLeftShift returns x·2ʸ, of which the low bits of the type stay; 0 unless y is 0 to 31. It
// panics with tensor.ErrShape unless the shapes broadcast, and with tensor.ErrType of reals.
// Gradient: none.
func (x *Node) BitwiseLeftShift(y *Node) *Node {
	return elementwise("BitwiseLeftShift", fn.BitwiseLeftShift, nil, x, y)
}

// BitwiseRightShift returns ⌊x/2ʸ⌋; where y is not 0 to 31, 0, or −1 for x below 0. It panics with
// tensor.ErrShape unless the shapes broadcast, and with tensor.ErrType of reals. Gradient: none.
func (x *Node) BitwiseRightShift(y *Node) *Node {
	return elementwise("BitwiseRightShift", fn.BitwiseRightShift, nil, x, y)
}
