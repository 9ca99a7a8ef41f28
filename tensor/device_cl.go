//go:build opencl && cgo

package tensor

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/cl"
)

// clDevice runs the kernels' entry points on an OpenCL device. This file is where package kernels,
// which says what to run, meets package clrt, which runs it.
type clDevice struct {
	base
	dev      *clrt.Device
	float    kernels.DType // the default type, and of launches that have no buffer of floats
	target   kernels.Target
	options  string // of the compiler
	entries  *entries[*clrt.Kernel]
	args     []clrt.Arg               // scratch of launch
	grid     kernels.Grid             // the same
	trials   *selfTestCache           // nil: kernels are launched untried
	builds   BuildListener            // may be nil
	deferred atomic.Pointer[deferral] // nil: what is asked is done at once
	units    sync.Map                 // what is known of the device's matrix units: a bool for an ops.Inner
	ptx      bool
}

type clBuffer struct {
	clrt.Buffer
	owned
	dev   *clDevice // nil once released
	dtype kernels.DType
	n     int
}

func (b *clBuffer) DType() kernels.DType { return b.dtype }
func (b *clBuffer) Len() int             { return b.n }

func openCL(sel string, opt Options) (Device, error) {
	infos, err := clrt.List()
	if err != nil {
		return nil, &environment.Selection{Err: fmt.Errorf("tensor: open %q: %w", sel, err)}
	}
	info, err := clrt.Select(infos, sel)
	if err != nil {
		return nil, &environment.Selection{Err: fmt.Errorf("tensor: open: %w", err)}
	}
	if opt.DefaultType == Float64 && !info.FP64 {
		return nil, &environment.Selection{Err: fmt.Errorf("tensor: open: %s has no float64 (cl_khr_fp64): choose another device or float32", info)}
	}
	clOptions := clrt.Options{Profile: opt.Profile || opt.Timeline, Rebuild: opt.Rebuild}
	if opt.Timeline {
		clOptions.Timeline = timelineLaunches
	}
	dev, err := clrt.Open(info, clOptions)
	if err != nil {
		return nil, fmt.Errorf("tensor: open: %w", err)
	}
	d := &clDevice{dev: dev, float: opt.DefaultType, options: "-cl-std=CL1.2", builds: opt.Builds}
	d.factors, d.number = opt.Precision, opened.Add(1)
	d.notesFrees.Store(opt.Check)
	if d.timeline = newTimeline(opt.Timeline); opt.Timeline {
		d.relabel = dev.Label
	}
	d.tuning = info.Name
	d.target = kernels.Target{CPU: info.Type == clrt.CPU && !opt.gpuKernels && !inLanes(info), Units: info.ComputeUnits, MaxGroup: info.MaxGroup, LocalMem: int(info.LocalMem),
		IntegerDot: info.IntegerDot}
	if d.tuned, err = ops.GemmChoices(info.Name, d.target); err != nil {
		dev.Close()
		return nil, err
	}
	d.entries = newEntries(d.target, d.build, dev.Release)
	if info.Type == clrt.GPU && info.Divides {
		// Otherwise a driver may compute a quotient in another way where something is made of it
		// than where it is stored: NVIDIA's adds to it without rounding it first, and makes 1/√x
		// one instruction. A recording would have other bits than its step.
		d.options += " -cl-fp32-correctly-rounded-divide-sqrt"
	}
	if strings.Contains(info.Vendor, "NVIDIA") {
		d.options += " -DNVIDIA_PTX"
		d.ptx = true
	}
	if (opt.gpuKernels || opt.Unoptimized) && info.Type == clrt.CPU && !inLanes(info) {
		// A test wants what a kernel computes. A CPU's compiler takes seconds to unroll and
		// vectorize one made for a GPU.
		d.options += " -cl-opt-disable"
	}
	if opt.Check {
		return newCheckDevice(d), nil
	}
	if !opt.SkipSelfTest {
		d.trials = d.selfTestCache()
	}
	return d, nil
}

// inLanes reports whether a CPU's driver runs the work-items of a group in the lanes of its
// vectors, as a GPU does, and not one after another. Mesa's llvmpipe does. The kernels for CPUs,
// groups of one work-item that goes through a large block, use one lane of eight, take minutes to
// compile, and go round more often than llvmpipe's loops do (TestRusticlLongLoops).
func inLanes(info clrt.Info) bool { return strings.EqualFold(info.Platform, "rusticl") }

