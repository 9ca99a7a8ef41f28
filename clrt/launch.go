//go:build opencl && cgo

package clrt

// #include "launch.h"
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

// Arg is one kernel argument by value.
type Arg struct {
	value uint64
	size  uint64
}

// BufferArg passes device memory. The Arg does not hold it: the Buffer must be held until Launch
// returns.
func BufferArg(b Buffer) Arg {
	return Arg{memHandle(b.block.Memory), uint64(unsafe.Sizeof(uintptr(0)))}
}

// IntArg passes an OpenCL int.
func IntArg(v int32) Arg { return Arg{uint64(uint32(v)), 4} }

// LongArg passes an OpenCL long.
func LongArg(v int64) Arg { return Arg{uint64(v), 8} }

// FloatArg passes an OpenCL float.
func FloatArg(v float32) Arg { return Arg{uint64(math.Float32bits(v)), 4} }

// DoubleArg passes an OpenCL double.
func DoubleArg(v float64) Arg { return Arg{math.Float64bits(v), 8} }

func (a Arg) raw() C.clrt_arg {
	return C.clrt_arg{value: C.uint64_t(a.value), size: C.uint64_t(a.size)}
}

// maxArgs is how many arguments of four bytes there are in the 1024 that every device takes.
const maxArgs = 256

// launchScratch is what a launch hands to C. It lives in the Device, guarded by its mutex, so that
// a launch allocates nothing.
type launchScratch struct {
	args          [maxArgs]C.clrt_arg
	global, local [3]C.size_t
	bad           C.cl_int
	event         *C.cl_event // apart: C may not see memory that holds Go pointers, as a Device does
}

// Launch enqueues k over global work-items in groups of local; nbytes is what it moves through
// device memory, for the profile. The launch is asynchronous: a failure while it runs shows up at
// Read or Finish.
func (d *Device) Launch(k *Kernel, global, local []int, args []Arg, nbytes int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &Error{Call: "launch " + k.name, Status: ErrClosed, Device: d.info.String()}
	}
	if len(args) > maxArgs {
		return &Error{Call: "launch " + k.name, Status: InvalidKernelArgs, Device: d.info.String(),
			Detail: fmt.Sprintf("%d arguments, buffers counting twice: at most %d", len(args), maxArgs)}
	}
	s := &d.launch
	for i, a := range args {
		s.args[i] = a.raw()
	}
	for i := range global {
		s.global[i], s.local[i] = C.size_t(global[i]), C.size_t(local[i])
	}
	var event *C.cl_event
	if d.opt.Profile {
		event = s.event
	}
	status := C.clrt_launch(queueHandle(d.queue), kernelHandle(k.kernel), C.cl_uint(len(args)), &s.args[0],
		C.cl_uint(len(global)), &s.global[0], &s.local[0], event, &s.bad)
	runtime.KeepAlive(k)
	if status != C.CL_SUCCESS {
		detail := fmt.Sprintf("global %v, local %v", global, local)
		if s.bad >= 0 {
			detail = fmt.Sprintf("argument %d of %d bytes was refused", s.bad, args[s.bad].size)
		}
		return d.refused("launch "+k.name, Status(status), detail)
	}
	if d.opt.Profile {
		d.profile.add(k.name, nbytes, *s.event)
	}
	return d.launched(1)
}
