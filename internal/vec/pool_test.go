package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestMaxPool: maxima and their places are those of plain loops for all lengths, of ties the first
// and of NaN the last, wherever a row begins; nothing else is written or read.
func TestMaxPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1))
	for _, set := range Sets() {
		l := On[float32](set)
		if !l.HasMaxPool(shortPool) {
			continue
		}
		if l.HasMaxPool(shortPool - 1) {
			t.Errorf("%v: rows of %d are none that the loop knows", set, shortPool-1)
		}
		for n := shortPool; n < 40; n++ {
			width := 2*n + n%3
			x := random[float32](rng, width+2*n)
			for range n {
				x[rng.IntN(len(x))] = []float32{nan, inf, zero, 0, 0.5, 0.5}[rng.IntN(6)]
			}
			const first = 1000
			y, places := make([]float32, n+1), make([]int32, n+1)
			y[n], places[n] = 77, 77
			l.MaxPool(y[:n], places[:n], x, width, first)
			alone := make([]float32, n)
			l.MaxPool(alone, nil, x, width, first)
			for i := range n {
				best, at := float32(0), -1
				for _, p := range []int{2 * i, 2*i + 1, width + 2*i, width + 2*i + 1} {
					if v := x[p]; at < 0 || v > best || v != v {
						best, at = v, p
					}
				}
				if math.Float32bits(y[i]) != math.Float32bits(best) || places[i] != int32(first+at) || math.Float32bits(alone[i]) != math.Float32bits(best) {
					t.Fatalf("%v: output %d of %d: %v at %d, and alone %v, want %v at %d", set, i, n, y[i], places[i], alone[i], best, first+at)
				}
			}
			if y[n] != 77 || places[n] != 77 {
				t.Fatalf("%v: %d outputs: more was written", set, n)
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: %d outputs of too short an input: no panic", set, n)
					}
				}()
				l.MaxPool(y[:n], places[:n], x[:len(x)-1], width, first)
			}()
		}
	}
}
