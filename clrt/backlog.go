//go:build opencl && cgo

package clrt

// #include "launch.h"
import "C"

import "time"

// backlog bounds how far the host runs ahead of the queue. A driver keeps memory for each launch
// that was not done, and a read waits for all of them. So every few launches there is a marker in
// the queue, and the host waits for the one before: there is work in the queue all the time, that
// of two intervals at most.
type backlog struct {
	interval int // launches between markers
	since    int // launches after the last marker
	marker   *C.cl_event
}

// The interval is as long as launches are short: the host waits for a marker for about backlogTime
// at most.
const (
	mostInterval = 256
	backlogTime  = 50 * time.Millisecond
)

func newBacklog() backlog { return backlog{interval: 1, marker: new(C.cl_event)} }

// launched counts launches, and waits if the host is too far ahead.
func (d *Device) launched(n int) error {
	d.stats.Launches += int64(n)
	if d.profile.full() {
		return d.finish()
	}
	b := &d.backlog
	if b.since += n; b.since < b.interval {
		return nil
	}
	b.since = 0
	begun := time.Now()
	if status := C.clrt_mark(queueHandle(d.queue), b.marker); status != C.CL_SUCCESS {
		return d.refused("clWaitForEvents", Status(status), "a launch before it failed: check mode names it")
	}
	switch waited := time.Since(begun); {
	case waited > backlogTime:
		b.interval = max(b.interval/2, 1)
	case waited < backlogTime/2:
		b.interval = min(b.interval*2, mostInterval)
	}
	return nil
}
