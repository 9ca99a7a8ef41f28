package fused

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
)

// TestNarrowBytes: floats become integers of 8 bits alike in vectors and in plain loops, of any number of elements.
func TestNarrowBytes(t *testing.T) {
	special := []float32{0, -0.9, 0.9, -1, 1.99, 127, 127.9, 128, -128, -128.9, -129, 254.9, 255, 255.5, 256, 3e9, -3e9, 1e30, -1e30,
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 1e-40}
	for s, set := range vec.Sets() {
		for _, n := range []int{0, 1, 7, 31, 32, 33, 511, 512, 513, 1500} {
			x := make([]float32, n)
			for i := range x {
				x[i] = special[i*7%len(special)]
			}
			signed, wantSigned := make([]int8, n), make([]int8, n)
			narrow(set, signed, x)
			cutOff(wantSigned, x)
			unsigned, wantUnsigned := make([]uint8, n), make([]uint8, n)
			narrow(set, unsigned, x)
			cutOff(wantUnsigned, x)
			if !slices.Equal(signed, wantSigned) || !slices.Equal(unsigned, wantUnsigned) {
				t.Errorf("set %d, %v: %v and %v, want %v and %v", s, x, signed, unsigned, wantSigned, wantUnsigned)
			}
		}
	}
}
