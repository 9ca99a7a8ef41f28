// Package parallel shares loops out over the cores.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Grain is the least work, in elements of a cheap function, that is worth a goroutine: starting one
// and waiting for it costs about as much as a few thousand additions.
const Grain = 8192

// For runs f over [0, n) in contiguous pieces, at least min elements each, on the cores there are
// now. The pieces write apart, and an element's value must not depend on where its piece ends: then
// the result does not depend on how many there are. A panic of f, in whichever goroutine, is one of
// the caller's: nobody could recover from it elsewhere.
func For(n, min int, f func(lo, hi int)) {
	if workers := Workers(n, min); workers > 1 {
		share(n, workers, f)
	} else {
		f(0, n)
	}
}

// Workers returns on how many cores For runs: 1 if it calls f(0, n) itself.
func Workers(n, least int) int {
	if n/least < 2 {
		return 1 // without GOMAXPROCS, which takes a lock
	}
	return min(n/least, runtime.GOMAXPROCS(0))
}

// share runs f over [0, n) in as many pieces as there are workers.
func share(n, workers int, f func(lo, hi int)) {
	var wg sync.WaitGroup
	var failed atomic.Pointer[any]
	for w := 1; w < workers; w++ {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failed.CompareAndSwap(nil, &p)
				}
			}()
			f(n*w/workers, n*(w+1)/workers)
		})
	}
	func() {
		defer wg.Wait() // also if f panics here: its operands are the caller's again afterwards
		f(0, n/workers)
	}()
	if p := failed.Load(); p != nil {
		panic(*p)
	}
}
