package vec

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// TestHalves: numbers of all floats of 16 bits are those floats, and of numbers those nearest: the
// bits are those of plain loops, at all lengths, with nothing written beside them.
func TestHalves(t *testing.T) {
	t.Run("float16", testHalves[float16.Float16])
	t.Run("bfloat16", testHalves[bfloat16.BFloat16])
}

func testHalves[H Half](t *testing.T) {
	all := make([]H, 1<<16)
	for i := range all {
		all[i] = H(i)
	}
	numbers := make([]float32, len(all))
	FromHalves(nil, numbers, all)
	var rounded []float32 // what lies between two of them, and around the middle of both
	for i, v := range numbers[:len(all)-1] {
		middle := v/2 + numbers[i+1]/2
		rounded = append(rounded, middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, float32(math.Inf(1))), v)
	}
	rounded = append(rounded, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.NaN()), math.Float32frombits(0xffc00001))
	halves := make([]H, len(rounded))
	ToHalves(nil, halves, rounded)
	for _, s := range Sets() {
		t.Run(s.String(), func(t *testing.T) {
			got := make([]float32, len(all))
			FromHalves(s, got, all)
			for i, v := range got {
				if math.Float32bits(v) != math.Float32bits(numbers[i]) && (v == v || numbers[i] == numbers[i]) {
					t.Fatalf("%#x becomes %v, want %v", i, v, numbers[i])
				}
			}
			back := make([]H, len(rounded))
			ToHalves(s, back, rounded)
			for i, v := range back {
				if v != halves[i] {
					t.Fatalf("%v becomes %#x, want %#x", rounded[i], v, halves[i])
				}
			}
			for n := range 50 {
				to, halfTo := make([]float32, n+1), make([]H, n+1)
				to[n], halfTo[n] = 7, 7
				FromHalves(s, to[:n], all[0x3c00:])
				ToHalves(s, halfTo[:n], numbers[0x3c00:])
				for i := range n {
					if to[i] != numbers[0x3c00+i] || halfTo[i] != all[0x3c00+i] {
						t.Fatalf("element %d of %d is %v, %#x", i, n, to[i], halfTo[i])
					}
				}
				if to[n] != 7 || halfTo[n] != 7 {
					t.Fatalf("what lies behind %d is written", n)
				}
			}
		})
	}
}

// TestHalfLines: lines are those that are read one at a time, with nothing written between them.
func TestHalfLines(t *testing.T) {
	x := make([]bfloat16.BFloat16, 1<<12)
	for i := range x {
		x[i] = bfloat16.FromFloat32(float32(i))
	}
	for _, s := range append(Sets(), nil) {
		for _, n := range []int{0, 1, 15, 16, 17, 31, 48, 63} {
			const row, distance, lines = 70, 90, 3
			got, want := make([]float32, lines*row), make([]float32, lines*row)
			FromHalfLines(s, got, row, x[5:], distance, lines, n)
			for i := range lines {
				fromHalves(want[i*row:][:n], x[5+i*distance:][:n])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: lines of %d: other elements", s, n)
			}
		}
	}
}
