package parallel

import (
	"runtime"
	"sync"
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
		if got != bad || done.Load() != 7 {
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

// TestNested: a loop within a piece of a loop, and loops of several goroutines at once, are all done
// when they return.
func TestNested(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 200 {
				var sum atomic.Int64
				For(6, 1, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						For(5, 1, func(lo, hi int) { sum.Add(int64((i + 1) * (hi - lo))) })
					}
				})
				if sum.Load() != 5*21 {
					t.Errorf("the sum is %d", sum.Load())
				}
			}
		})
	}
	callers.Wait()
}
