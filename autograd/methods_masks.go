// Code generated from internal/operations/table/masks.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Eq returns where x = y, as Bool. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) Eq(y *Node) *Node { return elementwise("Eq", fn.Eq, nil, x, y) }

// Ne returns where x ≠ y, which a NaN is to everything, as Bool. It panics with tensor.ErrShape
// unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) Ne(y *Node) *Node { return elementwise("Ne", fn.Ne, nil, x, y) }

// Lt returns where x < y, as Bool. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) Lt(y *Node) *Node { return elementwise("Lt", fn.Lt, nil, x, y) }

// Le returns where x ≤ y, as Bool. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) Le(y *Node) *Node { return elementwise("Le", fn.Le, nil, x, y) }

// Gt returns where x > y, as Bool. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) Gt(y *Node) *Node { return elementwise("Gt", fn.Gt, nil, x, y) }

// Ge returns where x ≥ y, as Bool. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) Ge(y *Node) *Node { return elementwise("Ge", fn.Ge, nil, x, y) }

// EqScalar returns where x = a, as Bool.
//
// Gradient: none.
func (x *Node) EqScalar(a float64) *Node {
	return elementwise("EqScalar", fn.EqScalar, []float64{a}, x)
}

// NeScalar returns where x ≠ a, as Bool.
//
// Gradient: none.
func (x *Node) NeScalar(a float64) *Node {
	return elementwise("NeScalar", fn.NeScalar, []float64{a}, x)
}

// LtScalar returns where x < a, as Bool.
//
// Gradient: none.
func (x *Node) LtScalar(a float64) *Node {
	return elementwise("LtScalar", fn.LtScalar, []float64{a}, x)
}

// LeScalar returns where x ≤ a, as Bool.
//
// Gradient: none.
func (x *Node) LeScalar(a float64) *Node {
	return elementwise("LeScalar", fn.LeScalar, []float64{a}, x)
}

// GtScalar returns where x > a, as Bool.
//
// Gradient: none.
func (x *Node) GtScalar(a float64) *Node {
	return elementwise("GtScalar", fn.GtScalar, []float64{a}, x)
}

// GeScalar returns where x ≥ a, as Bool.
//
// Gradient: none.
func (x *Node) GeScalar(a float64) *Node {
	return elementwise("GeScalar", fn.GeScalar, []float64{a}, x)
}

// IsNaN returns where x is NaN, as Bool.
//
// Gradient: none.
func (x *Node) IsNaN() *Node { return elementwise("IsNaN", fn.IsNaN, nil, x) }

// IsInf returns where x is infinite, as Bool.
//
// Gradient: none.
func (x *Node) IsInf() *Node { return elementwise("IsInf", fn.IsInf, nil, x) }

// IsFinite returns where x is neither infinite nor NaN, as Bool.
//
// Gradient: none.
func (x *Node) IsFinite() *Node { return elementwise("IsFinite", fn.IsFinite, nil, x) }

// IsClose returns where |x − y| ≤ atol + |rtol·y|, or x = y, as Bool. NaN is close to nothing.
// Integers are compared as the floats that they become. NumPy and PyTorch have 1e-5 and 1e-8. It
// panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) IsClose(y *Node, rtol, atol float64) *Node {
	return elementwise("IsClose", fn.IsClose, []float64{rtol, atol}, x, y)
}

// IsCloseOrNaN is [Node.IsClose], and true where both are NaN. It panics as that does.
//
// Gradient: none.
func (x *Node) IsCloseOrNaN(y *Node, rtol, atol float64) *Node {
	return elementwise("IsCloseOrNaN", fn.IsCloseOrNaN, []float64{rtol, atol}, x, y)
}

// LogicalNot returns where x is 0, as Bool.
//
// Gradient: none.
func (x *Node) LogicalNot() *Node { return elementwise("LogicalNot", fn.LogicalNot, nil, x) }

// LogicalAnd returns where neither x nor y is 0, as Bool. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradient: none.
func (x *Node) LogicalAnd(y *Node) *Node {
	return elementwise("LogicalAnd", fn.LogicalAnd, nil, x, y)
}

// LogicalOr returns where x or y is not 0, as Bool. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradient: none.
func (x *Node) LogicalOr(y *Node) *Node { return elementwise("LogicalOr", fn.LogicalOr, nil, x, y) }

