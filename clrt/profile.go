//go:build opencl && cgo

package clrt

// #include "launch.h"
import "C"

import "time"

// profile gathers launch events and turns them into times once the queue has finished.
type profile struct {
	pending  []launchEvent
	kernels  map[string]*KernelTime
	timeline []LaunchTime
	most     int    // launches that the timeline keeps
	label    string // of launches to come
}

type launchEvent struct {
	name, label string
	nbytes      int64
	event       C.cl_event
	added       time.Time
}

func newProfile(opt Options) profile {
	return profile{kernels: map[string]*KernelTime{}, most: opt.Timeline}
}

func (p *profile) add(name string, nbytes int64, e C.cl_event) {
	l := launchEvent{name: name, label: p.label, nbytes: nbytes, event: e}
	if p.most > 0 {
		l.added = time.Now()
	}
	p.pending = append(p.pending, l)
}

// full says that enough events wait: drivers slow down when thousands of them are alive.
func (p *profile) full() bool { return len(p.pending) >= 1024 }

func (p *profile) collect(device string) error {
	var failed error
	for _, l := range p.pending {
		var times [3]C.cl_ulong
		if status := C.clrt_event_times(l.event, &times[0]); status != C.CL_SUCCESS {
			failed = &Error{Call: "clGetEventProfilingInfo", Status: Status(status), Device: device, Detail: l.name}
			continue
		}
		k := p.kernels[l.name]
		if k == nil {
			k = &KernelTime{Name: l.name}
			p.kernels[l.name] = k
		}
		k.Calls++
		k.Nanos += int64(times[2] - times[1])
		k.Bytes += l.nbytes
		if len(p.timeline) < p.most {
			p.timeline = append(p.timeline, LaunchTime{Name: l.name, Label: l.label, Bytes: l.nbytes, Launched: l.added,
				Queued: int64(times[0]), Start: int64(times[1]), End: int64(times[2])})
		}
	}
	p.pending = p.pending[:0]
	return failed
}

func (p *profile) times() []KernelTime {
	out := make([]KernelTime, 0, len(p.kernels))
	for _, k := range p.kernels {
		out = append(out, *k)
	}
	return out
}