// selfTestCache reads what is remembered of trials on this device, its driver and its version.
func (d *clDevice) selfTestCache() *selfTestCache {
	info := d.dev.Info()
	return newSelfTestCache(info.Platform, info.Name, info.Version, info.Driver)
}

func (d *clDevice) trialsRemembered() (path string, trials int) {
	m := d.selfTestCache()
	if m == nil {
		return "", 0
	}
	return m.path, len(m.known)
}

// Name says what products may be rounded to where they may: checkpoints know by it whether bits may
// differ.
func (d *clDevice) Name() string {
	name := d.dev.Info().String()
	if d.ptx && d.factors != PrecisionFloat32 {
		name += ", products in " + d.factors.String()
	}
	return name
}

// String returns the name.
func (d *clDevice) String() string { return d.Name() }

func (d *clDevice) DefaultType() Type      { return d.float }
func (d *clDevice) Target() kernels.Target { return d.target }

// Supports: of maps between int8 and floats Mesa's llvmpipe, as of 22.3, ends the process.
func (d *clDevice) Supports(typ Type) bool {
	switch typ {
	case Float64:
		return d.dev.Info().FP64
	case Int8:
		info := d.dev.Info()
		return !inLanes(info) || !strings.Contains(info.Name, "llvmpipe")
	}
	return typ.Valid()
}

func (d *clDevice) Alloc(t kernels.DType, n int) (kernels.Buffer, error) {
	return d.allocate("Alloc", t, n)
}

func (d *clDevice) allocate(op string, t kernels.DType, n int) (kernels.Buffer, error) {
	d.enter(op)
	defer d.leave()
	if d.memory.due(d.live()) {
		d.memory.collect(d.live)
	}
	if _, err := bytesOf(d, t, n); err != nil {
		return nil, err
	}
	if !d.Supports(t) {
		return nil, fmt.Errorf("tensor: allocate on %s: it has no %s", d.Name(), lacks(t))
	}
	b := &clBuffer{dev: d, dtype: t, n: n}
	if !d.deferred.Load().alloc(b) {
		if err := d.place(b); err != nil {
			return nil, err
		}
	}
	if recordings.Load() > 0 {
		d.notifyAlloc(d, b)
	}
	return b, nil
}

// live returns the bytes that were handed out.
func (d *clDevice) live() int64 { return d.dev.Live() + d.deferred.Load().bytes() }

func (d *clDevice) place(b kernels.Buffer) error {
	c := b.(*clBuffer)
	size := c.n * c.dtype.Size()
	raw, err := d.dev.Alloc(size)
	if err != nil && !errors.Is(err, clrt.InvalidBufferSize) { // too large at any time
		d.memory.collect(d.live)
		raw, err = d.dev.Alloc(size)
	}
	c.Buffer = raw
	return err
}

func (d *clDevice) placed(b kernels.Buffer) bool { return b.(*clBuffer).Buffer != clrt.Buffer{} }

func (d *clDevice) vacate(b kernels.Buffer) {
	if c := b.(*clBuffer); d.placed(b) {
		d.dev.Free(c.Buffer)
		c.Buffer = clrt.Buffer{}
	}
}

func (d *clDevice) Release(b kernels.Buffer) {
	if b.(*clBuffer).dev == nil {
		return
	}
	if recordings.Load() > 0 {
		d.notifyRelease(b)
	}
	b.(*clBuffer).dev = nil
	if !d.deferred.Load().release(b) {
		d.vacate(b)
	}
}

func (d *clDevice) owns(b kernels.Buffer) bool {
	c, ok := b.(*clBuffer)
	return ok && c.dev == d && (d.placed(b) || d.deferred.Load() != nil)
}

func (d *clDevice) Upload(dst kernels.Buffer, off int, src *kernels.HostBuffer) error {
	d.enter("Upload")
	defer d.leave()
	mustOwn("Upload", d, dst)
	if err := d.Err(); err != nil || src.Len() == 0 {
		return err
	}
	if recordings.Load() > 0 {
		d.notifyUpload(d, dst, off, src)
	}
	if d.deferred.Load().upload(dst, off, src) {
		return nil
	}
	return d.write(dst, off, src)
}

