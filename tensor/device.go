package tensor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// Device runs kernels and holds their memory. [Open] makes one. It belongs to one goroutine at a
// time:
//
//   - Several goroutines may use a device one after another.
//   - Two goroutines that meet in a launch, an allocation or a copy do not race: one of them gets a
//     panic with ErrGoroutine.
//   - [Scope]; NoGrad, Backward, Grad and DetectAnomalies of package autograd; EMA.Use of package
//     optim; and Record of package replay claim the device: whatever another goroutine begins
//     meanwhile panics with ErrGoroutine. A function that they call must therefore compute in its
//     own goroutine. One that leaves the work to another lets that one call NoGrad or Scope.
//
// An OpenCL device runs launches while the host continues. A launch, and the run of a recording,
// waits where 512 launches before it have not run; where launches are long, it waits for all but
// about the last tenth of a second of them.
//
// Nobody has to free tensors: what the garbage collector finds is returned. The device makes it run
// when the bytes in tensors have grown by half since it last did, and by 64 MiB at least, and
// before memory is refused.
type Device interface {
	// Name says what runs the kernels, for a person.
	Name() string
	// DefaultType is the type of tensors that are made without one: that of Options.DefaultType.
	DefaultType() Type
	// Supports reports whether the device computes in a type. Some lack Float64, and Mesa's llvmpipe Int8.
	Supports(typ Type) bool
	// Precision is that of matrix products which the device was opened with.
	Precision() Precision
	// Target is what the shape of a launch depends on.
	Target() kernels.Target

	// Alloc returns memory for n elements, contents undefined.
	Alloc(t kernels.DType, n int) (kernels.Buffer, error)
	// Release takes memory back, which must not be used any more.
	Release(b kernels.Buffer)
	// Upload copies host memory over the elements of a buffer from off on, and returns when that is
	// done.
	Upload(dst kernels.Buffer, off int, src *kernels.HostBuffer) error
	// Download copies the elements of a buffer from off on to host memory, once the launches that
	// write them are done, and returns when the copy is.
	Download(dst *kernels.HostBuffer, src kernels.Buffer, off int) error

	// Err returns the first failure. Once there is one, launches are skipped.
	Err() error
	// Flush starts what was launched.
	Flush()
	// Sync waits for what was launched and returns Err.
	Sync() error

	// Stats returns what the device did so far and holds now.
	Stats() Stats
	// Profile returns the time of each kernel so far, longest first. It is empty unless the device
	// was opened with Options.Profile.
	Profile() ([]KernelTime, error)
	// Close waits for the launches and releases the device's memory, that of tensors that were not
	// freed too: to read one afterwards is an error, and so is to run a recording. Both are
	// ErrClosed, unless the device had failed before. While another goroutine uses the device,
	// Close does nothing but return an error, ErrGoroutine.
	Close() error

	core() *base
	// timed waits for the launches and returns when they ran, of a device that keeps that.
	timed() ([]timedEvent, error)
	// allocate is Alloc for op, which errors of misuse name.
	allocate(op string, t kernels.DType, n int) (kernels.Buffer, error)
	// matrixUnits reports whether the device has units that compute an inner product.
	matrixUnits(inner ops.Inner) bool
	// gridOf returns the work-items of a launch whose floats have a type. It panics where launch would.
	gridOf(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) kernels.Grid
	// launch runs a kernel whose arguments were checked, with floats of a type. It may return before the kernel has run.
	launch(k *kernels.Kernel, float kernels.DType, args []kernels.Arg)
	// owns reports whether b is memory of this device that was not released.
	owns(b kernels.Buffer) bool
	// prepare makes a program of launches.
	prepare(launches []capture.Launch, built func(kernel string, took time.Duration)) (capture.Program, error)
	// selfTest is tensorapi.API's Try. Unless a device says otherwise, it tests nothing.
	selfTest(k *kernels.Kernel, args []kernels.Arg) error
	// trialsRemembered is tensorapi.API's TrialsRemembered.
	trialsRemembered() (path string, trials int)
	// as returns the memory of b as elements of type t.
	as(b kernels.Buffer, t kernels.DType) kernels.Buffer
}

