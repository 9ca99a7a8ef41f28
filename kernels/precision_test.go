package kernels

import (
	"math"
	"testing"
)

// TestPrecisionRound: factors are rounded to 11 bits, of two that are as near as TF32's and
// float16's rules say, and keep infinities and NaN.
func TestPrecisionRound(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ v, tf32, float16 float64 }{
		{1, 1, 1}, {1 + 0x1p-11, 1 + 0x1p-10, 1}, {-1 - 0x1p-11, -1 - 0x1p-10, -1}, {1 + 3*0x1p-11, 1 + 0x1p-9, 1 + 0x1p-9}, {1 + 0x1p-12, 1, 1},
		{65504, 65504, 65504}, {65520, 65536, inf}, {0x1p-24, 0x1p-24, 0x1p-24}, {0x1p-26, 0x1p-26, 0}, {0x1p100, 0x1p100, inf}, {math.MaxFloat32, inf, inf},
		{inf, inf, inf}, {-inf, -inf, -inf},
	} {
		if got := PrecisionTF32.Round(c.v); got != c.tf32 {
			t.Errorf("%v in tf32 is %v, want %v", c.v, got, c.tf32)
		}
		if got := PrecisionFloat16.Round(c.v); got != c.float16 {
			t.Errorf("%v in float16 is %v, want %v", c.v, got, c.float16)
		}
		if got := PrecisionFloat32.Round(c.v); got != c.v {
			t.Errorf("%v in float32 is %v", c.v, got)
		}
	}
	for p := PrecisionFloat32; p <= PrecisionFloat16; p++ {
		if v := p.Round(math.NaN()); v == v {
			t.Errorf("NaN in %v is %v", p, v)
		}
	}
}

// TestPrecisionText: names read back, and one that is none is refused with those that are.
func TestPrecisionText(t *testing.T) {
	for i, name := range Precisions {
		var p Precision
		if err := p.UnmarshalText([]byte(name)); err != nil || int(p) != i || p.String() != name {
			t.Errorf("%q reads as %v (%v)", name, p, err)
		}
	}
	p := PrecisionTF32
	if err := p.UnmarshalText([]byte("half")); err == nil || p != PrecisionTF32 {
		t.Errorf("a precision that is none is %v (%v)", p, err)
	}
}
