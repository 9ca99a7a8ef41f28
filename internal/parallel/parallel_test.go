package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestPanic: a panic of any piece is the caller's, once all pieces are done.
func TestPanic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for bad := range 4 {
		var done atomic.Int32
		got := func() (p any) {
			defer func() { p = recover() }()
			For(8, 1, func(lo, hi int) {
				if lo == 2*bad {
					panic(bad)
				}
				done.Add(int32(hi - lo))
			})
			return nil
		}()
		if got != bad || done.Load() != 6 {
			t.Errorf("piece %d: recovered %v after %d others", bad, got, done.Load())
		}
	}
}

// TestFor: every index is in one piece.
func TestFor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, n := range []int{0, 1, 2, 3, 10, 1001} {
		seen := make([]int32, n)
		For(n, 2, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				seen[i]++
			}
		})
		for i, times := range seen {
			if times != 1 {
				t.Errorf("%d of %d is in %d pieces", i, n, times)
			}
		}
	}
}
