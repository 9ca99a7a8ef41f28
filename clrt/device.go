//go:build opencl && cgo

package clrt

// #cgo CFLAGS: -I${SRCDIR}/include -O2
// #cgo linux LDFLAGS: -ldl -lpthread
// #include <stdlib.h>
// #include "cl.h"
// #include "launch.h"
// #include "loader.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/clgrad/clgrad/internal/mempool"
	"github.com/samuel/go-opencl/cl"
)

// Device is an open OpenCL device: one in-order queue, in a context of its own, or one for all that
// are open on the same CPU. Its methods may be called from several goroutines; a mutex orders them. A
// launch waits where 512 launches before it have not run, or fewer that take longer than about a tenth
// of a second.
type Device struct {
	info    Info
	opt     Options
	device  *cl.Device
	shared  *sharedContext
	context *cl.Context // of shared
	queue   *cl.CommandQueue
	pool    *mempool.Pool[*cl.MemObject]

	mu       sync.Mutex
	programs map[programKey]*usedProgram
	kernels  map[*Kernel]struct{} // alive
	stats    Stats
	profile  profile
	closed   bool
	launch   launchScratch
	backlog  backlog
}

// Buffer is device memory. Its contents are undefined until written. The garbage collector frees it
// when no Buffer holds the memory any more.
type Buffer struct{ block *mempool.Block[*cl.MemObject] }

const (
	detailRuntime  = "install an OpenCL loader (Debian: ocl-icd-libopencl1) or set CLGRAD_OPENCL_LIB to the library's path"
	detailPlatform = "install a driver (Debian: pocl-opencl-icd for CPUs; for a GPU its vendor's), " +
		"and see that /etc/OpenCL/vendors holds a .icd file that names it"
)

// RuntimePath returns the path of the OpenCL library that was loaded, or why none was.
func RuntimePath() (string, error) {
	if err := runtimeMissing("load OpenCL"); err != nil {
		return "", err
	}
	return C.GoString(C.clrt_library_path()), nil
}

// runtimeMissing returns why there is no OpenCL library, or nil.
func runtimeMissing(call string) error {
	CacheProblem() // before the library is loaded: it reads its variables then
	if why := C.clrt_load_error(); why != nil {
		detail := detailRuntime
		if path := os.Getenv(OpenCLEnv); path != "" {
			detail = OpenCLEnv + " names the library " + path
		}
		return &Error{Call: call, Status: ErrNoRuntime, Detail: detail + " (" + C.GoString(why) + ")"}
	}
	return nil
}

// runtimes is held while a runtime starts up, sets devices up and takes them down, or builds: PoCL
// 3.1 crashes when two threads look for devices at once, and the process's signal handlers, which
// the loader saves and restores around such calls, are there once.
var runtimes sync.Mutex

// List returns the devices of all platforms. A platform without devices is passed over.
// The errors are ErrNoRuntime and ErrNoPlatform.
func List() ([]Info, error) {
	runtimes.Lock()
	defer runtimes.Unlock()
	found, err := enumerate()
	infos := make([]Info, len(found))
	for i, f := range found {
		infos[i] = f.info
	}
	return infos, err
}

type foundDevice struct {
	info   Info
	device *cl.Device
}

func enumerate() ([]foundDevice, error) {
	if err := runtimeMissing("list devices"); err != nil {
		return nil, err
	}
	platforms, err := cl.GetPlatforms()
	if err != nil || len(platforms) == 0 {
		if err == nil || statusOf(err) == PlatformNotFound {
			return nil, &Error{Call: "clGetPlatformIDs", Status: ErrNoPlatform, Detail: detailPlatform}
		}
		return nil, &Error{Call: "clGetPlatformIDs", Status: statusOf(err)}
	}
	var found []foundDevice
	for p, platform := range platforms {
		devices, err := platform.GetDevices(cl.DeviceTypeAll)
		if err != nil {
			continue // DEVICE_NOT_FOUND, or a driver whose hardware is absent: the other platforms count
		}
		for d, device := range devices {
			found = append(found, foundDevice{deviceSummary(p, d, platform, device), device})
		}
	}
	return found, nil
}

func deviceSummary(p, d int, platform *cl.Platform, device *cl.Device) Info {
	clean := func(s string) string { return strings.TrimSpace(strings.TrimRight(s, "\x00")) }
	info := Info{
		PlatformIndex: p, DeviceIndex: d,
		Platform: clean(platform.Name()), Name: clean(device.Name()), Vendor: clean(device.Vendor()),
		Version: clean(device.Version()), Driver: clean(device.DriverVersion()),
		Type:         Other,
		ComputeUnits: device.MaxComputeUnits(),
		MaxGroup:     device.MaxWorkGroupSize(),
		GlobalMem:    device.GlobalMemSize(),
		LocalMem:     device.LocalMemSize(),
		MaxAlloc:     device.MaxMemAllocSize(),
		FP64:         device.DoubleFPConfig() != 0,
		IntegerDot:   slices.Contains(strings.Fields(clean(device.Extensions())), "cl_khr_integer_dot_product"),
		Divides:      singleConfig(device)&C.CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0,
		Compiler:     device.CompilerAvailable(),
	}
	switch t := device.Type(); {
	case t&cl.DeviceTypeGPU != 0:
		info.Type = GPU
	case t&cl.DeviceTypeAccelerator != 0:
		info.Type = Accelerator
	case t&cl.DeviceTypeCPU != 0:
		info.Type = CPU
	}
	return info
}

