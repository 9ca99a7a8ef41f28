package kernels

import (
	"math"
	"testing"
)

func TestULPDistance(t *testing.T) {
	for _, c := range []struct {
		t    DType
		a, b float64
		want int64
	}{
		{Float32, 1, 1, 0}, {Float32, 1, 1 + 0x3p-23, 3}, {Float32, -0x1p-149, 0x1p-148, 3},
		{Float32, 0, math.Copysign(0, -1), 0}, {Float64, 1, math.Nextafter(1, 2), 1},
		{Float64, -5e-324, 5e-324, 2}, {Float32, 1, math.NaN(), math.MaxInt64},
	} {
		if got := ULPDistance(c.t, c.a, c.b); got != c.want {
			t.Errorf("ULPDistance(%v, %v, %v) = %d, want %d", c.t, c.a, c.b, got, c.want)
		}
	}
}
