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
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/clgrad/clgrad/internal/mempool"
	"github.com/samuel/go-opencl/cl"
)

// Device is an open OpenCL device: one context and one in-order queue. Its methods may be called from
// several goroutines; a mutex orders them.
type Device struct {
	info    Info
	opt     Options
	device  *cl.Device
	context *cl.Context
	queue   *cl.CommandQueue
	pool    *mempool.Pool[*cl.MemObject]

	mu       sync.Mutex
	programs map[programKey]*builtProgram
	kernels  map[*Kernel]struct{} // alive
	stats    Stats
	profile  profile
	closed   bool
	launch   launchScratch
}

// Buffer is device memory. Its contents are undefined until written. The garbage collector frees it when no Buffer
// holds the memory any more.
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
	if why := C.clrt_load_error(); why != nil {
		return &Error{Call: call, Status: ErrNoRuntime, Detail: detailRuntime + " (" + C.GoString(why) + ")"}
	}
	return nil
}

// runtimes is held while a runtime starts up, sets devices up and takes them down, or builds: PoCL 3.1 crashes when two
// threads look for devices at once, and the process's signal handlers, which the loader saves and restores around such
// calls, are there once.
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
			found = append(found, foundDevice{describeDevice(p, d, platform, device), device})
		}
	}
	return found, nil
}

func describeDevice(p, d int, platform *cl.Platform, device *cl.Device) Info {
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
	d := &Device{info: info, opt: opt, device: device, programs: map[programKey]*builtProgram{},
		kernels: map[*Kernel]struct{}{}, profile: newProfile()}
	d.launch.event = new(C.cl_event)
	if d.context, err = cl.CreateContext([]*cl.Device{device}); err != nil {
		return nil, d.fail("clCreateContext", err, "")
	}
	var props cl.CommandQueueProperty
	if opt.Profile {
		props = cl.CommandQueueProfilingEnable
	}
	if d.queue, err = d.context.CreateCommandQueue(device, props); err != nil {
		d.context.Release()
		return nil, d.fail("clCreateCommandQueue", err, "")
	}
	d.pool = mempool.New(func(n int) (*cl.MemObject, error) {
		return d.context.CreateEmptyBuffer(cl.MemReadWrite, n)
	}, (*cl.MemObject).Release)
	if info.Type == CPU {
		d.pool.Limit = info.GlobalMem / 4 * 3
	}
	return d, nil
}

// fail wraps an error of go-opencl with the call and this device.
func (d *Device) fail(call string, err error, detail string) error {
	return &Error{Call: call, Status: statusOf(err), Device: d.info.String(), Detail: detail}
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Alloc returns nbytes of device memory, from the pool where it has a buffer of that class. When the
// device refuses, the pool is drained and the device asked once more. A CPU refuses nothing and dies of a launch
// later, when the machine's memory is used up: there, a quarter of it is never asked for.
func (d *Device) Alloc(nbytes int) (Buffer, error) {
	if int64(nbytes) > d.info.MaxAlloc { // some drivers accept it and fail much later
		return Buffer{}, &Error{Call: "clCreateBuffer", Status: InvalidBufferSize, Device: d.info.String(), Detail: memoryDetail(nbytes, d.info, d.Stats())}
	}
	block, err := d.pool.Get(nbytes)
	if errors.Is(err, mempool.ErrClosed) {
		return Buffer{}, &Error{Call: "allocate", Status: ErrClosed, Device: d.info.String()}
	}
	if errors.Is(err, mempool.ErrLimit) {
		return Buffer{}, &Error{Call: "clCreateBuffer", Status: MemAllocationFailure, Device: d.info.String(),
			Detail: memoryDetail(nbytes, d.info, d.Stats()) + "; a quarter of a CPU's memory is left alone"}
	}
	if err != nil {
		return Buffer{}, d.fail("clCreateBuffer", err, memoryDetail(nbytes, d.info, d.Stats()))
	}
	return Buffer{block}, nil
}

// memoryDetail says what a refused allocation met.
func memoryDetail(nbytes int, info Info, s Stats) string {
	mib := func(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
	return fmt.Sprintf("%s wanted; %s live and %s held for reuse, of %s on the device, at most %s in one buffer",
		mib(int64(nbytes)), mib(s.LiveBytes), mib(s.HeldBytes), mib(info.GlobalMem), mib(info.MaxAlloc))
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
		return &Error{Call: "clFlush", Status: Status(status), Device: d.info.String()}
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

// Profile waits for the launches and returns the time of each kernel, in no order. It is empty unless
// the device was opened with Options.Profile.
func (d *Device) Profile() ([]KernelTime, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d.profile.times(), nil
}

// Close waits for the launches and releases everything, buffers that were not freed too.
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
		p.program.Release()
	}
	d.pool.Close()
	d.queue.Release()
	d.context.Release()
	return err
}
