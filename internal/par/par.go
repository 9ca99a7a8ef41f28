// Package par shares loops out over the cores.
package par

import (
	"runtime"
	"sync"
)

// Grain is the least work, in elements of a cheap function, that is worth a goroutine: starting one
// and waiting for it costs about as much as a few thousand additions.
const Grain = 8192

// For runs f over [0, n) in contiguous pieces, at least min elements each, on the cores there
// are now. The pieces write apart, and an element's value must not depend on where its piece ends: then the
// result does not depend on how many there are.
func For(n, min int, f func(lo, hi int)) {
	workers := runtime.GOMAXPROCS(0)
	if most := n / min; most < workers {
		workers = most
	}
	if workers < 2 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { f(n*w/workers, n*(w+1)/workers) })
	}
	f(0, n/workers)
	wg.Wait()
}
