package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTurn: every element comes where it belongs, at all sizes, and nothing else is written.
func TestTurn(t *testing.T) {
	testTurn[float32](t)
	testTurn[float64](t)
}

func testTurn[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, set := range Sets() {
		for n := range 20 {
			for rows := range 20 {
				from, to := random[T](rng, rows*(n+1)), random[T](rng, n*(rows+2))
				want := slices.Clone(to)
				for i := range n {
					for j := range rows {
						want[i*(rows+2)+j] = from[j*(n+1)+i]
					}
				}
				On[T](set).turn.run(to, rows+2, from, n+1, n, rows)
				if at := differs(to, want); at >= 0 {
					t.Fatalf("%v, %T: %d rows of %d: element %d is %v, want %v", set, to[at], rows, n, at, to[at], want[at])
				}
			}
		}
	}
}
