//go:build opencl && cgo

package clrt

// #include "cl.h"
import "C"

import (
	"runtime"
	"strings"
	"unsafe"

	"github.com/samuel/go-opencl/cl"
)

// rebuild builds a program that was built from a source again, from its PTX, for the source's
// target.
func (d *Device) rebuild(p *cl.Program, src Source) error {
	text, err := d.binary(p, src)
	if err != nil {
		return err
	}
	ptx, err := retarget(strings.TrimRight(string(text), "\x00"), src.Target)
	if err != nil {
		return &Error{Call: "build " + src.Name + " for " + src.Target, Status: InvalidBinary, Device: d.info.String(), Detail: err.Error()}
	}
	// A C string ends with the NUL that the driver looks for.
	bytes := append([]byte(ptx), 0)
	var pin runtime.Pinner
	pin.Pin(&bytes[0])
	defer pin.Unpin()
	id, length, first := deviceHandle(d.device), C.size_t(len(bytes)), (*C.uchar)(&bytes[0])
	var loaded, status C.cl_int
	again := C.clCreateProgramWithBinary(contextHandle(d.context), 1, &id, &length, &first, &loaded, &status)
	if status != C.CL_SUCCESS {
		return &Error{Call: "clCreateProgramWithBinary", Status: Status(status), Device: d.info.String(), Detail: src.Name}
	}
	handle := programHandle(p) // its release is that of the program from now on
	C.clReleaseProgram(*handle)
	*handle = again
	if status := d.compile(p, ""); status != C.CL_SUCCESS {
		return &Error{Call: "clBuildProgram", Status: Status(status), Device: d.info.String(), Detail: src.Name + " for " + src.Target + ": " + d.buildLog(p)}
	}
	return nil
}

// binary returns what a program was built into.
func (d *Device) binary(p *cl.Program, src Source) ([]byte, error) {
	var size C.size_t
	status := C.clGetProgramInfo(*programHandle(p), C.CL_PROGRAM_BINARY_SIZES, C.size_t(unsafe.Sizeof(size)), unsafe.Pointer(&size), nil)
	if status == C.CL_SUCCESS && size > 0 {
		text := make([]byte, size)
		var pin runtime.Pinner
		pin.Pin(&text[0])
		defer pin.Unpin()
		to := unsafe.Pointer(&text[0])
		if status = C.clGetProgramInfo(*programHandle(p), C.CL_PROGRAM_BINARIES, C.size_t(unsafe.Sizeof(to)), unsafe.Pointer(&to), nil); status == C.CL_SUCCESS {
			return text, nil
		}
	}
	return nil, &Error{Call: "clGetProgramInfo", Status: Status(status), Device: d.info.String(), Detail: src.Name}
}
