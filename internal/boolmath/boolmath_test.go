package boolmath

import (
	"math"
	"testing"
)

// TestPositive: of every magnitude of either type, the least included.
func TestPositive(t *testing.T) {
	nan := math.NaN()
	for x, want := range map[float64]int{1: 1, -1: 0, 0: 0, math.Copysign(0, -1): 0, 5e-324: 1, -5e-324: 0, 1e300: 1, -1e300: 0, math.Inf(1): 1, math.Inf(-1): 0} {
		if got := Positive(x); got != want {
			t.Errorf("Positive(%v) = %d", x, got)
		}
	}
	for x, want := range map[float32]int{1: 1, -1: 0, 0: 0, 1e-45: 1, -1e-45: 0, float32(math.Inf(1)): 1, float32(math.Inf(-1)): 0, float32(math.Copysign(0, -1)): 0} {
		if got := Positive(x); got != want {
			t.Errorf("Positive(float32(%v)) = %d", x, got)
		}
	}
	if Positive(nan) != 1 || Positive(math.Copysign(nan, -1)) != 0 {
		t.Error("a NaN does not count by its sign bit")
	}
	if Select(true, 1, nan) != 1 || Select(false, nan, 2) != 2 {
		t.Error("When takes the other one")
	}
}
