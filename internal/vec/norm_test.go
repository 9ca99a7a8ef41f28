package vec

import (
	"fmt"
	"math"
	"testing"
)

// TestNorms: the steps of norms have the bits of the loops that they stand for, at all lengths around those of vectors
// and of blocks, on other memory and in place, and write nothing beside their results.
func TestNorms(t *testing.T) {
	for _, s := range Sets() {
		t.Run(s.String(), func(t *testing.T) {
			testNorms[float32](t, On[float32](s))
			testNorms[float64](t, On[float64](s))
		})
	}
}

func testNorms[T Float](t *testing.T, l *Loops[T]) {
	maps := &Loops[T]{maps: l.maps, rowLoops: l.rowLoops}
	var lengths []int
	for n := range 100 {
		lengths = append(lengths, n)
	}
	for _, special := range []T{0, T(math.Inf(1)), T(math.NaN()), T(math.Copysign(0, -1))} {
		for _, n := range append(lengths, sumBlock-1, sumBlock, sumBlock+1, 3*sumBlock+17) {
			for _, by := range []T{0, -1.25, special} {
				of := func(l *Loops[T], inPlace bool) string {
					x, to := make([]T, n+2), make([]T, n+2)
					w, b := make([]T, n+2), make([]T, n+2)
					for i := range x {
						x[i], w[i], b[i] = T(i*i%1009)/7-60, T(i%13)/3, T(i%7)/9
					}
					x[(n+1)/2] = special
					if inPlace {
						to = x
					}
					s := l.SubSum(to[1:n+1], x[1:n+1], by)
					first := fmt.Sprint(to)
					q := l.SubSquares(to[1:n+1], x[1:n+1], by)
					second := fmt.Sprint(to)
					l.ScaledFMA(to[1:n+1], x[1:n+1], by, w[1:n+1], b[1:n+1])
					third := fmt.Sprint(to)
					h, up := make([]T, n+2), make([]T, n+2)
					l.NormGradSums(h[1:n+1], up[1:n+1], w[1:n+1], b[1:n+1], x[1:n+1], to[1:n+1], w[1:n+1], by, 3)
					fourth := fmt.Sprint(h, up, w, b)
					l.NormGrad(to[1:n+1], up[1:n+1], h[1:n+1], by, 2, special)
					return fmt.Sprint(s, q, first, second, third, fourth, to)
				}
				for _, inPlace := range []bool{false, true} {
					if got, want := of(l, inPlace), of(maps, inPlace); got != want {
						t.Fatalf("%d elements, by %v, in place %t: %s, not %s", n, by, inPlace, got, want)
					}
				}
			}
		}
	}
}
