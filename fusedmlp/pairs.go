package fusedmlp

import (
	"math"

	"github.com/x448/float16"
)

// Pairs are those of fp16_pair.cl, whose terms this file has.

// pairsOf returns the exponent of a block of n values, and what they are multiplied with before
// each is a pair, 0 where they are none.
func pairsOf(n int, at func(i int) float32) (exponent int32, into float32) {
	top := uint32(0)
	for i := range n {
		top = max(top, math.Float32bits(at(i))&0x7fffffff)
	}
	exponent = int32(top >> 23)
	if top == 0 {
		exponent = 127
	}
	if exponent < 104 || exponent > 177 {
		return exponent, 0
	}
	return exponent, math.Float32frombits(uint32(268-exponent) << 23)
}

// putPair adds an element, scaled, to a word in each plane, as the first or the second of the two
// that it holds.
func putPair(to []int32, plane int, v float32, e int) {
	high := float16.Fromfloat32(v)
	low := float16.Fromfloat32((v - high.Float32()) * 2048)
	to[0] |= int32(uint32(high) << (e * 16))
	to[plane] |= int32(uint32(low) << (e * 16))
}
