package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestJoinInts: functions of ints are those of plain loops at all lengths, and nothing else is
// written.
func TestJoinInts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	functions := map[Function]func(a, b int32) int32{
		Add: func(a, b int32) int32 { return a + b },
		Mul: func(a, b int32) int32 { return a * b },
		Max: func(a, b int32) int32 { return max(a, b) },
		Min: func(a, b int32) int32 { return min(a, b) },
	}
	for _, set := range Sets() {
		for f, of := range functions {
			for n := range 70 {
				to, x, want := make([]int32, n+1), make([]int32, n), make([]int32, n+1)
				for i := range to {
					to[i] = []int32{rng.Int32() - rng.Int32(), math.MinInt32, math.MaxInt32, 7}[rng.IntN(4)]
					if want[i] = to[i]; i < n {
						x[i] = rng.Int32() - rng.Int32()
						want[i] = of(to[i], x[i])
					}
				}
				set.JoinInts(f, to[:n], x)
				for i := range to {
					if to[i] != want[i] {
						t.Fatalf("%v: function %d of %d elements: %d at %d, want %d", set, f, n, to[i], i, want[i])
					}
				}
			}
		}
	}
}
