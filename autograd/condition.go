package autograd

import "github.com/clgrad/clgrad/kernels"

// Comparisons and what is known of numbers: masks of 1, where something holds, and 0. Integers are compared with
// integers as such, with reals as reals. They have no gradient: the node is a constant. Float16 is a real. Masks are
// joined with LogicalAnd and its like, and used by Where, MaskedFill and MaskedSelect.

// Eq returns where x = y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes broadcast. Gradient:
// none.
func (x *Node) Eq(y *Node) *Node { return elementwise("Eq", kernels.Eq, nil, x, y) }

// Ne returns where x ≠ y, which a NaN is to everything, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the
// shapes broadcast. Gradient: none.
func (x *Node) Ne(y *Node) *Node { return elementwise("Ne", kernels.Ne, nil, x, y) }

// Lt returns where x < y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes broadcast. Gradient:
// none.
func (x *Node) Lt(y *Node) *Node { return elementwise("Lt", kernels.Lt, nil, x, y) }

// Le returns where x ≤ y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes broadcast. Gradient:
// none.
func (x *Node) Le(y *Node) *Node { return elementwise("Le", kernels.Le, nil, x, y) }

// Gt returns where x > y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes broadcast. Gradient:
// none.
func (x *Node) Gt(y *Node) *Node { return elementwise("Gt", kernels.Gt, nil, x, y) }

// Ge returns where x ≥ y, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes broadcast. Gradient:
// none.
func (x *Node) Ge(y *Node) *Node { return elementwise("Ge", kernels.Ge, nil, x, y) }

// EqScalar returns where x = a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) EqScalar(a float64) *Node {
	return elementwise("EqScalar", kernels.EqScalar, []float64{a}, x)
}

// NeScalar returns where x ≠ a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) NeScalar(a float64) *Node {
	return elementwise("NeScalar", kernels.NeScalar, []float64{a}, x)
}

// LtScalar returns where x < a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) LtScalar(a float64) *Node {
	return elementwise("LtScalar", kernels.LtScalar, []float64{a}, x)
}

// LeScalar returns where x ≤ a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) LeScalar(a float64) *Node {
	return elementwise("LeScalar", kernels.LeScalar, []float64{a}, x)
}

// GtScalar returns where x > a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) GtScalar(a float64) *Node {
	return elementwise("GtScalar", kernels.GtScalar, []float64{a}, x)
}

// GeScalar returns where x ≥ a, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) GeScalar(a float64) *Node {
	return elementwise("GeScalar", kernels.GeScalar, []float64{a}, x)
}

// IsNaN returns where x is NaN, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) IsNaN() *Node { return elementwise("IsNaN", kernels.IsNaN, nil, x) }

// IsInf returns where x is infinite, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) IsInf() *Node { return elementwise("IsInf", kernels.IsInf, nil, x) }

// IsFinite returns where x is neither infinite nor NaN, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) IsFinite() *Node { return elementwise("IsFinite", kernels.IsFinite, nil, x) }

// IsClose returns where |x − y| ≤ atol + |rtol·y|, or x = y, as 1 and 0 of Uint8. NaN is close to nothing. NumPy and
// PyTorch have 1e-5 and 1e-8. It panics with tensor.ErrShape unless the shapes broadcast. Gradient: none.
func (x *Node) IsClose(y *Node, rtol, atol float64) *Node {
	return elementwise("IsClose", kernels.IsClose, []float64{rtol, atol}, x, y)
}

// LogicalNot returns where x is 0, as 1 and 0 of Uint8. Gradient: none.
func (x *Node) LogicalNot() *Node { return elementwise("LogicalNot", kernels.LogicalNot, nil, x) }

// LogicalAnd returns where neither x nor y is 0, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) LogicalAnd(y *Node) *Node {
	return elementwise("LogicalAnd", kernels.LogicalAnd, nil, x, y)
}

// LogicalOr returns where x or y is not 0, as 1 and 0 of Uint8. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradient: none.
func (x *Node) LogicalOr(y *Node) *Node {
	return elementwise("LogicalOr", kernels.LogicalOr, nil, x, y)
}

// LogicalXor returns where one of x and y is 0, the other not, as 1 and 0 of Uint8. It panics with tensor.ErrShape
// unless the shapes broadcast. Gradient: none.
func (x *Node) LogicalXor(y *Node) *Node {
	return elementwise("LogicalXor", kernels.LogicalXor, nil, x, y)
}
