package ops

import (
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// TestHalfKeys: the keys of all floats of 16 bits are those of one at a time, both ways and for lines of every
// length past whole words, and the first NaN is found wherever it is.
func TestHalfKeys(t *testing.T) {
	testHalfKeys(t, halfOrder[float16.Float16](halfInfinity(kernels.Float16)))
	testHalfKeys(t, halfOrder[bfloat16.BFloat16](halfInfinity(kernels.BFloat16)))
}

func testHalfKeys[T float16.Float16 | bfloat16.BFloat16](t *testing.T, o sortOrder[T, uint16]) {
	all := make([]T, 1<<16)
	for i := range all {
		all[i] = T(i * 40503) // neighbours differ in all bits
	}
	for cut := range 8 {
		x := all[cut : len(all)-cut/2]
		keys := make([]uint16, len(x))
		for _, flip := range []uint16{0, flipped[uint16](SortDescending)} {
			o.all(keys, x, flip)
			for i, v := range x {
				if want := o.one(v) ^ flip; keys[i] != want {
					t.Fatalf("%T %#x at %d of %d: key %#x, want %#x", v, uint16(v), i, len(x), keys[i], want)
				}
			}
		}
	}
	for n := range 12 {
		for at := -1; at < n; at++ {
			line := make([]T, n)
			for i := range line {
				line[i] = 0x8000
				if at >= 0 && i >= at {
					line[i] = 0xffff
				}
			}
			if got := o.nan(line); got != at {
				t.Errorf("%T: a NaN at %d of %d found at %d", line, at, n, got)
			}
		}
	}
}
