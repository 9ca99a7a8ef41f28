package vec

import (
	"fmt"
	"math"
	"testing"
)

// TestDeviations: sums of deviations, and of their squares, are those of maps of one row after the other, to the bit,
// at all lengths around those of vectors, for any number of rows, and nothing beside them is written.
func TestDeviations(t *testing.T) {
	for _, s := range Sets() {
		t.Run(s.String(), func(t *testing.T) {
			testDeviations[float32](t, On[float32](s))
			testDeviations[float64](t, On[float64](s))
		})
	}
}

func testDeviations[T Float](t *testing.T, l *Loops[T]) {
	const rows, stride = 11, 53
	x, from := make([]T, rows*stride), make([]T, stride)
	for i := range x {
		x[i] = T(i*i%1009)/7 - 60
	}
	x[2*stride+1], x[5*stride+4] = T(math.Inf(1)), T(math.NaN())
	for i := range from {
		from[i] = T(i%5) / 3
	}
	for n := range stride - 1 {
		for m := range rows + 1 {
			for _, squared := range []bool{false, true} {
				of := func(f func(sums, squares, from, x []T, rows, stride int)) string {
					sums, squares := make([]T, n+2), make([]T, n+2)
					for i := range sums {
						sums[i], squares[i] = T(i)/3, T(i)/9
					}
					if q := squares[1 : n+1]; squared {
						f(sums[1:n+1], q, from, x[1:], m, stride)
					} else {
						f(sums[1:n+1], nil, from, x[1:], m, stride)
					}
					return fmt.Sprint(sums, squares)
				}
				if got, want := of(l.Deviations), of(l.deviationsByMaps); got != want {
					t.Fatalf("%d rows of %d: %s, not %s", m, n, got, want)
				}
			}
		}
	}
}
