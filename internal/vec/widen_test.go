package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAddWide: sums in double precision are those of plain loops, bit for bit, at all lengths, and
// nothing else is written.
func TestAddWide(t *testing.T) {
	testAddWide[float32](t)
	testAddWide[float64](t)
}

func testAddWide[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	for _, set := range Sets() {
		for n := range 70 {
			x, to := random[T](rng, n), random[float64](rng, n+1)
			if n > 3 {
				x[n-1], x[0], to[1], x[1] = T(math.NaN()), T(math.Inf(1)), math.Inf(-1), T(math.Inf(1))
			}
			want := append([]float64(nil), to...)
			for i, v := range x {
				want[i] += float64(v)
			}
			On[T](set).AddWide(to, x)
			for i := range want {
				if to[i] != want[i] && (to[i] == to[i] || want[i] == want[i]) {
					t.Fatalf("%v, %T: sum %d of %d is %v, want %v", set, T(0), i, n, to[i], want[i])
				}
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v, %T: %d sums for %d elements: no panic", set, T(0), n, n+1)
					}
				}()
				On[T](set).AddWide(to[:n:n], make([]T, n+1))
			}()
		}
	}
}
