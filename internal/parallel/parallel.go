// Package parallel shares loops out over the cores.
package parallel

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

// Grain is the least work, in elements of a cheap function, that is worth another core: handing it over
// and waiting for it costs about as much as a few thousand additions.
const Grain = 8192

// pieces is how many pieces each core has of a loop: one that starts late, or is slower, takes fewer.
const pieces = 4

// spin is how long a goroutine looks for work, or for the end of it, before it sleeps: operations
// follow each other, and to wake one up takes about as long as an operation of 10⁵ elements.
const spin = 50 * time.Microsecond

// For runs f over [0, n) in contiguous pieces, on as many cores as have min elements each, of those
// there are now. The pieces write apart, and an element's value must not depend on where its piece ends: then
// the result does not depend on how many there are. A panic of f, in whichever goroutine, is one of
// the caller's: nobody could recover from it elsewhere. So is runtime.Goexit, which ends a test: of
// another goroutine it is a panic.
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

// job is a loop that goroutines take pieces of.
type job struct {
	f      func(lo, hi int)
	n      int
	pieces int64
	next   atomic.Int64 // the first piece that nobody took
	left   atomic.Int64 // pieces that are not done
	done   chan struct{}
	failed atomic.Pointer[any]
}

// Goroutines that help take jobs from offered; started is how many there are.
var (
	offered = make(chan *job, 64)
	started atomic.Int64
)

// share runs f over [0, n) on some cores: the caller's, and those of goroutines that wait for work.
func share(n, workers int, f func(lo, hi int)) {
	j := &job{f: f, n: n, pieces: int64(min(n, pieces*workers)), done: make(chan struct{}, 1)}
	j.left.Store(j.pieces)
	for w := 1; w < workers; w++ {
		if have := started.Load(); have < int64(workers-1) && started.CompareAndSwap(have, have+1) {
			go help()
		}
		select {
		case offered <- j:
		default: // all have enough to do
		}
	}
	func() {
		defer j.wait() // also if f ends this goroutine: its operands are the caller's again afterwards
		j.run()
	}()
	if p := j.failed.Load(); p != nil {
		panic(*p)
	}
}

// wait returns when all pieces are done.
func (j *job) wait() {
	if !soon(func() bool { return j.left.Load() == 0 }) {
		<-j.done
	}
}

// help runs jobs, until a piece ends its goroutine.
func help() {
	defer started.Add(-1)
	for {
		soon(func() bool { return len(offered) > 0 })
		(<-offered).run()
	}
}

// soon waits until a condition holds, and reports whether it did within spin.
func soon(holds func() bool) bool {
	for start := time.Now(); !holds(); {
		if time.Since(start) > spin {
			return false
		}
	}
	return true
}

// run takes pieces while there are any.
func (j *job) run() {
	for {
		p := j.next.Add(1) - 1
		if p >= j.pieces {
			return
		}
		j.piece(p)
	}
}

var errExit = errors.New("parallel: a piece of a loop ended its goroutine with runtime.Goexit")

// piece runs a piece, and keeps its panic for the caller. If it ends its goroutine, nobody takes those
// that are left.
func (j *job) piece(p int64) {
	returned := false
	defer func() {
		r, done := recover(), int64(1)
		if r == nil && !returned {
			r, done = errExit, done+max(0, j.pieces-j.next.Swap(j.pieces))
		}
		if r != nil {
			j.failed.CompareAndSwap(nil, &r)
		}
		if j.left.Add(-done) == 0 {
			j.done <- struct{}{}
		}
	}()
	n := int64(j.n)
	j.f(int(n*p/j.pieces), int(n*(p+1)/j.pieces))
	returned = true
}