// LogicalXor returns where one of x and y is 0, the other not, as Bool. It panics with
// tensor.ErrShape unless the shapes broadcast.
//
// Gradient: none.
func (x *Node) LogicalXor(y *Node) *Node {
	return elementwise("LogicalXor", fn.LogicalXor, nil, x, y)
}

// Where returns x where cond holds, else y, as NumPy's where(cond, x, y): of cond, x and y, whose
// shapes broadcast, in the higher type of x and y. What is not chosen may be anything, NaN too. It
// panics with tensor.ErrShape unless the shapes broadcast, and with tensor.ErrType unless cond is
// of Bool.
//
// Gradients: g to what was chosen, 0 to the other, infinite or NaN as that or g may be.
func (x *Node) Where(cond, y *Node) *Node { return elementwise("Where", fn.Where, nil, x, y, cond) }

// MaskedFill returns x with v where mask is not 0. It panics with tensor.ErrShape unless the shapes
// broadcast, and with tensor.ErrType unless mask is of Bool, or if v is no number of x's type.
//
// Gradient: g, 0 where v is.
func (x *Node) MaskedFill(mask *Node, v float64) *Node {
	return elementwise("MaskedFill", fn.MaskedFill, []float64{v}, x, mask)
}

// MaskedSelect returns the elements of x for which mask is not 0, in the order of indices, along
// one axis. The shapes of x and mask broadcast. The number of elements depends on the mask, which
// the host reads: it waits for the device, and a step that is recorded cannot do that. It panics
// with tensor.ErrShape unless the shapes broadcast, and with tensor.ErrType unless mask is of Bool.
//
// Gradient: g in those places, 0 elsewhere.
func (x *Node) MaskedSelect(mask *Node) *Node {
	y := lowered(x.maskedSelect(mask), x, mask)
	if trace.On() {
		trace.Record("MaskedSelect", []any{x, mask}, y)
	}
	return y
}

// BitwiseNot returns the bits that are not set in x: of Uint8, 255 − x, of Bool what is false. It
// panics with tensor.ErrType of floats.
//
// Gradient: none.
func (x *Node) BitwiseNot() *Node { return elementwise("BitwiseNot", fn.BitwiseNot, nil, x) }

// BitwiseAnd returns the bits that are set in x and y. It panics with tensor.ErrShape unless the
// shapes broadcast, and with tensor.ErrType of floats.
//
// Gradient: none.
func (x *Node) BitwiseAnd(y *Node) *Node {
	return elementwise("BitwiseAnd", fn.BitwiseAnd, nil, x, y)
}

// BitwiseOr returns the bits that are set in x or y. It panics with tensor.ErrShape unless the
// shapes broadcast, and with tensor.ErrType of floats.
//
// Gradient: none.
func (x *Node) BitwiseOr(y *Node) *Node { return elementwise("BitwiseOr", fn.BitwiseOr, nil, x, y) }

// BitwiseXor returns the bits that are set in one of x and y. It panics with tensor.ErrShape unless
// the shapes broadcast, and with tensor.ErrType of floats.
//
// Gradient: none.
func (x *Node) BitwiseXor(y *Node) *Node {
	return elementwise("BitwiseXor", fn.BitwiseXor, nil, x, y)
}

// BitwiseLeftShift returns x·2ʸ, of which the low bits of the type stay; 0 if y is below 0 or
// beyond the bits. It panics with tensor.ErrShape unless the shapes broadcast, and with
// tensor.ErrType of floats.
//
// Gradient: none.
func (x *Node) BitwiseLeftShift(y *Node) *Node {
	return elementwise("BitwiseLeftShift", fn.BitwiseLeftShift, nil, x, y)
}

// BitwiseRightShift returns ⌊x/2ʸ⌋; where y is below 0 or beyond the bits, 0, or −1 for x below 0.
// It panics with tensor.ErrShape unless the shapes broadcast, and with tensor.ErrType of floats.
//
// Gradient: none.
func (x *Node) BitwiseRightShift(y *Node) *Node {
	return elementwise("BitwiseRightShift", fn.BitwiseRightShift, nil, x, y)
}
