// Package devtest opens the devices that tests run on, and starts the programs that they compare
// with.
package devtest

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Env names the environment variable that lists the devices to test, as selection strings separated
// by commas. Unset, tests run on cpu and, where the build has OpenCL and a device is there, on
// opencl. A device that is listed and cannot be opened fails the test.
const Env = "CLGRAD_TEST_DEVICES"

// EmulatedEnv names the environment variable that says that an emulator of another processor runs
// the tests.
const EmulatedEnv = "CLGRAD_TEST_EMULATED"

// OptimizedEnv names the environment variable that has OpenCL CPUs optimize the kernels of tests.
// By default only a sweep does: they are built in less than half the time without.
const OptimizedEnv = "CLGRAD_TEST_OPTIMIZED"

// Floats returns the type of floats that is double or not.
func Floats(double bool) tensor.Type {
	if double {
		return tensor.Float64
	}
	return tensor.Float32
}

// New is tensor.New, but for floats of the device's default type.
func New[T tensor.Element](d tensor.Device, data []T, shape ...int) *tensor.Tensor {
	switch any(data).(type) {
	case []float32, []float64:
		if d != nil {
			return tensor.NewOf(d, d.DefaultType(), data, shape...)
		}
	}
	return tensor.New(d, data, shape...)
}

// Float64s returns the elements of x. The test ends if they cannot be read.
func Float64s(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	v, err := x.Float64s()
	if err != nil {
		t.Fatalf("%v: %v", x.Shape(), err)
	}
	return v
}

// AtMostGoroutines fails the test if there are more than n goroutines. One that has done its work may still be there
// for a moment: it is waited for.
func AtMostGoroutines(t testing.TB, n int) {
	t.Helper()
	for range 5000 {
		if runtime.NumGoroutine() <= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	stacks = stacks[:runtime.Stack(stacks, true)]
	t.Errorf("%d goroutines at most should be there, and %d are:\n%s", n, runtime.NumGoroutine(), stacks)
}

// Command is exec.Command, but skips the test in an emulator: a process of several threads that
// starts a program sometimes hangs in QEMU, which forks where the system would share memory with
// the child.
func Command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Getenv(EmulatedEnv) != "" {
		t.Skip("this is an emulator, in which no programs are started")
	}
	return exec.Command(name, args...)
}

// SweepEnv names the environment variable that says that there is time for many more trials: make
// sweep sets it, to the first seed of random programs. 1 is the seed that tests begin with
// otherwise, so that others are a sweep of its own.
const SweepEnv = "CLGRAD_SWEEP"

// Seed returns the seed of the random program number i.
func Seed(i int) uint64 {
	first, err := strconv.ParseUint(os.Getenv(SweepEnv), 10, 32)
	if err != nil || first == 0 {
		first = 1
	}
	return first - 1 + uint64(i)
}

// Sweep reports whether there is time for many more trials, and for their kernels to be built.
func Sweep() bool { return os.Getenv(SweepEnv) != "" }

// more is read before a test sets the variable.
var more = os.Getenv(OptimizedEnv) != ""

// More reports whether tests have the time of make test-more, which builds kernels optimized, or of
// a sweep.
func More() bool { return more || Sweep() }

// Optimized reports whether OpenCL CPUs build the kernels of tests with optimization.
func Optimized() bool { return os.Getenv(OptimizedEnv) != "" || Sweep() }

// Optimize has OpenCL CPUs optimize the kernels of a test, as in programs. Short tests do without.
func Optimize(t *testing.T) {
	t.Helper()
	if !testing.Short() {
		t.Setenv(OptimizedEnv, "1")
	}
}

// Each runs f as a subtest on every device under test, in float32 and, where f64 is set, in
// float64. Of OpenCL devices that is left to a sweep: they would build every kernel once more. Both
// is for tests of what differs there.
func Each(t *testing.T, f64 bool, f func(t *testing.T, d tensor.Device)) {
	t.Helper()
	each(t, f64, f64 && Sweep(), openFor, f)
}

// Both runs f as a subtest in float32 and in float64 on every device under test.
func Both(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	t.Helper()
	each(t, true, true, openFor, f)
}

