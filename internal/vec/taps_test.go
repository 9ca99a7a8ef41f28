package vec

import (
	"fmt"
	"testing"
)

// TestTaps: sums of taps are those of one map for each, to the bit, at all lengths around those of
// vectors, and nothing beside them is written.
func TestTaps(t *testing.T) {
	for _, s := range Sets() {
		t.Run(s.String(), func(t *testing.T) {
			testTaps[float32](t, On[float32](s))
			testTaps[float64](t, On[float64](s))
		})
	}
}

func testTaps[T Float](t *testing.T, l *Loops[T]) {
	x := make([]T, 400)
	for i := range x {
		x[i] = T(i%17) / 7
	}
	for _, offsets := range [][]int{nil, {3}, {5, 0, 7, 40, 1}} {
		by := make([]T, len(offsets))
		for i := range by {
			by[i] = 1/T(3) - T(i)
		}
		for n := range 300 {
			got, want := make([]T, n+2), make([]T, n+2)
			got[0], got[n+1], want[0], want[n+1] = 7, 7, 7, 7
			l.Taps(got[1:n+1], x, offsets, by)
			l.tapsByMaps(want[1:n+1], x, offsets, by)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%d elements of %d taps are %v, not %v", n, len(offsets), got, want)
			}
		}
	}
}
