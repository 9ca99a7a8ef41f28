package expr

import "math"

// whole is a type of integers that formulas are computed in.
type whole interface{ int32 | int64 | uint64 }

// integers runs a primitive of two integers over a block.
func integers[I whole](o op, d, a, b []I) {
	a, b = a[:len(d)], b[:len(d)]
	switch o {
	case opBitAnd:
		for i := range d {
			d[i] = a[i] & b[i]
		}
	case opBitOr:
		for i := range d {
			d[i] = a[i] | b[i]
		}
	case opBitXor:
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
	case opShiftLeft:
		for i := range d {
			d[i] = a[i] << uint64(b[i])
		}
	case opShiftRight:
		for i := range d {
			d[i] = a[i] >> uint64(b[i])
		}
	default:
		for i := range d {
			d[i] = integer(o, a[i], b[i])
		}
	}
}

// integer is a primitive of two integers.
func integer[I whole](o op, x, y I) I {
	switch o {
	case opPow:
		return power(x, y)
	case opFmod:
		if y == 0 {
			return 0
		}
		return x % y
	case opFloorDiv:
		if y == 0 {
			return 0
		}
		q := x / y
		if r := x % y; r != 0 && (r < 0) != (y < 0) {
			q--
		}
		return q
	case opBitAnd:
		return x & y
	case opBitOr:
		return x | y
	case opBitXor:
		return x ^ y
	case opShiftLeft:
		return x << uint64(y) // a count beyond the bits, as one below 0 is then, shifts all of them out
	}
	return x >> uint64(y)
}

// power is xʸ modulo 2 to the power of the bits of the type; of y below 0, the whole part.
func power[I whole](x, y I) I {
	value := I(1)
	if y < 0 {
		switch {
		case x == 1, x+1 == 0 && y&1 == 0:
			return 1
		case x+1 == 0:
			return x
		}
		return 0
	}
	for ; y != 0; y >>= 1 {
		if y&1 != 0 {
			value *= x
		}
		x *= x
	}
	return value
}

// floorDiv is ⌊x/y⌋. What is left over is taken off first, so that the quotient is near a whole
// number.
func floorDiv(x, y float64) float64 {
	if y == 0 {
		return x / y
	}
	rest := math.Mod(x, y)
	q := (x - rest) / y
	if rest != 0 && (y < 0) != (rest < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, x/y)
	}
	return math.RoundToEven(q)
}
