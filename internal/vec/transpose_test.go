package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTurn: every element comes where it belongs, at all sizes, and nothing else is written.
func TestTurn(t *testing.T) {
	testTranspose[float32](t)
	testTranspose[float64](t)
	testTranspose[int32](t)
	testTranspose[uint16](t)
	testTranspose[uint8](t)
}

func testTranspose[T float32 | float64 | int32 | uint16 | uint8](t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	numbers := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.IntN(256))
		}
		return x
	}
	for _, set := range append(Sets(), nil) {
		for n := range 18 {
			for rows := range 34 {
				from, to := numbers(rows*(n+1)), numbers(n*(rows+2))
				want := slices.Clone(to)
				for i := range n {
					for j := range rows {
						want[i*(rows+2)+j] = from[j*(n+1)+i]
					}
				}
				Transpose(set, to, rows+2, from, n+1, n, rows)
				if !slices.Equal(to, want) {
					t.Fatalf("%v, %T: %d rows of %d: %v, want %v", set, T(0), rows, n, to, want)
				}
			}
		}
	}
}
