package tensor

import (
	"runtime"
	"time"
)

// collector makes the garbage collector run for the sake of device memory, of which it knows
// nothing: a tensor that nobody holds is a few words to it.
type collector struct {
	last int64 // bytes live after the last collection
	runs int
}

// collectFrom is the least growth, in bytes, that is worth a collection.
const collectFrom = 64 << 20

// due reports whether live bytes have grown by half since the last collection, and by collectFrom
// at least.
func (c *collector) due(live int64) bool { return live-c.last >= max(c.last/2, collectFrom) }

// collect runs the garbage collector and waits until the memory of the tensors that it found has
// come back.
func (c *collector) collect(live func() int64) {
	swept := make(chan struct{})
	runtime.AddCleanup(&struct{ self *int }{}, func(ch chan struct{}) { close(ch) }, swept)
	runtime.GC()
	select {
	case <-swept: // cleanups run in several goroutines: others may still be under way
	case <-time.After(10 * time.Millisecond):
	}
	c.last = live()
	for range 20 {
		time.Sleep(50 * time.Microsecond)
		now := live()
		if now == c.last {
			break
		}
		c.last = now
	}
	c.runs++
}