func openFor(t *testing.T, sel string, opt tensor.Options) tensor.Device { return Open(t, sel, opt) }

// each runs f in float64, too, on the Go device and on OpenCL devices.
func each(t *testing.T, onGo, onOpenCL bool, open func(*testing.T, string, tensor.Options) tensor.Device, f func(t *testing.T, d tensor.Device)) {
	t.Helper()
	for _, sel := range Selected() {
		t.Run(sel, func(t *testing.T) { f(t, open(t, sel, tensor.Options{})) })
		if sel == "cpu" && onGo || sel != "cpu" && onOpenCL {
			t.Run(sel+"/float64", func(t *testing.T) { f(t, open(t, sel, tensor.Options{DefaultType: tensor.Float64})) })
		}
	}
}

// Devices are those of a test with many cases, which build their kernels once.
type Devices struct {
	t    *testing.T
	open map[selected]tensor.Device
}

type selected struct {
	sel string
	opt tensor.Options
}

// Keep returns devices that are closed when t ends.
func Keep(t *testing.T) *Devices { return &Devices{t, map[selected]tensor.Device{}} }

// Open is [Open] for a case.
func (k *Devices) Open(sel string, opt tensor.Options) tensor.Device {
	d := k.open[selected{sel, opt}]
	if d == nil {
		d = Open(k.t, sel, opt)
		k.open[selected{sel, opt}] = d
	}
	return d
}

// Each is [Each] for a case.
func (k *Devices) Each(t *testing.T, f64 bool, f func(t *testing.T, d tensor.Device)) {
	t.Helper()
	each(t, f64, f64 && Sweep(), func(_ *testing.T, sel string, opt tensor.Options) tensor.Device { return k.Open(sel, opt) }, f)
}

// Selected returns the selection strings of the devices under test.
func Selected() []string {
	if list := os.Getenv(Env); list != "" {
		return strings.Split(list, ",")
	}
	if infos, err := clrt.List(); err == nil && len(infos) > 0 {
		return []string{"cpu", "opencl"}
	}
	return []string{"cpu"}
}

// Open opens a device, with kernels as [OptimizedEnv] says, and closes it when the test ends, which
// fails if the device has failed.
func Open(t testing.TB, sel string, opt tensor.Options) tensor.Device {
	t.Helper()
	// Oclgrind keeps the state of its checkers per host thread and crashes when calls come from
	// several.
	runtime.LockOSThread()
	opt.Unoptimized = opt.Unoptimized || !Optimized()
	keepPrograms(sel)
	d, err := tensor.Open(sel, opt)
	if err != nil {
		t.Fatalf("open %s: %v", sel, err)
	}
	tensorapi.Impl.One(d) // the device keeps it: tests that count live bytes start from here
	t.Cleanup(func() {
		if err := d.Sync(); err != nil && !t.Failed() {
			t.Errorf("device at the end of the test: %v", err)
		}
		d.Close()
	})
	return d
}

var keeps sync.Map // the selections of keepPrograms

// keepPrograms has programs of an OpenCL CPU stay built from one test to the next: to find one in
// PoCL's folder takes it much longer.
func keepPrograms(sel string) {
	if _, does := keeps.LoadOrStore(sel, true); does || sel == "cpu" {
		return
	}
	infos, err := clrt.List()
	if err != nil {
		return // the test that opens it says so
	}
	if info, err := clrt.Select(infos, sel); err == nil && info.Type == clrt.CPU {
		clrt.Open(info, clrt.Options{KeepPrograms: true})
	}
}

// GPUKernels returns options for an OpenCL CPU to run the kernel variants for GPUs, built without
// optimization; the other options are those given, if any.
func GPUKernels(opt ...tensor.Options) tensor.Options {
	return tensorapi.Impl.GPUKernels(append(opt, tensor.Options{})[0])
}

// Uncollected keeps the garbage collector off until the test ends: for tests that compare live
// bytes, which it would free in between.
func Uncollected(t testing.TB) {
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

// CPU opens the Go device in float64: for tests whose subject is not the device.
func CPU(t testing.TB) tensor.Device {
	return Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
}
