// Code generated from internal/operations/table/masks.go by "make generate". DO NOT EDIT.

package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Eq returns where x = y, as Bool. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Eq(y *Tensor) *Tensor { return elementwise("Eq", fn.Eq, nil, x, y) }

// Ne returns where x ≠ y, which a NaN is to everything, as Bool. It panics with ErrShape unless the
// shapes broadcast.
func (x *Tensor) Ne(y *Tensor) *Tensor { return elementwise("Ne", fn.Ne, nil, x, y) }

// Lt returns where x < y, as Bool. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Lt(y *Tensor) *Tensor { return elementwise("Lt", fn.Lt, nil, x, y) }

// Le returns where x ≤ y, as Bool. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Le(y *Tensor) *Tensor { return elementwise("Le", fn.Le, nil, x, y) }

// Gt returns where x > y, as Bool. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Gt(y *Tensor) *Tensor { return elementwise("Gt", fn.Gt, nil, x, y) }

// Ge returns where x ≥ y, as Bool. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Ge(y *Tensor) *Tensor { return elementwise("Ge", fn.Ge, nil, x, y) }

// EqScalar returns where x = a, as Bool.
func (x *Tensor) EqScalar(a float64) *Tensor {
	return elementwise("EqScalar", fn.EqScalar, []float64{a}, x)
}

// NeScalar returns where x ≠ a, as Bool.
func (x *Tensor) NeScalar(a float64) *Tensor {
	return elementwise("NeScalar", fn.NeScalar, []float64{a}, x)
}

// LtScalar returns where x < a, as Bool.
func (x *Tensor) LtScalar(a float64) *Tensor {
	return elementwise("LtScalar", fn.LtScalar, []float64{a}, x)
}

// LeScalar returns where x ≤ a, as Bool.
func (x *Tensor) LeScalar(a float64) *Tensor {
	return elementwise("LeScalar", fn.LeScalar, []float64{a}, x)
}

// GtScalar returns where x > a, as Bool.
func (x *Tensor) GtScalar(a float64) *Tensor {
	return elementwise("GtScalar", fn.GtScalar, []float64{a}, x)
}

// GeScalar returns where x ≥ a, as Bool.
func (x *Tensor) GeScalar(a float64) *Tensor {
	return elementwise("GeScalar", fn.GeScalar, []float64{a}, x)
}

// IsNaN returns where x is NaN, as Bool.
func (x *Tensor) IsNaN() *Tensor { return elementwise("IsNaN", fn.IsNaN, nil, x) }

// IsInf returns where x is infinite, as Bool.
func (x *Tensor) IsInf() *Tensor { return elementwise("IsInf", fn.IsInf, nil, x) }

// IsFinite returns where x is neither infinite nor NaN, as Bool.
func (x *Tensor) IsFinite() *Tensor { return elementwise("IsFinite", fn.IsFinite, nil, x) }

// IsClose returns where |x − y| ≤ atol + |rtol·y|, or x = y, as Bool. NaN is close to nothing.
// Integers are compared as the floats that they become. NumPy and PyTorch have 1e-5 and 1e-8. It
// panics with ErrShape unless the shapes broadcast.
func (x *Tensor) IsClose(y *Tensor, rtol, atol float64) *Tensor {
	return elementwise("IsClose", fn.IsClose, []float64{rtol, atol}, x, y)
}

// IsCloseOrNaN is [Tensor.IsClose], and true where both are NaN. It panics as that does.
func (x *Tensor) IsCloseOrNaN(y *Tensor, rtol, atol float64) *Tensor {
	return elementwise("IsCloseOrNaN", fn.IsCloseOrNaN, []float64{rtol, atol}, x, y)
}

// LogicalNot returns where x is 0, as Bool.
func (x *Tensor) LogicalNot() *Tensor { return elementwise("LogicalNot", fn.LogicalNot, nil, x) }