// Options says how [Open] sets a device up. The zero value is what it does when nothing is said.
type Options struct {
	// DefaultType is the type of tensors that are made without one, as by [Zeros] or [RNG.Normal]:
	// Float32, or Float64 where the device has it.
	DefaultType Type

	Profile bool // measure every launch
	// Timeline keeps when each launch ran, for [WriteTrace]; it measures as Profile does.
	Timeline bool

	Rebuild bool // rebuild OpenCL programs, past the driver's cache
	// Check runs every launch on the kernel's host kernel as well and stops at the first difference. Errors about freed
	// tensors name the line that freed them.
	Check bool

	// Precision says to what the factors of matrix products may be rounded, so that the matrix
	// units of a GPU compute them faster. See [Precision].
	Precision Precision

	// SkipSelfTest launches kernels that were never tried on the device: see [SelfTestEnv].
	SkipSelfTest bool

	// Unoptimized builds kernels for an OpenCL CPU without optimization (-cl-opt-disable), in less
	// than half the time, for tests of what kernels compute.
	Unoptimized bool

	// Builds is notified of each kernel before it is built, tried and loaded, and after: that takes
	// an OpenCL driver up to seconds where it has not built the kernel before. nil: nobody is
	// notified.
	Builds BuildListener

	// LargestTensorHint is about how many elements the largest tensor of a step will have, 0 if
	// that is not known. Only auto reads it: below 1,024 it takes cpu, since OpenCL needs longer to
	// start a launch than Go to compute it.
	LargestTensorHint int

	gpuKernels bool // see tensorapi.API
}

// BuildListener shows somebody that kernels are being built.
type BuildListener interface {
	// Building is called before a kernel is built. It must not use the device.
	Building(kernel string)
	// Built is called after that.
	Built()
}

// fewElements is how many elements the largest tensor of a training step must have for OpenCL to be
// as fast as Go ("clgrad bench --only small" measures it; BENCHMARKS.md has the numbers).
const fewElements = 1024

// few reports whether auto takes cpu although there is OpenCL. What only OpenCL has was asked of
// OpenCL.
func (o Options) few() bool {
	return 0 < o.LargestTensorHint && o.LargestTensorHint < fewElements && !o.Check && !o.gpuKernels
}

// Stats counts what a device did and holds, in bytes and calls: Launches of kernels, the
// CompileTime of OpenCL programs and the ProgramCacheHits that saved one among it.
type Stats struct {
	LiveBytes, HeldBytes, PeakBytes int64 // in tensors now, kept for reuse, and in tensors at most
	Collections                     int   // of garbage, that the growth of LiveBytes brought about
	Launches                        int64
	Uploads, UploadBytes            int64 // host to device
	Downloads, DownloadBytes        int64 // device to host
	Kernels                         int   // OpenCL kernels held
	Programs                        int   // OpenCL programs built
	CompileTime                     time.Duration
	ProgramCacheHits                int
}

// KernelTime is the profile of one kernel, by Name, over all its Calls.
type KernelTime struct {
	Name  string
	Calls int64
	Total time.Duration // on the device
	Bytes int64         // read and written by the launches, as their arguments declare
}

// DeviceEnv names the environment variable that selects the device where a program does not.
const DeviceEnv = "CLGRAD_DEVICE"

