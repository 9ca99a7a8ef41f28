//go:build opencl && cgo

package tensor

import (
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

// deferral keeps what a device is asked to do while a step is recorded: launches, uploads, and
// memory that is handed out and comes back. [deferral.Do] does it in the order of the step, as the
// device would have done it. A recording that does the same makes that superfluous, and the kernels
// that only the step launches are never built.
type deferral struct {
	mu      sync.Mutex // memory may come back from any goroutine
	cl      *clDevice
	dev     Device // the same, or in check mode
	waiting []deferred
	live    int64 // bytes handed out that have no place
	limit   int64 // of live
	defers  bool  // what the device is asked now: a run of the step is under way
	begun   bool  // it is being done, or forgotten, or was
	ended   bool
}

// deferred is a launch, an upload of data to args[0], or memory that is handed out or comes back.
type deferred struct {
	kernel          *kernels.Kernel
	args            []kernels.Arg
	data            *kernels.HostBuffer
	alloc, released kernels.Buffer
}

// writes reports whether it writes to b.
func (a *deferred) writes(b kernels.Buffer) bool {
	for i := range a.args {
		if a.args[i].Buf == b && (a.kernel == nil || a.kernel.Params[i].Mode.Written()) {
			return true
		}
	}
	return false
}

// deferAs lets the device, which is known as dev, keep what it is asked in the runs of a step.
func (d *clDevice) deferAs(dev Device) capture.Deferred {
	q := &deferral{cl: d, dev: dev, limit: d.dev.Info().GlobalMem / 2}
	d.deferred.Store(q)
	return q
}

// inRun says whether a run of the step begins or ends.
func (d *clDevice) inRun(begins bool) {
	if q := d.deferred.Load(); q != nil {
		q.defers = begins
	}
}

// launch keeps a launch, if launches are deferred.
func (q *deferral) launch(k *kernels.Kernel, args []kernels.Arg) bool {
	return q.keep(func() deferred { return deferred{kernel: k, args: slices.Clone(args)} })
}

// upload keeps an upload, if uploads are deferred.
func (q *deferral) upload(dst kernels.Buffer, off int, src *kernels.HostBuffer) bool {
	return q.keep(func() deferred {
		data := kernels.NewHostBuffer(src.DType(), src.Len())
		kernels.CopyHostBuffer(data, 0, src, 0, src.Len())
		return deferred{args: []kernels.Arg{kernels.BufferArg(dst, off, src.Len())}, data: data}
	})
}

// alloc keeps that b was handed out, if that can be without memory.
func (q *deferral) alloc(b kernels.Buffer) bool {
	if q != nil && q.bytes()+byteLen(b) > q.limit {
		q.Do() // memory is refused where it is needed
	}
	return q.keep(func() deferred {
		q.live += byteLen(b)
		return deferred{alloc: b}
	})
}

// bytes returns those that were handed out and have no place.
func (q *deferral) bytes() int64 {
	if q == nil {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.live
}

func (q *deferral) keep(what func() deferred) bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.defers || q.begun {
		return false
	}
	q.waiting = append(q.waiting, what())
	return true
}

// release keeps that b comes back: what is to be done before may use it.
func (q *deferral) release(b kernels.Buffer) bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return false
	}
	if !q.cl.placed(b) {
		q.live -= byteLen(b)
	}
	q.waiting = append(q.waiting, deferred{released: b})
	return true
}

// read says that the host reads b. What the step has done is done where that has a say in it.
func (q *deferral) read(b kernels.Buffer) {
	if q == nil || !q.Pending() {
		return
	}
	q.mu.Lock()
	needed := !q.cl.placed(b) || slices.ContainsFunc(q.waiting, func(a deferred) bool { return a.writes(b) })
	q.mu.Unlock()
	if needed {
		q.Do()
	}
}

// Pending reports whether nothing was done.
func (q *deferral) Pending() bool { return !q.begun }

// Do does what was kept; what follows is done at once. The caller has claimed the device.
func (q *deferral) Do() {
	q.end(func(a *deferred) {
		switch {
		case q.cl.Err() != nil:
		case a.alloc != nil && !q.cl.placed(a.alloc):
			q.cl.fail(q.cl.place(a.alloc))
		case a.kernel != nil:
			q.dev.launch(a.kernel, a.kernel.FloatOf(a.args, q.cl.float), a.args)
		case a.data != nil:
			q.cl.fail(q.cl.write(a.args[0].Buf, a.args[0].Off, a.data))
		}
	})
}

// Drop forgets what was kept.
func (q *deferral) Drop() { q.end(func(*deferred) {}) }

// end calls f with all that was kept, and takes back the memory that came back: what comes back
// meanwhile, at the end.
func (q *deferral) end(f func(a *deferred)) {
	q.mu.Lock()
	waiting, begun := q.waiting, q.begun
	q.waiting, q.begun = nil, true
	q.mu.Unlock()
	if begun {
		return
	}
	at := 0
	defer func() { // also where f panics
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, a := range append(waiting[at:], q.waiting...) {
			if a.released != nil {
				q.cl.vacate(a.released)
			}
		}
		q.waiting, q.ended = nil, true
		q.cl.deferred.Store(nil)
	}()
	for ; at < len(waiting); at++ {
		if a := &waiting[at]; a.released != nil {
			q.cl.vacate(a.released)
		} else {
			f(a)
		}
	}
}

// Place gives memory to b.
func (q *deferral) Place(b kernels.Buffer) error {
	if q.cl.placed(b) {
		return nil
	}
	return q.cl.place(b)
}

func byteLen(b kernels.Buffer) int64 { return int64(b.Len()) * int64(b.DType().Size()) }
