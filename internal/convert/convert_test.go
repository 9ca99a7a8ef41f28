package convert_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/x448/float16"
)

// TestToFloat16: between any two neighbours the middle goes to the even one, and what lies next to
// the middle, however near, to its own side; beyond the largest by half a step is infinity.
func TestToFloat16(t *testing.T) {
	is := func(x float64, want float16.Float16) {
		t.Helper()
		if got := convert.ToFloat16(x); got != want {
			t.Errorf("%x becomes %v, want %v", x, got, want)
		}
		if got := convert.ToFloat16(-x); got != want|0x8000 {
			t.Errorf("%x becomes %v, want %v", -x, got, -want.Float32())
		}
		if f := float32(x); float64(f) == x && convert.ToFloat16(f) != want {
			t.Errorf("the float32 %x becomes %v, want %v", f, convert.ToFloat16(f), want)
		}
	}
	for h := float16.Float16(0); h < 0x7c00; h++ {
		low, high := float64(h.Float32()), float64((h + 1).Float32())
		if h == 0x7bff {
			high = 0x1p16 // where the next would be
		}
		middle := (low + high) / 2
		is(low, h)
		is(middle, h+h&1)
		is(math.Nextafter(middle, 0), h)
		is(math.Nextafter(middle, high), h+1)
	}
	is(math.Inf(1), 0x7c00)
	if got := convert.ToFloat16(math.NaN()); !got.IsNaN() {
		t.Errorf("NaN becomes %v", got)
	}
}

// TestToIntegers: fractions are cut off, what is beyond the range is its end, NaN is 0.
func TestToIntegers(t *testing.T) {
	for _, c := range []struct {
		x float64
		i int32
		u uint8
	}{
		{0, 0, 0}, {0.99, 0, 0}, {-0.99, 0, 0}, {1.99, 1, 1}, {-1.99, -1, 0}, {254.5, 254, 254}, {255, 255, 255}, {255.5, 255, 255},
		{256, 256, 255}, {-256, -256, 0}, {0x1p31 - 1, math.MaxInt32, 255}, {0x1p31, math.MaxInt32, 255}, {0x1p31 - 128, 0x7fffff80, 255},
		{-0x1p31, math.MinInt32, 0}, {-0x1p31 + 1, math.MinInt32 + 1, 0}, {-0x1p40, math.MinInt32, 0},
		{math.Inf(1), math.MaxInt32, 255}, {math.Inf(-1), math.MinInt32, 0}, {math.NaN(), 0, 0},
	} {
		if i, u := convert.ToInteger[int32](c.x), convert.ToInteger[uint8](c.x); i != c.i || u != c.u {
			t.Errorf("%v becomes %d and %d, want %d and %d", c.x, i, u, c.i, c.u)
		}
		if f := float32(c.x); float64(f) == c.x && (convert.ToInteger[int32](f) != c.i || convert.ToInteger[uint8](f) != c.u) {
			t.Errorf("the float32 %v becomes %d and %d, want %d and %d", f, convert.ToInteger[int32](f), convert.ToInteger[uint8](f), c.i, c.u)
		}
	}
}

// TestWideIntegers: the ends of the ranges of the others, and that nothing below them changes.
func TestWideIntegers(t *testing.T) {
	for _, c := range []struct {
		x float64
		i int64
		u uint64
		b int8
		w uint32
	}{
		{0x1p63, math.MaxInt64, 1 << 63, 127, math.MaxUint32}, {-0x1p63, math.MinInt64, 0, -128, 0}, {0x1p64, math.MaxInt64, math.MaxUint64, 127, math.MaxUint32},
		{0x1.fffffffffffffp63, math.MaxInt64, 0xfffffffffffff800, 127, math.MaxUint32}, {0x1.fffffffffffffp62, 0x7ffffffffffffc00, 0x7ffffffffffffc00, 127, math.MaxUint32},
		{-128.9, -128, 0, -128, 0}, {127.9, 127, 127, 127, 127}, {4294967295.5, 4294967295, 4294967295, 127, math.MaxUint32},
		{math.NaN(), 0, 0, 0, 0}, {math.Inf(-1), math.MinInt64, 0, -128, 0}, {math.Inf(1), math.MaxInt64, math.MaxUint64, 127, math.MaxUint32},
	} {
		i, u, b, w := convert.ToInteger[int64](c.x), convert.ToInteger[uint64](c.x), convert.ToInteger[int8](c.x), convert.ToInteger[uint32](c.x)
		if i != c.i || u != c.u || b != c.b || w != c.w {
			t.Errorf("%v becomes %d, %d, %d and %d", c.x, i, u, b, w)
		}
	}
}

// TestOddFloat: an integer that is rounded to a float16 by way of it is the nearest one, ties to even,
// and its sign and what a float32 holds stay.
func TestOddFloat(t *testing.T) {
	for _, x := range []int64{0, 1, -1, 1<<24 - 1, 1 << 24, -1 << 24, 1 << 62, math.MinInt64} {
		if got := convert.OddFloat(x); int64(got) != x {
			t.Errorf("%d becomes %v", x, got)
		}
	}
	// Halfway between two bfloat16 near 2³¹, and beside it by one: of a float32 they are one number.
	const middle = 1<<31 + 1<<23
	for x, want := range map[int64]float32{middle: 1 << 31, middle + 1: 1<<31 + 1<<24, middle - 1: 1 << 31, -middle - 1: -(1<<31 + 1<<24)} {
		if got := convert.ToBFloat16(convert.OddFloat(x)).Float32(); got != want {
			t.Errorf("%d becomes the bfloat16 %v, want %v", x, got, want)
		}
	}
	if got := convert.OddFloat(uint64(math.MaxUint64)); got != 0x1.fffffep63 {
		t.Errorf("the largest becomes %x", got)
	}
}
