//go:build opencl && cgo

package clrt

// #include "launch.h"
import "C"

import (
	"fmt"
	"runtime"
)

// Prepared is a list of launches that was made once, to be run many times in one crossing into C.
// Each has a kernel object of its own, which holds its arguments. It does not hold the memory that
// they name.
type Prepared struct {
	dev     *Device
	kernels []*Kernel
	bytes   []int64 // that each launch moves, for the profile
	list    []C.clrt_prepared
	changes []C.clrt_change
	events  []C.cl_event // of a run, while profiling
	failed  *C.cl_uint   // apart, as launchScratch.event is
}

// Prepare returns an empty list.
func (d *Device) Prepare() *Prepared { return &Prepared{dev: d, failed: new(C.cl_uint)} }

// Add appends a launch, as [Device.Launch] takes it, and returns its place. One that is refused is
// skipped.
func (p *Prepared) Add(k *Kernel, global, local []int, args []Arg, nbytes int64) (int, error) {
	d := p.dev
	own, err := d.another(k)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed { // meanwhile, which released own
		return 0, &Error{Call: "prepare " + k.name, Status: ErrClosed, Device: d.info.String()}
	}
	at := len(p.list)
	p.kernels, p.bytes = append(p.kernels, own), append(p.bytes, nbytes)
	p.list = append(p.list, C.clrt_prepared{kernel: kernelHandle(own.kernel)})
	if len(args) > maxArgs {
		return 0, &Error{Call: "prepare " + k.name, Status: InvalidKernelArgs, Device: d.info.String(),
			Detail: fmt.Sprintf("%d arguments, buffers counting twice: at most %d", len(args), maxArgs)}
	}
	s := &d.launch
	for i, a := range args {
		s.args[i] = a.raw()
	}
	status := C.clrt_set_args(kernelHandle(own.kernel), C.cl_uint(len(args)), &s.args[0], &s.bad)
	if status != C.CL_SUCCESS {
		return 0, &Error{Call: "prepare " + k.name, Status: Status(status), Device: d.info.String(),
			Detail: fmt.Sprintf("argument %d of %d bytes was refused", s.bad, args[s.bad].size)}
	}
	p.SetGrid(at, global, local)
	return at, nil
}

// another returns another kernel object of the entry point of k.
func (d *Device) another(k *Kernel) (*Kernel, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, &Error{Call: "prepare " + k.name, Status: ErrClosed, Device: d.info.String()}
	}
	runtimes.Lock()
	defer runtimes.Unlock()
	own, err := d.kernel(k.program, k.name)
	if err != nil {
		return nil, d.fail("clCreateKernel", err, "")
	}
	return own, nil
}

// SetGrid changes the work-items of a launch. Without dimensions it is skipped.
func (p *Prepared) SetGrid(launch int, global, local []int) {
	l := &p.list[launch]
	l.dim = C.cl_uint(len(global))
	for i := range global {
		l.global[i], l.local[i] = C.size_t(global[i]), C.size_t(local[i])
	}
}

// Change makes an argument of a launch one that each run sets, and returns its place among those.
func (p *Prepared) Change(launch, arg int) int {
	p.changes = append(p.changes, C.clrt_change{launch: C.cl_uint(launch), arg: C.cl_uint(arg)})
	return len(p.changes) - 1
}

// Set sets an argument for the next run.
func (p *Prepared) Set(change int, a Arg) { p.changes[change].value = a.raw() }

// Run enqueues the launches, in order. The error names the first that was refused; those before it
// run.
func (p *Prepared) Run() error { return p.enqueue(p.run) }

// enqueue calls f, which enqueues the launches, if there are any and the device is open.
func (p *Prepared) enqueue(f func() error) error {
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(p.list) == 0 {
		return nil
	}
	if d.closed {
		return &Error{Call: "replay", Status: ErrClosed, Device: d.info.String()}
	}
	return f()
}

func (p *Prepared) run() error {
	d := p.dev
	var changes *C.clrt_change
	if len(p.changes) > 0 {
		changes = &p.changes[0]
	}
	var events *C.cl_event
	if d.opt.Profile {
		if p.events == nil {
			p.events = make([]C.cl_event, len(p.list))
		}
		clear(p.events)
		events = &p.events[0]
	}
	status := C.clrt_run(queueHandle(d.queue), C.cl_uint(len(p.list)), &p.list[0], C.cl_uint(len(p.changes)), changes, 1, events, p.failed)
	launched := 0
	for i := range p.list {
		if p.list[i].dim > 0 {
			if d.opt.Profile && p.events[launched] != nil {
				d.profile.add(p.kernels[i].name, p.bytes[i], p.events[launched])
			}
			launched++
		}
	}
	if status != C.CL_SUCCESS {
		return p.refused(status)
	}
	return d.launched(launched)
}

// refused says which launch of a run was.
func (p *Prepared) refused(status C.cl_int) error {
	l := &p.list[*p.failed]
	return p.dev.refused("launch "+p.kernels[*p.failed].name, Status(status),
		fmt.Sprintf("launch %d of a recording, global %v, local %v", *p.failed, l.global[:l.dim], l.local[:l.dim]))
}

// Loop enqueues the launches n times over, from C, with the arguments that they have, and counts
// nothing.
func (p *Prepared) Loop(n int) error {
	return p.enqueue(func() error {
		if status := C.clrt_run(queueHandle(p.dev.queue), C.cl_uint(len(p.list)), &p.list[0], 0, nil, C.cl_uint(n), nil, p.failed); status != C.CL_SUCCESS {
			return p.refused(status)
		}
		return nil
	})
}

// Free releases the kernels. The list is empty then. Launches under way are finished.
func (p *Prepared) Free() {
	for _, k := range p.kernels {
		p.dev.Release(k)
	}
	runtime.KeepAlive(p)
	p.kernels, p.bytes, p.list, p.changes = nil, nil, nil, nil
}
