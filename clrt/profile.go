//go:build opencl && cgo

package clrt

// #include "launch.h"
import "C"

// profile gathers launch events and turns them into times once the queue has finished.
type profile struct {
	pending []launchEvent
	kernels map[string]*KernelTime
}

type launchEvent struct {
	name   string
	nbytes int64
	event  C.cl_event
}

func newProfile() profile { return profile{kernels: map[string]*KernelTime{}} }

func (p *profile) add(name string, nbytes int64, e C.cl_event) {
	p.pending = append(p.pending, launchEvent{name, nbytes, e})
}

// full says that enough events wait: drivers slow down when thousands of them are alive.
func (p *profile) full() bool { return len(p.pending) >= 1024 }

func (p *profile) collect(device string) error {
	var failed error
	for _, l := range p.pending {
		var ns C.cl_ulong
		if status := C.clrt_event_ns(l.event, &ns); status != C.CL_SUCCESS {
			failed = &Error{Call: "clGetEventProfilingInfo", Status: Status(status), Device: device, Detail: l.name}
			continue
		}
		k := p.kernels[l.name]
		if k == nil {
			k = &KernelTime{Name: l.name}
			p.kernels[l.name] = k
		}
		k.Calls++
		k.Nanos += int64(ns)
		k.Bytes += l.nbytes
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
