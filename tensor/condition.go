package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Comparisons and what is known of numbers: masks of 1, where something holds, and 0. Integers are
// compared with integers as such, with reals as reals. Float16 is a real. Masks are joined with
// LogicalAnd and its like, and used by Where, MaskedFill and MaskedSelect.

// Eq returns where t = y, as 1 and 0 of Uint8. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Eq(y *Tensor) *Tensor { return elementwise("Eq", fn.Eq, nil, t, y) }

// Ne returns where t ≠ y, which a NaN is to everything, as 1 and 0 of Uint8. It panics with
// ErrShape unless the shapes broadcast.
func (t *Tensor) Ne(y *Tensor) *Tensor { return elementwise("Ne", fn.Ne, nil, t, y) }

// Lt returns where t < y, as 1 and 0 of Uint8. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Lt(y *Tensor) *Tensor { return elementwise("Lt", fn.Lt, nil, t, y) }

// Le returns where t ≤ y, as 1 and 0 of Uint8. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Le(y *Tensor) *Tensor { return elementwise("Le", fn.Le, nil, t, y) }

// Gt returns where t > y, as 1 and 0 of Uint8. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Gt(y *Tensor) *Tensor { return elementwise("Gt", fn.Gt, nil, t, y) }

// Ge returns where t ≥ y, as 1 and 0 of Uint8. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Ge(y *Tensor) *Tensor { return elementwise("Ge", fn.Ge, nil, t, y) }

// EqScalar returns where t = a, as 1 and 0 of Uint8.
func (t *Tensor) EqScalar(a float64) *Tensor {
	return elementwise("EqScalar", fn.EqScalar, []float64{a}, t)
}

// NeScalar returns where t ≠ a, as 1 and 0 of Uint8.
func (t *Tensor) NeScalar(a float64) *Tensor {
	return elementwise("NeScalar", fn.NeScalar, []float64{a}, t)
}

// LtScalar returns where t < a, as 1 and 0 of Uint8.
func (t *Tensor) LtScalar(a float64) *Tensor {
	return elementwise("LtScalar", fn.LtScalar, []float64{a}, t)
}

// LeScalar returns where t ≤ a, as 1 and 0 of Uint8.
func (t *Tensor) LeScalar(a float64) *Tensor {
	return elementwise("LeScalar", fn.LeScalar, []float64{a}, t)
}

// GtScalar returns where t > a, as 1 and 0 of Uint8.
func (t *Tensor) GtScalar(a float64) *Tensor {
	return elementwise("GtScalar", fn.GtScalar, []float64{a}, t)
}

// GeScalar returns where t ≥ a, as 1 and 0 of Uint8.
func (t *Tensor) GeScalar(a float64) *Tensor {
	return elementwise("GeScalar", fn.GeScalar, []float64{a}, t)
}

// IsNaN returns where t is NaN, as 1 and 0 of Uint8.
func (t *Tensor) IsNaN() *Tensor { return elementwise("IsNaN", fn.IsNaN, nil, t) }

// IsInf returns where t is infinite, as 1 and 0 of Uint8.
func (t *Tensor) IsInf() *Tensor { return elementwise("IsInf", fn.IsInf, nil, t) }

// IsFinite returns where t is neither infinite nor NaN, as 1 and 0 of Uint8.
func (t *Tensor) IsFinite() *Tensor { return elementwise("IsFinite", fn.IsFinite, nil, t) }

// IsClose returns where |t − y| ≤ atol + |rtol·y|, or t = y, as 1 and 0 of Uint8. NaN is close to
// nothing. NumPy and PyTorch have 1e-5 and 1e-8. It panics with ErrShape unless the shapes
// broadcast.
func (t *Tensor) IsClose(y *Tensor, rtol, atol float64) *Tensor {
	return elementwise("IsClose", fn.IsClose, []float64{rtol, atol}, t, y)
}

// LogicalNot returns where t is 0, as 1 and 0 of Uint8.
func (t *Tensor) LogicalNot() *Tensor { return elementwise("LogicalNot", fn.LogicalNot, nil, t) }

// LogicalAnd returns where neither t nor y is 0, as 1 and 0 of Uint8. It panics with ErrShape
// unless the shapes broadcast.
func (t *Tensor) LogicalAnd(y *Tensor) *Tensor {
	return elementwise("LogicalAnd", fn.LogicalAnd, nil, t, y)
}

// LogicalOr returns where t or y is not 0, as 1 and 0 of Uint8. It panics with ErrShape unless the
// shapes broadcast.
func (t *Tensor) LogicalOr(y *Tensor) *Tensor {
	return elementwise("LogicalOr", fn.LogicalOr, nil, t, y)
}

// LogicalXor returns where one of t and y is 0, the other not, as 1 and 0 of Uint8. It panics with
// ErrShape unless the shapes broadcast.
func (t *Tensor) LogicalXor(y *Tensor) *Tensor {
	return elementwise("LogicalXor", fn.LogicalXor, nil, t, y)
}
