//go:build ignore

package table

// Comparisons and what is known of numbers: masks of 1, where something holds, and 0. Integers are
// compared with integers as such, with floats as floats. Float16 is a Float32. Then functions that choose
// by a mask, of Bool, and functions of the bits of
// integers, those with a sign in two's complement.

// Eq returns where x = y, as Bool. It panics with ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.eq
//op:elementwise
func (x T) Eq(y T) T

// Ne returns where x ≠ y, which a NaN is to everything, as Bool. It panics with
// ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.ne
//op:elementwise
func (x T) Ne(y T) T

// Lt returns where x < y, as Bool. It panics with ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.lt
//op:elementwise
func (x T) Lt(y T) T

// Le returns where x ≤ y, as Bool. It panics with ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.le
//op:elementwise
func (x T) Le(y T) T

// Gt returns where x > y, as Bool. It panics with ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.gt
//op:elementwise
func (x T) Gt(y T) T

// Ge returns where x ≥ y, as Bool. It panics with ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.ge
//op:elementwise
func (x T) Ge(y T) T

// EqScalar returns where x = a, as Bool.
//
// Gradient: none.
//
//op:torch torch.eq
//op:elementwise
func (x T) EqScalar(a float64) T

// NeScalar returns where x ≠ a, as Bool.
//
// Gradient: none.
//
//op:torch torch.ne
//op:elementwise
func (x T) NeScalar(a float64) T

// LtScalar returns where x < a, as Bool.
//
// Gradient: none.
//
//op:torch torch.lt
//op:elementwise
func (x T) LtScalar(a float64) T

// LeScalar returns where x ≤ a, as Bool.
//
// Gradient: none.
//
//op:torch torch.le
//op:elementwise
func (x T) LeScalar(a float64) T

// GtScalar returns where x > a, as Bool.
//
// Gradient: none.
//
//op:torch torch.gt
//op:elementwise
func (x T) GtScalar(a float64) T

// GeScalar returns where x ≥ a, as Bool.
//
// Gradient: none.
//
//op:torch torch.ge
//op:elementwise
func (x T) GeScalar(a float64) T

// IsNaN returns where x is NaN, as Bool.
//
// Gradient: none.
//
//op:torch torch.isnan
//op:elementwise
func (x T) IsNaN() T

// IsInf returns where x is infinite, as Bool.
//
// Gradient: none.
//
//op:torch torch.isinf
//op:elementwise
func (x T) IsInf() T

// IsFinite returns where x is neither infinite nor NaN, as Bool.
//
// Gradient: none.
//
//op:torch torch.isfinite
//op:elementwise
func (x T) IsFinite() T

// IsClose returns where |x − y| ≤ atol + |rtol·y|, or x = y, as Bool. NaN is close to
// nothing. Integers are compared as the floats that they become. NumPy and PyTorch have 1e-5 and 1e-8. It panics with ErrShape unless the shapes
// broadcast.
//
// Gradient: none.
//
//op:torch torch.isclose
//op:elementwise
func (x T) IsClose(y T, rtol, atol float64) T

// IsCloseOrNaN is [Tensor.IsClose], and true where both are NaN. It panics as that does.
//
// Gradient: none.
//
//op:torch torch.isclose(equal_nan=True)
//op:elementwise
func (x T) IsCloseOrNaN(y T, rtol, atol float64) T

// LogicalNot returns where x is 0, as Bool.
//
// Gradient: none.
//
//op:torch torch.logical_not
//op:elementwise
func (x T) LogicalNot() T

// LogicalAnd returns where neither x nor y is 0, as Bool. It panics with ErrShape
// unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.logical_and
//op:elementwise
func (x T) LogicalAnd(y T) T

// LogicalOr returns where x or y is not 0, as Bool. It panics with ErrShape unless the
// shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.logical_or
//op:elementwise
func (x T) LogicalOr(y T) T

// LogicalXor returns where one of x and y is 0, the other not, as Bool. It panics with
// ErrShape unless the shapes broadcast.
//
// Gradient: none.
//
//op:torch torch.logical_xor
//op:elementwise
func (x T) LogicalXor(y T) T

// Where returns x where cond holds, else y, as NumPy's where(cond, x, y): of cond, x and y, whose
// shapes broadcast, in the higher type of x and y. What is not chosen may be anything, NaN too. It
// panics with ErrShape unless the shapes broadcast, and with ErrType unless cond is of Bool.
//
// Gradients: g to what was chosen, 0 to the other, infinite or NaN as that or g may be.
//
//op:torch torch.Tensor.where
//op:elementwise Where(x, y, cond)
func (x T) Where(cond, y T) T

// MaskedFill returns x with v where mask is not 0. It panics with ErrShape unless the shapes
// broadcast, and with ErrType unless mask is of Bool, or if v is no number of x's type.
//
// Gradient: g, 0 where v is.
//
//op:torch torch.masked_fill
//op:elementwise
func (x T) MaskedFill(mask T, v float64) T

// MaskedSelect returns the elements of x for which mask is not 0, in the order of indices, along
// one axis. The shapes of x and mask broadcast. The number of elements depends on the mask, which
// the host reads: it waits for the device, and a step that is recorded cannot do that. It panics
// with ErrShape unless the shapes broadcast, and with ErrType unless mask is of Bool.
//
// Gradient: g in those places, 0 elsewhere.
//
//op:torch torch.masked_select
func (x T) MaskedSelect(mask T) T

// BitwiseNot returns the bits that are not set in x: of Uint8, 255 − x, of Bool what is
// false. It panics with ErrType of floats.
//
// Gradient: none.
//
//op:torch torch.bitwise_not
//op:elementwise
func (x T) BitwiseNot() T

// BitwiseAnd returns the bits that are set in x and y. It panics with ErrShape unless the shapes
// broadcast, and with ErrType of floats.
//
// Gradient: none.
//
//op:torch torch.bitwise_and
//op:elementwise
func (x T) BitwiseAnd(y T) T

// BitwiseOr returns the bits that are set in x or y. It panics with ErrShape unless the shapes
// broadcast, and with ErrType of floats.
//
// Gradient: none.
//
//op:torch torch.bitwise_or
//op:elementwise
func (x T) BitwiseOr(y T) T

// BitwiseXor returns the bits that are set in one of x and y. It panics with ErrShape unless the
// shapes broadcast, and with ErrType of floats.
//
// Gradient: none.
//
//op:torch torch.bitwise_xor
//op:elementwise
func (x T) BitwiseXor(y T) T

// BitwiseLeftShift returns x·2ʸ, of which the low bits of the type stay; 0 if y is below 0 or beyond the bits. It
// panics with ErrShape unless the shapes broadcast, and with ErrType of floats.
//
// Gradient: none.
//
//op:torch torch.bitwise_left_shift
//op:elementwise
func (x T) BitwiseLeftShift(y T) T

// BitwiseRightShift returns ⌊x/2ʸ⌋; where y is below 0 or beyond the bits, 0, or −1 for x below 0. It panics with
// ErrShape unless the shapes broadcast, and with ErrType of floats.
//
// Gradient: none.
//
//op:torch torch.bitwise_right_shift
//op:elementwise
func (x T) BitwiseRightShift(y T) T