// Open opens the device that info, of List, describes.
func Open(info Info, opt Options) (*Device, error) {
	runtimes.Lock()
	defer runtimes.Unlock()
	found, err := enumerate()
	if err != nil {
		return nil, err
	}
	var device *cl.Device
	for _, f := range found {
		if f.info.ID() == info.ID() && f.info.Name == info.Name {
			device = f.device
		}
	}
	if device == nil {
		return nil, &Error{Call: "open " + info.ID(), Status: ErrNoDevice, Device: info.String()}
	}
	if !info.Compiler {
		return nil, &Error{Call: "open " + info.ID(), Status: ErrNoCompiler, Device: info.String(),
			Detail: "clgrad builds its kernels from source; choose another device"}
	}
	d := &Device{info: info, opt: opt, device: device, programs: map[programKey]*usedProgram{},
		kernels: map[*Kernel]struct{}{}, profile: newProfile(opt), backlog: newBacklog()}
	d.launch.event = new(C.cl_event)
	flags := cl.MemReadWrite
	if info.Platform == pocl {
		flags |= cl.MemAllocHostPtr // else it asks for the memory in a launch, and ends the process where there is none
	}
	d.pool = mempool.New(func(n int) (*cl.MemObject, error) {
		if err := d.refuse(n); err != nil {
			return nil, err
		}
		return d.context.CreateEmptyBuffer(flags, n)
	}, (*cl.MemObject).Release)
	if info.Type == CPU {
		d.pool.Limit = info.GlobalMem / 4 * 3
	}
	if d.shared, err = openContext(info, device, opt.KeepPrograms); err != nil {
		return nil, d.fail("clCreateContext", err, "")
	}
	d.context = d.shared.context
	var props cl.CommandQueueProperty
	if opt.Profile {
		props = cl.CommandQueueProfilingEnable
	}
	if d.queue, err = d.context.CreateCommandQueue(device, props); err != nil {
		d.shared.close(opt.KeepPrograms)
		return nil, d.fail("clCreateCommandQueue", err, "")
	}
	return d, nil
}

const (
	pocl = "Portable Computing Language"
	// refusedFrom is the size from which buffers of CPUs are compared with the memory that is left.
	refusedFrom = 1 << 20
	// driverReserve is what is left to the driver, whose compiler ends the process where it finds
	// none.
	driverReserve = 256 << 20
)

// refuse returns an error for a buffer of a CPU that is larger than what may still be taken. A
// driver would accept it, and the system end the process when it is written to.
func (d *Device) refuse(nbytes int) error {
	if d.info.Type != CPU || nbytes < refusedFrom {
		return nil
	}
	left, of := memoryLeft()
	if int64(nbytes) <= left-driverReserve {
		return nil
	}
	return noMemory(fmt.Sprintf("%s %.1f MiB left, of which the driver keeps %d", of, float64(left)/(1<<20), driverReserve>>20))
}

// noMemory says why a buffer is refused.
type noMemory string

func (e noMemory) Error() string { return string(e) }

// fail wraps an error of go-opencl with the call and this device.
func (d *Device) fail(call string, err error, detail string) error {
	return d.refused(call, statusOf(err), detail)
}

// refused returns the error of a call that the driver refused. For want of memory, drivers refuse
// any call: those of NVIDIA find the memory of a buffer when it is first used.
func (d *Device) refused(call string, status Status, detail string) error {
	if status == MemAllocationFailure || status == OutOfResources || status == OutOfHostMemory {
		if detail != "" {
			detail += "; "
		}
		detail += d.memory() + ": another process may have the rest"
	}
	return &Error{Call: call, Status: status, Device: d.info.String(), Detail: detail}
}

