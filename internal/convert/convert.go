// Package convert converts reals to the other element types of tensors: every device and the host
// give the same bits.
package convert

import (
	"math"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

type real interface{ float32 | float64 }

// ToInt32 cuts fractions off; beyond the range is its end, and NaN is 0.
func ToInt32[T real](x T) int32 {
	switch {
	case x != x:
		return 0
	case x >= 0x1p31:
		return math.MaxInt32
	case x <= -0x1p31:
		return math.MinInt32
	}
	return int32(x)
}

// ToUint8 cuts fractions off; beyond the range is its end, and NaN is 0.
func ToUint8[T real](x T) uint8 {
	switch {
	case x != x || x <= 0:
		return 0
	case x >= math.MaxUint8:
		return math.MaxUint8
	}
	return uint8(x)
}

// ToFloat16 rounds x once, to nearest, ties to even.
func ToFloat16[T real](x T) float16.Float16 { return float16.Fromfloat32(toOdd(x)) }

// ToBFloat16 rounds x once, to nearest, ties to even. Every NaN is the same one.
func ToBFloat16[T real](x T) bfloat16.BFloat16 { return bfloat16.FromFloat32(toOdd(x)) }

// toOdd rounds x to a float32, whose last bit is 1 unless that is exact. It lies between the same two
// numbers of a narrower type as x, and on the same side of their middle.
func toOdd[T real](x T) float32 {
	f := float32(x)
	if b := math.Float32bits(f); T(f) != x && x == x && b&1 == 0 {
		if math.Abs(float64(f)) > math.Abs(float64(x)) {
			b--
		} else {
			b++
		}
		f = math.Float32frombits(b)
	}
	return f
}
