package ops

import (
	"testing"
	"unsafe"

	"github.com/clgrad/clgrad/kernels"
)

// TestScratch: scratch memory of any size begins where gonum's sums have one order.
func TestScratch(t *testing.T) {
	for n := 1; n < 300; n++ {
		for range 8 {
			aligned(t, scratch[float32](n), n)
			aligned(t, scratch[float64](n), n)
		}
	}
}

func aligned[T kernels.Float](t *testing.T, x []T, n int) {
	t.Helper()
	if at := uintptr(unsafe.Pointer(&x[0])); at%32 != 0 || len(x) != n {
		t.Errorf("%d elements at %#x, want %d", len(x), at, n)
	}
}
