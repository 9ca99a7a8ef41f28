package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackTaps: products by what taps meet, at overlapping places of planes, are those by the same matrix laid out,
// whichever set packs it.
func TestPackTaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ m, k, n, taps int }{{1, 4, 1, 1}, {5, 8, 16, 3}, {3, 4, 35, 9}, {13, 20, 100, 2},
		{7, 64, 33, 9}} {
		const step = 211
		places := make([]int, c.taps)
		for i := range places {
			places[i] = rng.IntN(step - c.n)
		}
		b, a := c.k*step+15, c.m*c.k*c.taps
		testByteTaps(t, c.m, c.k, c.n, step, places, extremes[int8](rng, b), extremes[uint8](rng, a))
		testByteTaps(t, c.m, c.k, c.n, step, places, extremes[uint8](rng, b), extremes[int8](rng, a))
	}
}

// testByteTaps compares the product of a [m, k·taps] and what the taps of b meet with that of the matrix laid out.
func testByteTaps[A, B Byte](t *testing.T, m, k, n, step int, places []int, b []B, a []A) {
	t.Helper()
	var laid []B
	for _, at := range places {
		for i := range k {
			laid = append(laid, b[at+i*step:][:n]...)
		}
	}
	sum := k * len(places)
	product := func(set *Set, matrix *ByteMatrix) []int32 {
		c := make([]int32, m*n)
		MultiplyBytes(set, ByteProduct{M: m, A: BytesOf(a), RowA: sum, StepA: 1, ZeroA: []int32{5}, B: matrix,
			ZeroB: []int32{-7}, C: c, RowC: n}, nil)
		return c
	}
	var whole, taps ByteMatrix
	whole.Pack(nil, BytesOf(laid), sum, n, n, 1, nil)
	want := product(nil, &whole)
	for _, set := range byteSets() {
		for way, each := range []func(n, min int, f func(lo, hi int)){nil, inOne, inPieces} {
			taps.PackTaps(set, BytesOf(b), places, k, n, step, each)
			if got := product(set, &taps); !slices.Equal(got, want) {
				t.Fatalf("%v, way %d, %d planes, taps at %v, %d positions: %v, want %v", set, way, k, places, n,
					got, want)
			}
		}
	}
}
