// Package boolmath computes conditions as numbers, without branches.
package boolmath

import (
	"math"
	"unsafe"
)

// Positive returns 1 for x > 0 and 0 otherwise, without a branch: signs of activations are as good
// as random, and a mispredicted branch costs more than the function. NaN with a clear sign bit
// counts as positive.
func Positive[T float32 | float64](x T) int {
	if unsafe.Sizeof(x) == 8 {
		b := math.Float64bits(float64(x))
		return int((^b & -b) >> 63)
	}
	b := math.Float32bits(float32(x))
	return int((^b & -b) >> 31)
}

// Select returns yes if the condition holds, and no otherwise.
func Select(holds bool, yes, no float64) float64 {
	if holds {
		return yes
	}
	return no
}
