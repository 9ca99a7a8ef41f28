package fn

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Functions of the bits of integers.
var (
	BitwiseNot        = &kernels.Function{Name: "bitwise_not", Value: x.BitXor(expr.Const(-1)), Integers: true}
	BitwiseAnd        = &kernels.Function{Name: "bitwise_and", Value: x.BitAnd(w), Integers: true}
	BitwiseOr         = &kernels.Function{Name: "bitwise_or", Value: x.BitOr(w), Integers: true}
	BitwiseXor        = &kernels.Function{Name: "bitwise_xor", Value: x.BitXor(w), Integers: true}
	BitwiseLeftShift  = &kernels.Function{Name: "bitwise_left_shift", Value: x.ShiftLeft(w), Integers: true}
	BitwiseRightShift = &kernels.Function{Name: "bitwise_right_shift", Value: x.ShiftRight(w), Integers: true}
)

// Bitwise are all of them. They have no gradient, and no value of floats.
var Bitwise = []*kernels.Function{BitwiseNot, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseLeftShift, BitwiseRightShift}
