package fusedmlp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"
)

// TestPairs: a factor in one float16, and a product of two in pairs, are as near to what they stand
// for as fp16_pair.cl says, and some need a half of each bound and more. Values are scaled, as the
// largest of a block is: that is 2¹⁴ at least.
func TestPairs(t *testing.T) {
	const largest = 0x1p14
	rng := rand.New(rand.NewPCG(5, 6))
	values := []float64{1 + 0x1p-11 - 0x1p-23, 1 + 0x1p-12 + 0x1p-23, 0x1.fffffep-26, -0x1.fffffep-26, 0x1p-36, 0x1p-25, 0x1p-24, 0x1.fffffep14, 0}
	for range 1500 {
		v := (2*rng.Float64() - 1) * 2 * largest
		if rng.IntN(2) > 0 {
			v = math.Ldexp(v, -rng.IntN(60))
		}
		values = append(values, float64(float32(v)))
	}
	high, low := make([]float64, len(values)), make([]float64, len(values))
	var one, both float64
	for i, v := range values {
		words := [2]int32{}
		putPair(words[:], 1, float32(v), 0)
		high[i], low[i] = float64(float16.Frombits(uint16(words[0])).Float32()), float64(float16.Frombits(uint16(words[1])).Float32())/2048
		one = max(one, math.Abs(high[i]-v)/max(0x1p-11*math.Abs(v), 0x1p-39*largest))
		both = max(both, math.Abs(high[i]+low[i]-v)/max(0x1p-23*math.Abs(v), 0x1p-50*largest))
	}
	var product, tiny float64
	for i, x := range values {
		for j, y := range values {
			off := math.Abs(high[i]*high[j] + (high[i]*low[j] + low[i]*high[j]) - x*y)
			bound := 0x1p-21*math.Abs(x*y) + 0x1p-49*largest*(math.Abs(x)+math.Abs(y)) + 0x1p-78*largest*largest
			if product = max(product, off/bound); high[i] == 0 && high[j] == 0 {
				tiny = max(tiny, off/bound)
			}
		}
	}
	for what, ratio := range map[string]float64{"a float16": one, "a pair": both, "a product": product, "a product of values that have no first part": tiny} {
		if !(ratio > 0.5 && ratio <= 1) {
			t.Errorf("%s is off by up to %.3g of its bound", what, ratio)
		}
	}
}

// TestPairsRange: values are pairs where the largest has an exponent of 104 to 177; in a block of
// zeros all are.
func TestPairsRange(t *testing.T) {
	for largest, want := range map[float32]int32{0x1p-24: 0, 0x1p-23: 104, 1: 127, 0x1.8p50: 177, 0x1p51: 0, 0: 127} {
		exponent, into := pairsOf(2, func(i int) float32 { return []float32{largest / 4, -largest}[i] })
		if (into != 0) != (want != 0) || want != 0 && (exponent != want || into != float32(math.Ldexp(1, 141-int(want)))) {
			t.Errorf("%v: exponent %d, factor %v, want %d", largest, exponent, into, want)
		}
	}
}
