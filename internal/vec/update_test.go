package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAdamW: the loop is the rule in plain arithmetic, bit for bit, at all lengths; what is not a
// number stays where it is, and nothing beyond the last element is written.
func TestAdamW(t *testing.T) {
	testAdamW[float32](t)
	testAdamW[float64](t)
}

func testAdamW[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, set := range Sets() {
		l := On[T](set)
		l.AdamW(nil, nil, nil, nil, &AdamW[T]{}) // nothing to do
		for n := range 100 {
			by := &AdamW[T]{0.9, 0.8, 0.3, 0.99, 0.02, 0.01, 1.5, 1e-8}
			p, g, m, v := random[T](rng, n+1), random[T](rng, n+1), random[T](rng, n+1), random[T](rng, n+1)
			for i := range v {
				v[i] = T(math.Abs(float64(v[i])))
			}
			if n > 3 {
				g[rng.IntN(n)], m[n-1], v[0], g[0] = T(math.NaN()), T(math.Inf(1)), 0, 0
			}
			var want [3][]T
			for i, s := range [][]T{p, m, v} {
				want[i] = slices.Clone(s)
			}
			for i := range n {
				p, m, v := &want[0][i], &want[1][i], &want[2][i]
				d := g[i]
				part := by.OneB2 * d
				*m = fused[T](float64(by.B1), float64(*m), float64(T(d*by.OneB1)))
				*v = fused[T](float64(by.B2), float64(*v), float64(T(part*d)))
				change := T(by.Step**m) / fused[T](float64(T(math.Sqrt(float64(*v)))), float64(by.Root), float64(by.Eps))
				*p = T(*p*by.Keep) - change
			}
			l.AdamW(p[:n], g, m, v, by)
			for i, s := range [][]T{p, m, v} {
				for j, got := range s {
					if want := want[i][j]; got != want && (got == got || want == want) {
						t.Fatalf("%v, %T, %d elements: element %d of operand %d is %v, want %v", set, got, n, j, i, got, want)
					}
				}
			}
		}
	}
}
