//go:build !race

package vec

import (
	"math/rand/v2"
	"testing"
)

// The race detector makes a sync.Pool forget.

// TestProductAllocates: nothing, once its scratch is there.
func TestProductAllocates(t *testing.T) {
	for _, set := range Sets() {
		for _, size := range [][3]int{{130, 65, 300}, {130, 3, 64}} {
			p := form[float32](rand.New(rand.NewPCG(9, 10)), 3, size[0], size[1], size[2], 0)
			l := On[float32](set)
			if n := testing.AllocsPerRun(20, func() { l.Product(*p, nil) }); n > 0 {
				t.Errorf("%v, %v: %v allocations", set, size, n)
			}
		}
	}
}

// TestMultiplyBytesAllocates: nothing, once its scratch is there.
func TestMultiplyBytesAllocates(t *testing.T) {
	a, b, c := make([]uint8, 130*300), make([]int8, 300*65), make([]int32, 130*65)
	for _, set := range setsAndPlain() {
		var m ByteMatrix
		multiply := func() {
			m.Pack(set, BytesOf(b), 300, 65, 65, 1, nil)
			MultiplyBytes(set, ByteProduct{M: 130, A: BytesOf(a), RowA: 300, StepA: 1, B: &m, C: c, RowC: 65}, nil)
		}
		if n := testing.AllocsPerRun(20, multiply); n > 0 {
			t.Errorf("%v: %v allocations", set, n)
		}
	}
}

// TestWeightsAllocate: nothing, once their scratch is there.
func TestWeightsAllocate(t *testing.T) {
	w := newWeights(4, 320, 65, 32)
	x, y := make([]float32, 40*320), make([]float32, 40*65)
	for _, set := range setsAndPlain() {
		for _, m := range []int{1, 40} {
			if n := testing.AllocsPerRun(20, func() { w.Multiply(set, m, x, 320, y, 65, nil) }); n > 0 {
				t.Errorf("%v, %d rows: %v allocations", set, m, n)
			}
		}
	}
}