// write is Upload for a caller that has entered the device.
func (d *clDevice) write(dst kernels.Buffer, off int, src *kernels.HostBuffer) error {
	size := src.DType().Size()
	err := d.dev.Write(dst.(*clBuffer).Buffer, off*size, src.Pointer(), src.Len()*size)
	runtime.KeepAlive(src)
	runtime.KeepAlive(dst)
	d.fail(err)
	return err
}

func (d *clDevice) Download(dst *kernels.HostBuffer, src kernels.Buffer, off int) error {
	d.enter("Download")
	defer d.leave()
	mustOwn("Download", d, src)
	if recordings.Load() > 0 {
		d.notifyRead(d, "Download", []int{dst.Len()})
	}
	d.deferred.Load().read(src)
	return d.download(dst, src, off)
}

// download is Download for a caller that has entered the device.
func (d *clDevice) download(dst *kernels.HostBuffer, src kernels.Buffer, off int) error {
	if err := d.Err(); err != nil || dst.Len() == 0 {
		return err
	}
	size := dst.DType().Size()
	err := d.dev.Read(src.(*clBuffer).Buffer, off*size, dst.Pointer(), dst.Len()*size)
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
	d.fail(err)
	return err
}

func (d *clDevice) gridOf(k *kernels.Kernel, _ kernels.DType, args []kernels.Arg) kernels.Grid {
	return k.Grid(args, d.target)
}

func (d *clDevice) launch(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	if d.deferred.Load().launch(k, args) {
		return
	}
	entry := d.ready(k, float, args)
	if entry == nil {
		return
	}
	d.args = d.appendArgs(d.args[:0], k, float, args)
	grid := &d.grid
	d.fail(d.dev.Launch(entry.built, grid.Global[:grid.Dims], grid.Local[:grid.Dims], d.args, movedBytes(k, args)))
}

// ready returns the entry point of k for floats of a type, built, and tried for a launch like this, whose work-items it
// leaves in d.grid; nil if there is nothing to launch, or the device has failed.
func (d *clDevice) ready(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) *entry[*clrt.Kernel] {
	d.grid = k.Grid(args, d.target)
	grid := &d.grid
	if grid.Empty() || d.Err() != nil {
		return nil
	}
	if d.builds != nil && !d.entries.has(k, float) {
		d.builds.Building(k.Name)
		defer d.builds.Built()
	}
	entry, err := d.entries.get(k, float)
	if err != nil {
		d.fail(err)
		return nil
	}
	if d.trials != nil {
		if class := sizeClass(args); entry.tried>>class&1 == 0 {
			if d.fail(d.try(k, float, entry, class, args)); d.Err() != nil {
				return nil
			}
		}
		if entry.replacement != nil {
			*grid = entry.replacement.Grid(args, entry.target)
		}
	}
	return entry
}

// appendArgs adds the arguments as the runtime takes them.
func (d *clDevice) appendArgs(to []clrt.Arg, k *kernels.Kernel, float kernels.DType, args []kernels.Arg) []clrt.Arg {
	for i := range args {
		to = appendArg(to, k.Params[i].Mode, float, &args[i])
	}
	return to
}

// appendArg adds one: of memory, and where it begins.
func appendArg(to []clrt.Arg, m kernels.Mode, float kernels.DType, a *kernels.Arg) []clrt.Arg {
	if m.Buffer() {
		return append(to, clrt.BufferArg(a.Buf.(*clBuffer).Buffer), clrt.IntArg(int32(a.Off)))
	}
	return append(to, numberArg(m, float, a))
}

// numberArg returns an argument that is a number as the runtime takes it, where floats have a type.
func numberArg(m kernels.Mode, float kernels.DType, a *kernels.Arg) clrt.Arg {
	switch {
	case m == kernels.LongParam:
		return clrt.LongArg(a.Int)
	case m == kernels.IntParam:
		return clrt.IntArg(int32(a.Int))
	case float == kernels.Float64:
		return clrt.DoubleArg(a.Float)
	}
	return clrt.FloatArg(float32(a.Float))
}

