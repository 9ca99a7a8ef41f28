//go:build opencl && cgo

package clrt

// #include "cl.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/samuel/go-opencl/cl"
)

// go-opencl keeps its C handles in unexported fields, the first of each struct (TestHandleLayout
// pins it). The calls that it lacks need them.

func queueHandle(q *cl.CommandQueue) C.cl_command_queue {
	return *(*C.cl_command_queue)(unsafe.Pointer(q))
}

func kernelHandle(k *cl.Kernel) C.cl_kernel { return *(*C.cl_kernel)(unsafe.Pointer(k)) }

func deviceHandle(d *cl.Device) C.cl_device_id { return *(*C.cl_device_id)(unsafe.Pointer(d)) }

func contextHandle(c *cl.Context) C.cl_context { return *(*C.cl_context)(unsafe.Pointer(c)) }

func programHandle(p *cl.Program) *C.cl_program { return (*C.cl_program)(unsafe.Pointer(p)) }

// singleConfig returns CL_DEVICE_SINGLE_FP_CONFIG, 0 if the device does not say.
func singleConfig(d *cl.Device) (config C.cl_device_fp_config) {
	C.clGetDeviceInfo(deviceHandle(d), C.CL_DEVICE_SINGLE_FP_CONFIG, C.size_t(unsafe.Sizeof(config)), unsafe.Pointer(&config), nil)
	return config
}

func memHandle(m *cl.MemObject) uint64 { return uint64(*(*uintptr)(unsafe.Pointer(m))) }

// statusOf recovers the status code from an error of go-opencl, which keeps only the name of it
// ("cl: Invalid Kernel Name") and wraps codes that it does not know in ErrOther.
func statusOf(err error) Status {
	switch e := err.(type) {
	case cl.ErrOther:
		return Status(e)
	case cl.BuildError:
		return BuildProgramFailure
	}
	name := strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "cl: "), " ", "_"))
	for status, n := range statusNames {
		if n == name {
			return status
		}
	}
	return statusUnknown
}