// memory says what memory of the device this process has.
func (d *Device) memory() string {
	live, held, _ := d.pool.Bytes()
	return fmt.Sprintf("this process has %s in tensors and %s held for reuse, of %s on the device", mib(live), mib(held), mib(d.info.GlobalMem))
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Alloc returns nbytes of device memory, from the pool where it has a buffer of that class. When
// the device refuses, the pool is drained and the device asked once more. A CPU refuses nothing and
// dies of a launch later, when the machine's memory is used up: there, a quarter of it is never
// asked for.
func (d *Device) Alloc(nbytes int) (Buffer, error) {
	if int64(nbytes) > d.info.MaxAlloc { // some drivers accept it and fail much later
		return Buffer{}, &Error{Call: "clCreateBuffer", Status: InvalidBufferSize, Device: d.info.String(),
			Detail: fmt.Sprintf("%s wanted, at most %s in one buffer; %s", mib(int64(nbytes)), mib(d.info.MaxAlloc), d.memory())}
	}
	block, err := d.pool.Get(nbytes)
	if errors.Is(err, mempool.ErrClosed) {
		return Buffer{}, &Error{Call: "allocate", Status: ErrClosed, Device: d.info.String()}
	}
	if errors.Is(err, mempool.ErrLimit) {
		return Buffer{}, &Error{Call: "clCreateBuffer", Status: MemAllocationFailure, Device: d.info.String(),
			Detail: fmt.Sprintf("%s wanted; %s, of which a quarter is left alone", mib(int64(nbytes)), d.memory())}
	}
	if why := noMemory(""); errors.As(err, &why) {
		return Buffer{}, &Error{Call: "clCreateBuffer", Status: MemAllocationFailure, Device: d.info.String(),
			Detail: fmt.Sprintf("%s wanted; %s; %s", mib(int64(nbytes)), d.memory(), why)}
	}
	if err != nil {
		return Buffer{}, d.fail("clCreateBuffer", err, mib(int64(nbytes))+" wanted")
	}
	return Buffer{block}, nil
}

// Free returns b to the pool. b must not be used again.
func (d *Device) Free(b Buffer) { d.pool.Put(b.block) }

// Write copies nbytes from host memory to b at byte offset and returns when src may be reused.
func (d *Device) Write(b Buffer, offset int, src unsafe.Pointer, nbytes int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &Error{Call: "write", Status: ErrClosed, Device: d.info.String()}
	}
	event, err := d.queue.EnqueueWriteBuffer(b.block.Memory, true, offset, nbytes, src, nil)
	if err != nil {
		return d.fail("clEnqueueWriteBuffer", err, "")
	}
	event.Release()
	runtime.KeepAlive(b.block)
	runtime.KeepAlive(src)
	d.stats.Uploads++
	d.stats.UploadBytes += int64(nbytes)
	return nil
}

// Read waits for the launches before it and copies nbytes of b at byte offset to host memory.
func (d *Device) Read(b Buffer, offset int, dst unsafe.Pointer, nbytes int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &Error{Call: "read", Status: ErrClosed, Device: d.info.String()}
	}
	event, err := d.queue.EnqueueReadBuffer(b.block.Memory, true, offset, nbytes, dst, nil)
	if err != nil {
		return d.fail("clEnqueueReadBuffer", err, "a launch before it may have failed: check mode names it")
	}
	event.Release()
	runtime.KeepAlive(b.block)
	runtime.KeepAlive(dst)
	d.stats.Downloads++
	d.stats.DownBytes += int64(nbytes)
	return nil
}

// Flush starts what was launched without waiting for it.
func (d *Device) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &Error{Call: "flush", Status: ErrClosed, Device: d.info.String()}
	}
	if status := C.clFlush(queueHandle(d.queue)); status != C.CL_SUCCESS {
		return d.refused("clFlush", Status(status), "")
	}
	return nil
}

// Finish waits for everything that was launched.
func (d *Device) Finish() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.finish()
}

func (d *Device) finish() error {
	if d.closed {
		return &Error{Call: "finish", Status: ErrClosed, Device: d.info.String()}
	}
	if err := d.queue.Finish(); err != nil {
		return d.fail("clFinish", err, "a launch before it failed: check mode names it")
	}
	return d.profile.collect(d.info.String())
}

// Live returns the bytes in buffers handed out.
func (d *Device) Live() int64 { return d.pool.Live() }

// Stats returns the counters since the device was opened.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	s.LiveBytes, s.HeldBytes, s.PeakBytes = d.pool.Bytes()
	s.Kernels = len(d.kernels)
	return s
}

// Profile waits for the launches and returns the time of each kernel, in no order. It is empty
// unless the device was opened with Options.Profile.
func (d *Device) Profile() ([]KernelTime, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d.profile.times(), nil
}

// Timeline waits for the launches and returns when each ran, in their order: the first Options.Timeline.
func (d *Device) Timeline() ([]LaunchTime, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d.profile.timeline, nil
}

// Label names what later launches are part of, for the timeline.
func (d *Device) Label(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.profile.label = name
}

// Close waits for the launches and releases everything, buffers that were not freed too, but for
// programs that other devices use or keep.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	err := d.finish()
	d.closed = true
	runtimes.Lock()
	defer runtimes.Unlock()
	for k := range d.kernels {
		k.kernel.Release()
	}
	for _, p := range d.programs {
		d.shared.leave(p.builtProgram)
	}
	d.pool.Close()
	if *d.backlog.marker != nil {
		C.clReleaseEvent(*d.backlog.marker)
	}
	d.queue.Release()
	d.shared.close(d.opt.KeepPrograms)
	return err
}
