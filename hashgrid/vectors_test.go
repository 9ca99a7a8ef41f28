package hashgrid

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
)

// TestVectors: features and gradients by vector instructions are those of plain loops, bit for bit,
// for whole blocks of samples and others, and for parts of a level.
func TestVectors(t *testing.T) {
	sets := vec.Sets()
	if len(sets) == 0 {
		t.Skip("this processor has no vectors that we use")
	}
	levels := []int32{0, 4, 3, 0, 0, 3, 30, 8, 6, 0, 120, 0, 110, 37, 29, 63, 200, 1}
	const features, count = vec.CornerFeatures, 3
	rng := rand.New(rand.NewPCG(41, 42))
	draw := func(n int, low, high float64) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(low + (high-low)*rng.Float64())
		}
		return s
	}
	for _, set := range sets {
		loops := vec.On[float32](set)
		if !loops.HasCorners() {
			continue
		}
		for _, n := range []int{0, 1, 7, 8, 9, samples - 1, samples, samples + 1, 5*samples + 13} {
			centres, table, g := draw(2*n, -0.1, 1.1), draw(features*testEntries, -1, 1), draw(n*count*features, -1, 1)
			var out, d [2][]float32
			for i, l := range []*vec.Loops[float32]{nil, loops} {
				out[i], d[i] = draw(n*count*features, 5, 6), draw(features*testEntries, 5, 6)
				encodeSamples(l, centres, table, levels, out[i], features, count, 0, n/2)
				encodeSamples(l, centres, table, levels, out[i], features, count, n/2, n)
				for at, bounds := range [][]int{{0, 11, 11, 30}, {30, 110}, {110, 140, 174}} {
					for j := 1; j < len(bounds); j++ {
						addLevel(l, d[i], centres, g, levels[at*perLevel:], features, at, n, count, bounds[j-1], bounds[j])
					}
				}
			}
			for what, pair := range map[string][2][]float32{"features": out, "gradient": d} {
				for i, want := range pair[0] {
					if got := pair[1][i]; math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%v, %d samples, %s: number %d is %v, want %v", set, n, what, i, got, want)
					}
				}
			}
		}
	}
}
