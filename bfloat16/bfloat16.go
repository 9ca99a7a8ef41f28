// Package bfloat16 is the upper half of a float32: its sign, its exponent and 8 of its 24 significant
// bits. It stores numbers in half of the memory, in the same range of 10⁻³⁸ to 3·10³⁸:
//
//	x := tensor.New(d, []bfloat16.BFloat16{bfloat16.FromFloat32(0.5)})
package bfloat16

import "math"

// BFloat16 is a number, held as its bits: one of the sign, eight of the exponent, seven of the
// fraction.
type BFloat16 uint16

// FromFloat32 rounds f to nearest, ties to even. What is beyond the range is infinite, and every NaN
// is the same one.
func FromFloat32(f float32) BFloat16 {
	if f != f {
		return 0x7fc0
	}
	b := math.Float32bits(f)
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 returns the number, exactly.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }
