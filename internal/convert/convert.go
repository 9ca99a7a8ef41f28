// Package convert converts floats to the other element types of tensors: every device and the host
// give the same bits.
package convert

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

type float interface{ float32 | float64 }

// Integer is a type of integers.
type Integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// ToInteger cuts fractions off; beyond the range is its end, and NaN is 0.
func ToInteger[I Integer, T float](x T) I {
	var zero I
	width := 8 * unsafe.Sizeof(zero)
	least, most, end := zero, ^zero, math.Ldexp(1, int(width)) // of unsigned ones
	if ^zero < 0 {
		least = ^zero << (width - 1)
		most, end = ^least, end/2
	}
	switch v := float64(x); {
	case v != v:
		return 0
	case v >= end:
		return most
	case v <= float64(least):
		return least
	}
	return I(x)
}

// OddFloat returns the float32 between which and x no number of 16 bits lies, nor the middle of two:
// what a float32 does not hold is rounded to odd.
func OddFloat[I Integer](x I) float32 {
	size, sign := uint64(x), 1.0
	if x < 0 {
		size, sign = -size, -1
	}
	drop := max(0, bits.Len64(size)-24)
	top := size >> drop
	if top<<drop != size {
		top |= 1
	}
	return float32(sign * math.Ldexp(float64(top), drop))
}

// ToFloat16 rounds x once, to nearest, ties to even.
func ToFloat16[T float](x T) float16.Float16 { return float16.Fromfloat32(ToOdd(x)) }

// ToBFloat16 rounds x once, to nearest, ties to even. Every NaN is the same one.
func ToBFloat16[T float](x T) bfloat16.BFloat16 { return bfloat16.FromFloat32(ToOdd(x)) }

// ToOdd rounds x to a float32, whose last bit is 1 unless that is exact, or x is 2¹²⁸ and more: that is
// infinite. It lies between the same two numbers of a narrower type as x, and on the same side of
// their middle.
func ToOdd[T float](x T) float32 {
	f := float32(x)
	if b := math.Float32bits(f); T(f) != x && x == x && b&1 == 0 && math.Abs(float64(x)) < 0x1p128 {
		if math.Abs(float64(f)) > math.Abs(float64(x)) {
			b--
		} else {
			b++
		}
		f = math.Float32frombits(b)
	}
	return f
}
