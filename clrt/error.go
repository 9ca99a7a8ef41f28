package clrt

import (
	"errors"
	"fmt"
	"strings"
)

// Status is an OpenCL status code. It is an error, so that errors.Is(err, clrt.OutOfResources)
// works on what this package returns.
type Status int

// The codes a caller may want to tell apart.
const (
	DeviceNotFound       Status = -1
	CompilerNotAvailable Status = -3
	MemAllocationFailure Status = -4
	OutOfResources       Status = -5
	OutOfHostMemory      Status = -6
	BuildProgramFailure  Status = -11
	InvalidValue         Status = -30
	InvalidBinary        Status = -42
	InvalidBuildOptions  Status = -43
	InvalidKernelName    Status = -46
	InvalidArgSize       Status = -51
	InvalidKernelArgs    Status = -52
	InvalidWorkGroupSize Status = -54
	InvalidBufferSize    Status = -61
	PlatformNotFound     Status = -1001 // CL_PLATFORM_NOT_FOUND_KHR
	statusUnknown        Status = -9999 // go-opencl gave an error without a code
)

// statusNames holds the names of the OpenCL 1.2 specification, without the prefix CL_.
var statusNames = map[Status]string{
	-1: "DEVICE_NOT_FOUND", -2: "DEVICE_NOT_AVAILABLE", -3: "COMPILER_NOT_AVAILABLE",
	-4: "MEM_OBJECT_ALLOCATION_FAILURE", -5: "OUT_OF_RESOURCES", -6: "OUT_OF_HOST_MEMORY",
	-7: "PROFILING_INFO_NOT_AVAILABLE", -8: "MEM_COPY_OVERLAP", -11: "BUILD_PROGRAM_FAILURE", -12: "MAP_FAILURE",
	-13: "MISALIGNED_SUB_BUFFER_OFFSET", -14: "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
	-15: "COMPILE_PROGRAM_FAILURE", -16: "LINKER_NOT_AVAILABLE", -17: "LINK_PROGRAM_FAILURE",
	-30: "INVALID_VALUE", -31: "INVALID_DEVICE_TYPE", -32: "INVALID_PLATFORM", -33: "INVALID_DEVICE",
	-34: "INVALID_CONTEXT", -35: "INVALID_QUEUE_PROPERTIES", -36: "INVALID_COMMAND_QUEUE", -37: "INVALID_HOST_PTR",
	-38: "INVALID_MEM_OBJECT", -42: "INVALID_BINARY", -43: "INVALID_BUILD_OPTIONS", -44: "INVALID_PROGRAM",
	-45: "INVALID_PROGRAM_EXECUTABLE", -46: "INVALID_KERNEL_NAME", -47: "INVALID_KERNEL_DEFINITION",
	-48: "INVALID_KERNEL", -49: "INVALID_ARG_INDEX", -50: "INVALID_ARG_VALUE", -51: "INVALID_ARG_SIZE",
	-52: "INVALID_KERNEL_ARGS", -53: "INVALID_WORK_DIMENSION", -54: "INVALID_WORK_GROUP_SIZE",
	-55: "INVALID_WORK_ITEM_SIZE", -56: "INVALID_GLOBAL_OFFSET", -57: "INVALID_EVENT_WAIT_LIST",
	-58: "INVALID_EVENT", -59: "INVALID_OPERATION", -61: "INVALID_BUFFER_SIZE", -63: "INVALID_GLOBAL_WORK_SIZE",
	-64: "INVALID_PROPERTY", -1001: "PLATFORM_NOT_FOUND_KHR",
}

// Error returns the specification's name of the status and its number.
func (s Status) Error() string {
	if name, ok := statusNames[s]; ok {
		return fmt.Sprintf("CL_%s (%d)", name, int(s))
	}
	return fmt.Sprintf("OpenCL status %d", int(s))
}

// Error is a failed OpenCL call.
type Error struct {
	Call   string // the OpenCL function, or what this package was doing
	Status error  // a Status, or one of this package's sentinels
	Device string // the device concerned, if one was
	Detail string // what to do about it, or the build log
}

// Error returns "clrt: CALL: STATUS", with the device and the detail where there are any.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("clrt: " + e.Call + ": " + e.Status.Error())
	if e.Device != "" {
		b.WriteString(" on " + e.Device)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Unwrap returns the status, for errors.Is.
func (e *Error) Unwrap() error { return e.Status }

// What Open and List can find missing.
var (
	ErrNotBuilt   = errors.New("built without OpenCL")
	ErrNoRuntime  = errors.New("no OpenCL library")
	ErrNoPlatform = errors.New("no OpenCL platform")
	ErrNoDevice   = errors.New("no such OpenCL device")
	ErrNoCompiler = errors.New("device without a compiler")
	ErrClosed     = errors.New("device is closed")
)
