//go:build opencl && cgo

package clrt

// #include "launch.h"
import "C"

import (
	"unsafe"

	"github.com/samuel/go-opencl/cl"
)

// DetachedArg is one argument of a detached launch: a value, or host memory of Bytes bytes, whose
// element Offset is the first.
type DetachedArg struct {
	Value  Arg            // where Host is nil
	Host   unsafe.Pointer // the memory
	Bytes  int            // its size
	Offset int32          // in elements
}

// RunDetached launches k apart from the queue of the device and waits for it: on memory of its own,
// which starts as the host memory of its arguments and is copied back to it. Neither Stats nor
// Profile nor the pool see it. It returns an error if the device refuses memory or the launch.
func (d *Device) RunDetached(k *Kernel, global, local []int, args []DetachedArg) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &Error{Call: "launch " + k.name, Status: ErrClosed, Device: d.info.String()}
	}
	s := &d.launch
	n := 0
	add := func(a Arg) {
		s.args[n] = a.raw()
		n++
	}
	mems := make([]*cl.MemObject, len(args))
	defer func() {
		for _, m := range mems {
			if m != nil {
				m.Release()
			}
		}
	}()
	for i, a := range args {
		if n+2 > maxArgs {
			return &Error{Call: "launch " + k.name, Status: InvalidKernelArgs, Device: d.info.String()}
		}
		if a.Host == nil {
			add(a.Value)
			continue
		}
		mem, err := d.context.CreateEmptyBuffer(cl.MemReadWrite, a.Bytes)
		if err != nil {
			return d.fail("clCreateBuffer", err, mib(int64(a.Bytes))+" wanted")
		}
		mems[i] = mem
		event, err := d.queue.EnqueueWriteBuffer(mem, true, 0, a.Bytes, a.Host, nil)
		if err != nil {
			return d.fail("clEnqueueWriteBuffer", err, "")
		}
		event.Release()
		add(Arg{memHandle(mem), uint64(unsafe.Sizeof(uintptr(0)))})
		add(IntArg(a.Offset))
	}
	for i := range global {
		s.global[i], s.local[i] = C.size_t(global[i]), C.size_t(local[i])
	}
	status := C.clrt_launch(queueHandle(d.queue), kernelHandle(k.kernel), C.cl_uint(n), &s.args[0],
		C.cl_uint(len(global)), &s.global[0], &s.local[0], nil, &s.bad)
	if status != C.CL_SUCCESS {
		return d.refused("launch "+k.name, Status(status), "")
	}
	for i, a := range args {
		if a.Host == nil {
			continue
		}
		event, err := d.queue.EnqueueReadBuffer(mems[i], true, 0, a.Bytes, a.Host, nil)
		if err != nil {
			return d.fail("clEnqueueReadBuffer", err, "")
		}
		event.Release()
	}
	return nil
}