// LogicalAnd returns where neither x nor y is 0, as Bool. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) LogicalAnd(y *Tensor) *Tensor {
	return elementwise("LogicalAnd", fn.LogicalAnd, nil, x, y)
}

// LogicalOr returns where x or y is not 0, as Bool. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) LogicalOr(y *Tensor) *Tensor {
	return elementwise("LogicalOr", fn.LogicalOr, nil, x, y)
}

// LogicalXor returns where one of x and y is 0, the other not, as Bool. It panics with ErrShape
// unless the shapes broadcast.
func (x *Tensor) LogicalXor(y *Tensor) *Tensor {
	return elementwise("LogicalXor", fn.LogicalXor, nil, x, y)
}

// Where returns x where cond holds, else y, as NumPy's where(cond, x, y): of cond, x and y, whose
// shapes broadcast, in the higher type of x and y. What is not chosen may be anything, NaN too. It
// panics with ErrShape unless the shapes broadcast, and with ErrType unless cond is of Bool.
func (x *Tensor) Where(cond, y *Tensor) *Tensor {
	return elementwise("Where", fn.Where, nil, x, y, cond)
}

// MaskedFill returns x with v where mask is not 0. It panics with ErrShape unless the shapes
// broadcast, and with ErrType unless mask is of Bool, or if v is no number of x's type.
func (x *Tensor) MaskedFill(mask *Tensor, v float64) *Tensor {
	return elementwise("MaskedFill", fn.MaskedFill, []float64{v}, x, mask)
}

// MaskedSelect returns the elements of x for which mask is not 0, in the order of indices, along
// one axis. The shapes of x and mask broadcast. The number of elements depends on the mask, which
// the host reads: it waits for the device, and a step that is recorded cannot do that. It panics
// with ErrShape unless the shapes broadcast, and with ErrType unless mask is of Bool.
func (x *Tensor) MaskedSelect(mask *Tensor) *Tensor {
	return lowered(x.maskedSelect(mask), x, mask)
}

// BitwiseNot returns the bits that are not set in x: of Uint8, 255 − x, of Bool what is false. It
// panics with ErrType of floats.
func (x *Tensor) BitwiseNot() *Tensor { return elementwise("BitwiseNot", fn.BitwiseNot, nil, x) }

// BitwiseAnd returns the bits that are set in x and y. It panics with ErrShape unless the shapes
// broadcast, and with ErrType of floats.
func (x *Tensor) BitwiseAnd(y *Tensor) *Tensor {
	return elementwise("BitwiseAnd", fn.BitwiseAnd, nil, x, y)
}

// BitwiseOr returns the bits that are set in x or y. It panics with ErrShape unless the shapes
// broadcast, and with ErrType of floats.
func (x *Tensor) BitwiseOr(y *Tensor) *Tensor {
	return elementwise("BitwiseOr", fn.BitwiseOr, nil, x, y)
}

// BitwiseXor returns the bits that are set in one of x and y. It panics with ErrShape unless the
// shapes broadcast, and with ErrType of floats.
func (x *Tensor) BitwiseXor(y *Tensor) *Tensor {
	return elementwise("BitwiseXor", fn.BitwiseXor, nil, x, y)
}

// BitwiseLeftShift returns x·2ʸ, of which the low bits of the type stay; 0 if y is below 0 or
// beyond the bits. It panics with ErrShape unless the shapes broadcast, and with ErrType of floats.
func (x *Tensor) BitwiseLeftShift(y *Tensor) *Tensor {
	return elementwise("BitwiseLeftShift", fn.BitwiseLeftShift, nil, x, y)
}

// BitwiseRightShift returns ⌊x/2ʸ⌋; where y is below 0 or beyond the bits, 0, or −1 for x below 0.
// It panics with ErrShape unless the shapes broadcast, and with ErrType of floats.
func (x *Tensor) BitwiseRightShift(y *Tensor) *Tensor {
	return elementwise("BitwiseRightShift", fn.BitwiseRightShift, nil, x, y)
}
