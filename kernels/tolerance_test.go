package kernels

import (
	"math"
	"testing"
)

// TestAccepts holds a tolerance to its bounds, from both sides.
func TestAccepts(t *testing.T) {
	up := func(v float64, n int) float64 {
		for range n {
			v = float64(math.Nextafter32(float32(v), 1e38))
		}
		return v
	}
	exact, inf, nan := Tolerance{}, math.Inf(1), math.NaN()
	for _, c := range []struct {
		tol       Tolerance
		got, want float64
		scale     float64
		ok        bool
	}{
		{exact, 1, 1, 0, true}, {exact, up(1, 1), 1, 0, false}, {exact, 0, math.Copysign(0, -1), 0, true},
		{ULP(3), up(1, 3), 1, 0, true}, {ULP(3), up(1, 4), 1, 0, false}, {ULP(3), 1, up(1, 4), 0, false}, {ULP(3), up(1, 3000), 1, 0, false},
		{ULP(3), -up(5e7, 3), -5e7, 0, true}, {ULP(3), -up(5e7, 4), -5e7, 0, false},
		{Tolerance{Rel: 4}, 1 + 4*0x1p-23, 1, 1, true}, {Tolerance{Rel: 4}, 1 + 5*0x1p-23, 1, 1, false},
		{Tolerance{Rel: 4}, 1e-6, 0, 10, true}, {Tolerance{Rel: 4}, 1e-5, 0, 10, false},
		{ULP(3), nan, nan, 0, true}, {ULP(3), nan, 1, 0, false}, {ULP(3), 1, nan, 0, false},
		{ULP(3), inf, inf, 0, true}, {ULP(3), inf, -inf, 0, false}, {ULP(3), math.MaxFloat32, inf, 0, false}, {Tolerance{Rel: 4}, 1, inf, inf, false},
		{ULP(3), 0, 1e-39, 0, true}, {exact, 0, 1e-39, 0, false}, {ULP(3), 0, 0x1p-126, 0, false}, {ULP(3), -0x1p-126, 0, 0, false}, // denormals may be flushed
	} {
		if ok := c.tol.Accepts(Float32, c.got, c.want, c.scale); ok != c.ok {
			t.Errorf("%+v accepts %v for %v at scale %v: %v", c.tol, c.got, c.want, c.scale, ok)
		}
	}
	if ULP(3).Accepts(Float64, 1+4*0x1p-52, 1, 0) || !ULP(3).Accepts(Float64, 1+3*0x1p-52, 1, 0) {
		t.Error("the bound is not that of float64")
	}
}

// TestAcceptsElements: integers match themselves alone, whatever the tolerance; float16 within its
// own units.
func TestAcceptsElements(t *testing.T) {
	wide, exact := Tolerance{ULP: 1000, Rel: 1000}, Tolerance{}
	for _, c := range []struct {
		elem      DType
		tol       Tolerance
		got, want float64
		ulp       int64
		ok        bool
	}{
		{Int32, wide, 7, 7, 0, true}, {Int32, wide, 7, 8, 1, false}, {Int32, wide, 0, 1, 1, false}, {Int32, wide, math.MinInt32, math.MaxInt32, 1<<32 - 1, false},
		{Uint8, wide, 255, 255, 0, true}, {Uint8, wide, 0, 255, 255, false}, {Uint8, wide, 1, 0, 1, false},
		{Float16, ULP(2), 1 + 0x2p-10, 1, 2, true}, {Float16, ULP(2), 1 + 0x3p-10, 1, 3, false}, {Float16, ULP(2), 0, 0x1p-15, 512, true}, // flushed
		{Float16, exact, 0, 0x1p-24, 1, false}, {Float16, exact, -0x1p-24, 0x1p-24, 2, false}, {Float16, ULP(2), 65504, math.Inf(1), 1, false},
		{Float16, Tolerance{Rel: 2}, 1 + 0x2p-10, 1, 2, true}, {Float16, Tolerance{Rel: 2}, 1 + 0x3p-10, 1, 3, false},
	} {
		if ok := c.tol.Accepts(c.elem, c.got, c.want, 1); ok != c.ok {
			t.Errorf("%v: %+v accepts %v for %v: %v", c.elem, c.tol, c.got, c.want, ok)
		}
		if ulp := ULPDistance(c.elem, c.got, c.want); ulp != c.ulp {
			t.Errorf("%v: %v and %v are %d apart, want %d", c.elem, c.got, c.want, ulp, c.ulp)
		}
	}
}

// TestULPDistance: it is the same both ways, and grows as far as it can be counted.
func TestULPDistance(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		elem DType
		a, b float64
		want int64
	}{
		{Float64, 1, 1, 0}, {Float64, 0, math.Copysign(0, -1), 0}, {Float64, 1, math.Nextafter(1, 2), 1}, {Float64, -1, math.Nextafter(-1, 0), 1},
		{Float64, -5e-324, 5e-324, 2}, {Float64, math.MaxFloat64, inf, 1}, {Float64, 1, -1, 2 * 0x3ff << 52},
		{Float64, 2, math.Copysign(0, -1), 0x400 << 52}, {Float64, math.Nextafter(2, 0), -2, 1<<63 - 1}, {Float64, 2, -2, math.MaxInt64},
		{Float64, 2.5, -2, math.MaxInt64}, {Float64, math.MaxFloat64, -math.MaxFloat64, math.MaxInt64}, {Float64, -inf, inf, math.MaxInt64},
		{Float64, nan, 1, math.MaxInt64}, {Float64, 1, nan, math.MaxInt64}, {Float64, nan, nan, math.MaxInt64},
		{Float32, -0x1p-149, 0x1p-148, 3}, {Float32, 1, 1 + 0x3p-23, 3}, {Float32, 1, nan, math.MaxInt64}, {Float32, math.MaxFloat32, inf, 1}, {Float32, -inf, inf, 2 * 0xff << 23},
		{Float64, 0, 5e-324, 1}, {Float32, 0, 0x1p-149, 1}, {Float16, 0, 0x1p-24, 1}, {Float16, -0x1p-24, 0, 1}, {Float16, 1, -1, 2 * 0xf << 10},
		{Float16, -0x1p-24, 0x1p-24, 2}, {Float16, 65504, inf, 1}, {Float16, -inf, inf, 2 * 0x1f << 10},
		{Int32, math.MinInt32, math.MaxInt32, 1<<32 - 1}, {Uint8, 3, 5, 2},
	} {
		if got, back := ULPDistance(c.elem, c.a, c.b), ULPDistance(c.elem, c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%v: %v and %v are %d, and the other way round %d apart, want %d", c.elem, c.a, c.b, got, back, c.want)
		}
	}
}
