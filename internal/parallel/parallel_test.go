package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// TestGoexit: a piece that ends its goroutine, as Fatal of a test does, keeps no loop waiting.
func TestGoexit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for bad := range 8 {
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			For(8, 1, func(lo, hi int) {
				if lo == bad {
					runtime.Goexit()
				}
				time.Sleep(time.Millisecond)
			})
			t.Errorf("piece %d: For returns", bad)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("piece %d: For waits for ever", bad)
		}
	}
	TestFor(t) // with the helpers that are left
}

// TestLong: pieces of a long loop on many cores are right where an int has 32 bits.
func TestLong(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	const n = 10_000_000
	var sum atomic.Int64
	For(n, Grain, func(lo, hi int) {
		if lo < 0 || hi > n || lo > hi {
			t.Errorf("a piece is [%d, %d)", lo, hi)
		}
		sum.Add(int64(hi - lo))
	})
	if sum.Load() != n {
		t.Errorf("%d elements of %d", sum.Load(), n)
	}
}
