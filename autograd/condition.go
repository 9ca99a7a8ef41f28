package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Comparisons and what is known of numbers: masks of 1, where something holds, and 0. Integers are
// compared with integers as such, with reals as reals. They have no gradient: the node is a
// constant. Float16 is a real. Masks are joined with LogicalAnd and its like, and used by Where,
// MaskedFill and MaskedSelect.

// Eq returns where x = y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) Eq(y *Node) *Node { return elementwise("Eq", fn.Eq, nil, x, y) }

// Ne returns where x ≠ y, which a NaN is to everything, as 1 and 0 of Uint8. It panics with
// tensor.ErrShape unless the shapes broadcast. Gradient: none.
func (x *Node) Ne(y *Node) *Node { return elementwise("Ne", fn.Ne, nil, x, y) }

// Lt returns where x < y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) Lt(y *Node) *Node { return elementwise("Lt", fn.Lt, nil, x, y) }

// Le returns where x ≤ y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) Le(y *Node) *Node { return elementwise("Le", fn.Le, nil, x, y) }

// Gt returns where x > y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) Gt(y *Node) *Node { return elementwise("Gt", fn.Gt, nil, x, y) }

// Ge returns where x ≥ y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) Ge(y *Node) *Node { return elementwise("Ge", fn.Ge, nil, x, y) }

// EqScalar returns where x = a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) EqScalar(a float64) *Node {
	return elementwise("EqScalar", fn.EqScalar, []float64{a}, x)
}

// NeScalar returns where x ≠ a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) NeScalar(a float64) *Node {
	return elementwise("NeScalar", fn.NeScalar, []float64{a}, x)
}

// LtScalar returns where x < a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) LtScalar(a float64) *Node {
	return elementwise("LtScalar", fn.LtScalar, []float64{a}, x)
}

// LeScalar returns where x ≤ a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) LeScalar(a float64) *Node {
	return elementwise("LeScalar", fn.LeScalar, []float64{a}, x)
}

// GtScalar returns where x > a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) GtScalar(a float64) *Node {
	return elementwise("GtScalar", fn.GtScalar, []float64{a}, x)
}

// GeScalar returns where x ≥ a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) GeScalar(a float64) *Node {
	return elementwise("GeScalar", fn.GeScalar, []float64{a}, x)
}

// IsNaN returns where x is NaN, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) IsNaN() *Node { return elementwise("IsNaN", fn.IsNaN, nil, x) }

// IsInf returns where x is infinite, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) IsInf() *Node { return elementwise("IsInf", fn.IsInf, nil, x) }

// IsFinite returns where x is neither infinite nor NaN, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) IsFinite() *Node { return elementwise("IsFinite", fn.IsFinite, nil, x) }

// IsClose returns where |x − y| ≤ atol + |rtol·y|, or x = y, as 1 and 0 of Uint8. NaN is close to
// nothing. NumPy and PyTorch have 1e-5 and 1e-8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) IsClose(y *Node, rtol, atol float64) *Node {
	return elementwise("IsClose", fn.IsClose, []float64{rtol, atol}, x, y)
}

// LogicalNot returns where x is 0, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) LogicalNot() *Node { return elementwise("LogicalNot", fn.LogicalNot, nil, x) }

// LogicalAnd returns where neither x nor y is 0, as 1 and 0 of Uint8. It panics with
// tensor.ErrShape unless the shapes broadcast. Gradient: none.
func (x *Node) LogicalAnd(y *Node) *Node {
	return elementwise("LogicalAnd", fn.LogicalAnd, nil, x, y)
}

// LogicalOr returns where x or y is not 0, as 1 and 0 of Uint8. It panics with tensor.ErrShape
// unless the shapes broadcast. Gradient: none.
func (x *Node) LogicalOr(y *Node) *Node {
	return elementwise("LogicalOr", fn.LogicalOr, nil, x, y)
}

// LogicalXor returns where one of x and y is 0, the other not, as 1 and 0 of Uint8. It panics with
// tensor.ErrShape unless the shapes broadcast. Gradient: none.
func (x *Node) LogicalXor(y *Node) *Node {
	return elementwise("LogicalXor", fn.LogicalXor, nil, x, y)
}
