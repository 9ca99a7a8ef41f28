package clrt

import (
	"fmt"
	"time"
)

// DeviceType is the kind of an OpenCL device.
type DeviceType int

// The kinds of device, in the order in which a selection prefers them.
const (
	GPU DeviceType = iota
	Accelerator
	CPU
	Other
)

// String returns "GPU", "accelerator", "CPU" or "other".
func (t DeviceType) String() string {
	switch t {
	case GPU:
		return "GPU"
	case Accelerator:
		return "accelerator"
	case CPU:
		return "CPU"
	}
	return "other"
}

// Info describes one OpenCL device: its Platform, and its Name, Vendor, Version, Driver and Type,
// as the runtime reports them; ComputeUnits is how many cores or their like it has. Sizes are in
// bytes: GlobalMem of all memory, LocalMem of what the items of a work-group share, MaxAlloc of the
// largest buffer.
type Info struct {
	PlatformIndex, DeviceIndex int // position in the runtime's own order, as in "0:1"

	Platform, Name, Vendor, Version, Driver string

	Type         DeviceType
	ComputeUnits int
	MaxGroup     int // work-items in a work-group
	GlobalMem    int64
	LocalMem     int64
	MaxAlloc     int64
	FP64         bool // cl_khr_fp64
	IntegerDot   bool // cl_khr_integer_dot_product
	Divides      bool // float32 divisions and square roots round correctly where a program asks for that
	Compiler     bool // can build from source
}

// ID returns the indices as a selection string takes them: "PLATFORM:DEVICE".
func (i Info) ID() string { return fmt.Sprintf("%d:%d", i.PlatformIndex, i.DeviceIndex) }

// String returns the device's name with its platform's.
func (i Info) String() string { return i.Name + " (" + i.Platform + ")" }

// Stats counts what a Device did and holds: Launches, Uploads and Downloads, and in UploadBytes and
// DownBytes what these moved.
type Stats struct {
	LiveBytes, HeldBytes, PeakBytes int64 // in buffers handed out, kept for reuse, and handed out at most

	Launches               int64
	Uploads, Downloads     int64
	UploadBytes, DownBytes int64

	Kernels        int   // alive
	Programs       int   // built since the device was opened, for it or for another
	CompileNanos   int64 // spent building them, for this one
	HeaderBuilds   int   // programs that PoCL built with its whole header: builtins.go
	ProgramCacheOK int   // requests that the program cache answered
}

// KernelTime is the profile of one kernel, by Name: how often it ran, Calls, and how long on the
// device, Nanos in all.
type KernelTime struct {
	Name  string
	Calls int64
	Nanos int64
	Bytes int64 // moved through device memory, as the launches declared
}

// LaunchTime is a launch of a kernel, by Name, and when it ran: Queued, Start and End are nanoseconds of the device's
// clock, Launched is the host's time when it was Queued, or a little later. Label is that of [Device.Label], and Bytes
// as in KernelTime.
type LaunchTime struct {
	Name, Label        string
	Launched           time.Time
	Queued, Start, End int64
	Bytes              int64
}

// Options says how Open sets a device up.
type Options struct {
	Profile bool // measure every launch on the device; costs an event per launch
	// Timeline is how many launches the device keeps the times of, with Profile.
	Timeline int
	Rebuild  bool // rebuild every program, past the runtime's own cache too
	// KeepPrograms has programs of a CPU stay built for the next device, until this one is closed.
	KeepPrograms bool
}