// SelfTestEnv names the environment variable that switches the trials of kernels off, with the
// value "off", as Options.SkipSelfTest does.
//
// An OpenCL driver may compile a kernel to something else than it says. So before the first launch
// of a kernel, and the first of a size some four times as large as any before, the device runs it
// on operands of its own, small ones and as large as those of the launch (up to about a tenth of a
// second of the host kernel's work), and compares what it wrote with the host kernel. If they differ,
// another form of the kernel takes its place; where there is none that agrees, the device fails
// with a [*MiscompileError]. Trials that succeeded are remembered in the user's cache folder, by
// device, driver and kernel; those of kernels whose host kernels are of other modules, which change with a
// program, for each Kernel in the process alone: make such a Kernel once. Kernels that packages
// bring are tried if they have a SelfTest. The Go device tries nothing, and in check mode every launch
// is compared.
const SelfTestEnv = "CLGRAD_FIRST_LAUNCH_CHECK"

// VectorsEnv is the environment variable that chooses the vector instructions of the Go device: off
// for plain loops, or avx512, avx2 or neon where the processor has them. By default they are the
// widest that it has. All of them compute products of matrices and element-wise functions with the
// same results, bit for bit; those of plain loops differ within rounding. neon does not compute
// reductions of rows, norms and AdamW.
const VectorsEnv = vec.Env

// Open opens the device that sel names. Spelling is the same wherever a device is chosen:
//
//	auto       a GPU, else another OpenCL device, else cpu (also "", unless CLGRAD_DEVICE is set); cpu for a
//	           model that Options.LargestTensorHint says is tiny
//	cpu        the kernels' host kernels; needs no OpenCL. Sums are shared out by the GOMAXPROCS of this moment: a
//	           later change of it changes no result
//	opencl     the first OpenCL device, GPUs first
//	1:0        device 0 of OpenCL platform 1
//	nvidia     an OpenCL device whose name, vendor, platform or version contains this
//
// A device that is named and is not there is an error. So are a variable of the environment with a
// value that it cannot have, whichever device is opened, a negative Options.LargestTensorHint, a
// Precision that is none and a DefaultType that is not Float32 or Float64. It panics with ErrValue
// for more than one Options.
func Open(sel string, opts ...Options) (Device, error) {
	var opt Options
	switch {
	case len(opts) > 1:
		panic(&Error{Op: "Open", Kind: ErrValue, Detail: "pass one Options"})
	case len(opts) == 1:
		opt = opts[0]
	}
	if opt.LargestTensorHint < 0 {
		return nil, fmt.Errorf("tensor: open: Options.LargestTensorHint is %d: it must be at least 0", opt.LargestTensorHint)
	}
	if int(opt.Precision) >= len(kernels.Precisions) {
		return nil, fmt.Errorf("tensor: open: Options.Precision is %v: %s are the precisions", opt.Precision, strings.Join(kernels.Precisions, ", "))
	}
	if typ := opt.DefaultType; typ != Float32 && typ != Float64 {
		return nil, fmt.Errorf("tensor: open: Options.DefaultType is %v: it must be float32 or float64", typ)
	}
	if err := environment.Check(); err != nil {
		return nil, fmt.Errorf("tensor: open: %w", err)
	}
	if named := os.Getenv(DeviceEnv); sel == "" && named != "" {
		d, err := open(named, opt)
		if wrong := (*environment.Selection)(nil); errors.As(err, &wrong) {
			err = fmt.Errorf("%s is %q: %w", DeviceEnv, named, err)
		}
		return d, err
	}
	return open(sel, opt)
}

// open opens the device that a selection names; that of the environment is none.
func open(sel string, opt Options) (Device, error) {
	switch strings.ToLower(sel) {
	case "cpu":
		return openGo(opt)
	case "", "auto":
		if opt.few() {
			return openGo(opt)
		}
		d, err := openCL("opencl", opt)
		toMend := errors.Is(err, ops.ErrTuning) || noLibrary(err)
		if err != nil && !opt.Check && !toMend {
			return openGo(opt)
		}
		return d, err
	}
	return openCL(sel, opt)
}

func openGo(opt Options) (Device, error) {
	if opt.Check {
		return nil, &environment.Selection{Err: errors.New("tensor: check mode compares an OpenCL device with Go code, and cpu is that code: choose another device")}
	}
	if _, err := vec.Chosen(); err != nil {
		return nil, fmt.Errorf("tensor: open: %w", err)
	}
	return newGoDevice(opt), nil
}