// build builds the entry point of k for floats of a type.
func (d *clDevice) build(k *kernels.Kernel, float kernels.DType) (*clrt.Kernel, error) {
	return d.buildFor(k, float, d.target)
}

// buildFor builds the form of k for a device with the limits l.
func (d *clDevice) buildFor(k *kernels.Kernel, float kernels.DType, l kernels.Target) (*clrt.Kernel, error) {
	src, err := d.source(k, float, l)
	if err != nil {
		return nil, err
	}
	return d.dev.Kernel(src, k.Name)
}

// source returns what k is built from.
func (d *clDevice) source(k *kernels.Kernel, float kernels.DType, l kernels.Target) (clrt.Source, error) {
	text, err := k.Program(l)
	options := d.options
	if float == kernels.Float64 {
		options += " -DREAL_IS_DOUBLE"
	}
	if k.Defines != "" {
		options += " " + k.Defines
	}
	src := clrt.Source{Name: k.Source(l), Text: text, Options: options}
	if d.ptx {
		src.Target = cl.PTXTarget(text)
	}
	return src, err
}

// runDetached launches a form of k beside the work of the device, on host memory.
func (d *clDevice) runDetached(built *clrt.Kernel, k *kernels.Kernel, l kernels.Target, args []kernels.Arg) error {
	float := k.FloatOf(args, d.float)
	raw := make([]clrt.DetachedArg, len(args))
	for i, a := range args {
		switch m := k.Params[i].Mode; m {
		case kernels.IntParam, kernels.LongParam, kernels.FloatParam:
			raw[i].Value = numberArg(m, float, &a)
		default:
			m := a.Buf.(*kernels.HostBuffer)
			raw[i] = clrt.DetachedArg{Host: m.Pointer(), Bytes: m.Len() * m.DType().Size(), Offset: int32(a.Off)}
		}
	}
	grid := k.Grid(args, l)
	return d.dev.RunDetached(built, grid.Global[:grid.Dims], grid.Local[:grid.Dims], raw)
}

func (d *clDevice) Flush() {
	if d.Err() == nil {
		d.fail(d.dev.Flush())
	}
}

func (d *clDevice) Sync() error {
	if d.Err() == nil {
		d.fail(d.dev.Finish())
	}
	return d.Err()
}

func (d *clDevice) Stats() Stats {
	s := d.dev.Stats()
	return Stats{
		Collections: d.memory.runs, Kernels: s.Kernels,
		LiveBytes: s.LiveBytes, HeldBytes: s.HeldBytes, PeakBytes: s.PeakBytes, Launches: s.Launches,
		Uploads: s.Uploads, UploadBytes: s.UploadBytes, Downloads: s.Downloads, DownloadBytes: s.DownBytes,
		Programs: s.Programs, CompileTime: time.Duration(s.CompileNanos), ProgramCacheHits: s.ProgramCacheOK,
	}
}

func (d *clDevice) Profile() ([]KernelTime, error) {
	raw, err := d.dev.Profile()
	times := make([]KernelTime, len(raw))
	for i, k := range raw {
		times[i] = KernelTime{Name: k.Name, Calls: k.Calls, Total: time.Duration(k.Nanos), Bytes: k.Bytes}
	}
	return longestFirst(times), err
}

// timed brings the times of the device to the host's clock: by the launch that the host noted soonest after it was queued.
func (d *clDevice) timed() ([]timedEvent, error) {
	raw, err := d.dev.Timeline()
	if err != nil {
		return nil, err
	}
	var ahead time.Duration // of the host's clock
	for i, l := range raw {
		if a := l.Launched.Sub(d.timeline.begin) - time.Duration(l.Queued); i == 0 || a < ahead {
			ahead = a
		}
	}
	list := make([]timedEvent, len(raw))
	for i, l := range raw {
		list[i] = timedEvent{l.Name, l.Label, time.Duration(l.Start) + ahead, time.Duration(l.End - l.Start), l.Bytes}
	}
	return list, nil
}

func (d *clDevice) Close() error {
	if err := Try(func() { d.enter("Close") }); err != nil {
		return err
	}
	defer d.leave()
	d.trials.save()
	err := d.dev.Close()
	d.fail(errClosed)
	if errors.Is(err, clrt.ErrClosed) {
		return nil
	}
	return err
}
