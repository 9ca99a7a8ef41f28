package fusedmlp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
)

// TestStepInParts: what a step leaves has the same bits, however many samples go through all layers
// at a time: gradients, those of the inputs, and the loss.
func TestStepInParts(t *testing.T) {
	sets := vec.Sets()
	if len(sets) == 0 {
		t.Skip("this processor has no vectors that we use")
	}
	s := MLPShape{Inputs: 8, Width: 16, Layers: 2, Outputs: 3, Slope: 0.1}
	rng := rand.New(rand.NewPCG(51, 52))
	draw := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for _, n := range []int{0, 1, mlpCached, mlpCached + 1, 2*mlpCached + 77} {
		x, want, w := draw(n*s.Inputs), draw(n*s.Outputs), draw(s.Size())
		var left [2][]float32
		for i, most := range []int{max(n, 1), mlpCached} {
			m := &mlpScratch[float32]{factor: [2]float32{0.1, 1}, hidden: w}
			m.loops = vec.On[float32](sets[0])
			part, dx := make([]float32, s.Size()), draw(n*s.Inputs)
			for range 2 { // what an earlier step left is no part of it
				loss := m.pass(s, x, want, w, make([]*[]float32, s.Layers), part, dx, n, most)
				left[i] = append(append(append(left[i][:0], part...), dx...), loss)
			}
		}
		for i, v := range left[0] {
			if got := left[1][i]; math.Float32bits(got) != math.Float32bits(v) {
				t.Fatalf("%d samples: number %d of %d is %v, want %v", n, i, len(left[0]), got, v)
			}
		}
	}
}
