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

// Element is a type of elements.
type Element interface {
	float32 | float64 | int32 | uint8 | float16.Float16 | bfloat16.BFloat16
}

// Float64 returns an element as a float64, which holds those of every type.
func Float64[E Element](x E) float64 {
	switch x := any(x).(type) {
	case float32:
		return float64(x)
	case float64:
		return x
	case int32:
		return float64(x)
	case uint8:
		return float64(x)
	case float16.Float16:
		return float64(x.Float32())
	}
	return float64(any(x).(bfloat16.BFloat16).Float32())
}

// To returns a number as an element.
func To[E Element](x float64) (e E) {
	switch to := any(&e).(type) {
	case *float32:
		*to = float32(x)
	case *float64:
		*to = x
	case *int32:
		*to = ToInt32(x)
	case *uint8:
		*to = ToUint8(x)
	case *float16.Float16:
		*to = ToFloat16(x)
	case *bfloat16.BFloat16:
		*to = ToBFloat16(x)
	}
	return e
}
