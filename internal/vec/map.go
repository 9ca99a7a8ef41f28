package vec

import "unsafe"

// Function is what Map computes of each element. On some of them there are loops in single
// precision only.
type Function uint8

// mapping sets n elements from to on to f of those of the operands that f has. They may be the
// same.
type mapping[T Float] func(f Function, n int, to, x0, x1, x2, x3 *T)

// SineLimit is the largest angle that Sin, Cos and Tan are computed of: of others the result is
// NaN.
const SineLimit = 1 << 15

// QuotientLimit is up to where Fmod and FloorDiv are computed of the quotient of their operands:
// beyond it and twice as much, and where the second operand is 0, the result is NaN.
const QuotientLimit = 1 << 23

// Has reports whether there is a loop of f.
func (l *Loops[T]) Has(f Function) bool {
	return f != None && (unsafe.Sizeof(T(0)) == 4 || !singleOnly[f])
}

// Map sets the elements of to to f of the operands, which are at least as long, and may be to
// itself. Operands that f does not have may be any. There must be a loop of f.
//
// Neg to WhereEqual and Fmod to BitXor, which is of bits, are rounded as IEEE 754 says, or not at
// all, as those of ints are: their bits are those of plain loops. The others are within 3 ULP, but
// Tan, which is within 4, and Erf, Erfc and ErfInv, within 6.
func (l *Loops[T]) Map(f Function, to, x0, x1, x2, x3 []T) {
	n := len(to)
	if n == 0 {
		return
	}
	_, _, _, _ = x0[n-1], x1[n-1], x2[n-1], x3[n-1] // assembly knows no bounds
	l.maps(f, n, &to[0], &x0[0], &x1[0], &x2[0], &x3[0])
}