// base is what every device keeps for this package.
type base struct {
	failure           atomic.Pointer[error]
	user              atomic.Uintptr          // 0, busy, or the goroutine that claimed the device, with busy during its operations
	owner             uintptr                 // the goroutine that claimed the device, 0 if none did; for whoever has entered
	args              []kernels.Arg           // scratch of launch: reused, so that a launch allocates nothing
	spare             atomic.Pointer[argList] // nil while a launch takes its arguments together
	built             builtProducts
	recent            [recentLaunches]*kernels.Kernel
	nrecent           int
	scopes            []*scope // open ones, the innermost last, of the goroutine that claimed the device
	memory            collector
	one               atomic.Pointer[Tensor]         // see tensorapi.API
	tuning            string                         // its name in a tuning table; "": there are no tiles
	notesFrees        atomic.Bool                    // errors about freed tensors name the line that freed them
	number            int64                          // of the device among those that the process has opened, from 1
	recording         atomic.Pointer[activeListener] // nil: no step is being recorded
	unrecorded        bool                           // see tensorapi.API
	tuned             []ops.GemmChoice               // tiles of matrix products that were found fastest, by size; none: defaults
	factors           Precision                      // of matrix products
	timeline          *timeline                      // nil unless Options.Timeline
	label             label                          // of later launches, while somebody listens
	relabel           func(string)                   // tells the runtime the label of the timeline, or nil
	asUnits, asGroups bool                           // large products are computed as matrix units would, and as those of groups of warps: for tests
}

func (s *base) core() *base { return s }

// opened counts the devices of the process.
var opened atomic.Int64

// bothNames names two devices, and tells two of one name apart.
func bothNames(a, b Device) string {
	if a.Name() == b.Name() {
		return fmt.Sprintf("%s, opened as devices %d and %d of the program", a.Name(), a.core().number, b.core().number)
	}
	return fmt.Sprintf("%s and %s", a.Name(), b.Name())
}

func (api) BothNames(a, b Device) string { return bothNames(a, b) }

func (*base) selfTest(*kernels.Kernel, []kernels.Arg) error { return nil }

func (*base) trialsRemembered() (path string, trials int) { return "", 0 }

// Precision returns that of Options.
func (s *base) Precision() Precision { return s.factors }

// Err returns the first failure of the device.
func (s *base) Err() error {
	if e := s.failure.Load(); e != nil {
		return *e
	}
	return nil
}

// fail records err unless an earlier failure stands.
func (s *base) fail(err error) {
	if err != nil {
		failure := err // a variable of its own: taking err's address would put every nil on the heap
		s.failure.CompareAndSwap(nil, &failure)
	}
}

// mustOwn panics unless op can use b.
func mustOwn(op string, d Device, b kernels.Buffer) {
	if !d.owns(b) {
		panic(&Error{Op: op, Kind: ErrDevice, Detail: "the memory is none of " + d.Name() +
			", or was released, or is that of a tensor made in a recorded step"})
	}
}

// bytesOf returns the bytes of n elements, or an error for more than any machine of this kind has.
func bytesOf(d Device, t kernels.DType, n int) (int, error) {
	if n < 0 || n > math.MaxInt/2/t.Size() { // a half: sizes are rounded up
		return 0, fmt.Errorf("tensor: allocate on %s: there is no memory of %d elements of %v", d.Name(), n, t)
	}
	return n * t.Size(), nil
}

// movedBytes returns the memory that a launch reads and writes, as its arguments declare.
func movedBytes(k *kernels.Kernel, args []kernels.Arg) int64 {
	var n int64
	for i, p := range k.Params {
		if p.Mode.Buffer() {
			size := int64(args[i].N * args[i].Buf.DType().Size())
			if p.Mode == kernels.InOut {
				size *= 2
			}
			n += size
		}
	}
	return n
}
