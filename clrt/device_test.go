//go:build opencl && cgo

package clrt

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/samuel/go-opencl/cl"
)

const square = `kernel void k_square(global float *x, int off, int n) {
	int i = get_global_id(0);
	if (i < n) x[off + i] *= FACTOR * x[off + i];
}`

func open(t *testing.T, opt Options) *Device {
	t.Helper()
	infos, err := List()
	if err != nil {
		if os.Getenv("CLGRAD_REQUIRE_OPENCL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	info, err := Select(infos, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(info, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestHandleLayout pins what handle.go relies on: the C handle is the first field.
func TestHandleLayout(t *testing.T) {
	for _, c := range []struct {
		v     any
		field string
	}{
		{cl.Device{}, "id"}, {cl.CommandQueue{}, "clQueue"}, {cl.Kernel{}, "clKernel"}, {cl.MemObject{}, "clMem"},
		{cl.Context{}, "clContext"}, {cl.Program{}, "clProgram"},
	} {
		f := reflect.TypeOf(c.v).Field(0)
		if f.Name != c.field || f.Offset != 0 || f.Type.Size() != unsafe.Sizeof(uintptr(0)) {
			t.Errorf("%T starts with %s (%v), want %s", c.v, f.Name, f.Type, c.field)
		}
	}
}

func TestStatusOf(t *testing.T) {
	for err, want := range map[error]Status{
		cl.ErrInvalidKernelName: InvalidKernelName, cl.ErrMemObjectAllocationFailure: MemAllocationFailure,
		cl.ErrOther(-1001): PlatformNotFound, cl.BuildError("log"): BuildProgramFailure,
		cl.ErrOutOfResources: OutOfResources, cl.ErrInvalidWorkGroupSize: InvalidWorkGroupSize,
		cl.ErrUnknown: statusUnknown,
	} {
		if got := statusOf(err); got != want {
			t.Errorf("statusOf(%v) = %v, want %v", err, got, want)
		}
	}
}

func TestLaunchAndCounters(t *testing.T) {
	for _, profile := range []bool{false, true} {
		d := open(t, Options{Profile: profile})
		b, err := d.Alloc(16)
		if err != nil {
			t.Fatal(err)
		}
		x := []float32{1, 2, 3, 4}
		if err := d.Write(b, 0, unsafe.Pointer(&x[0]), 16); err != nil {
			t.Fatal(err)
		}
		k, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2"}, "k_square")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Launch(k, []int{4}, []int{4}, []Arg{BufferArg(b), IntArg(1), IntArg(2)}, 16); err != nil {
			t.Fatal(err)
		}
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := d.Read(b, 0, unsafe.Pointer(&x[0]), 16); err != nil {
			t.Fatal(err)
		}
		if want := []float32{1, 8, 18, 4}; !reflect.DeepEqual(x, want) {
			t.Errorf("got %v, want %v", x, want)
		}
		s := d.Stats()
		if s.Launches != 1 || s.Uploads != 1 || s.UploadBytes != 16 || s.Downloads != 1 || s.DownBytes != 16 || s.LiveBytes == 0 {
			t.Errorf("counters: %+v", s)
		}
		times, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if profile && (len(times) != 1 || times[0].Name != "k_square" || times[0].Calls != 1 || times[0].Nanos <= 0 || times[0].Bytes != 16) {
			t.Errorf("profile: %+v", times)
		}
		if !profile && len(times) != 0 {
			t.Errorf("profile without Options.Profile: %+v", times)
		}
		d.Free(b)
		if s := d.Stats(); s.LiveBytes != 0 || s.HeldBytes == 0 {
			t.Errorf("after Free: %+v", s)
		}
	}
}

func TestProgramCache(t *testing.T) {
	d := open(t, Options{})
	build := func(options string) {
		if _, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: options}, "k_square"); err != nil {
			t.Fatal(err)
		}
	}
	build("-DFACTOR=2")
	build("-DFACTOR=2")
	build("-DFACTOR=3") // the same text is another program under other options
	if s := d.Stats(); s.Programs != 2 || s.ProgramCacheOK != 1 || s.CompileNanos <= 0 {
		t.Errorf("built %d, from the cache %d, in %d ns; want 2, 1", s.Programs, s.ProgramCacheOK, s.CompileNanos)
	}
	again := open(t, Options{Rebuild: true})
	if _, err := again.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2"}, "k_square"); err != nil {
		t.Errorf("with Rebuild: %v", err)
	}
}

func TestFailures(t *testing.T) {
	d := open(t, Options{})
	_, err := d.Kernel(Source{Name: "broken.cl", Text: "#line 1 \"broken.cl\"\nkernel void k_a(global float *x) {\n\t*x = undefined_name;\n}", Options: "-DZ=1"}, "k_a")
	if !errors.Is(err, BuildProgramFailure) {
		t.Fatalf("err = %v, want BuildProgramFailure", err)
	}
	for _, want := range []string{"broken.cl", "-DZ=1", "undefined_name", "broken.cl:2: \t*x = undefined_name;"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	if _, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2"}, "k_cube"); !errors.Is(err, InvalidKernelName) || !strings.Contains(err.Error(), "k_cube") {
		t.Errorf("missing kernel: err = %v", err)
	}
	if _, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2", Target: "sm_90a"}, "k_square"); !strings.Contains(d.Info().Vendor, "NVIDIA") &&
		(!errors.Is(err, InvalidBinary) || !strings.Contains(err.Error(), "square.cl for sm_90a") || !strings.Contains(err.Error(), "not in PTX")) {
		t.Errorf("a program for a target of other devices: err = %v", err)
	}
	if _, err := d.Alloc(int(d.Info().GlobalMem) * 4); err == nil || !strings.Contains(err.Error(), "MiB wanted") {
		t.Errorf("impossible allocation: err = %v", err)
	}
	k, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2"}, "k_square")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Launch(k, []int{4}, []int{3}, []Arg{IntArg(0), IntArg(0), IntArg(0)}, 0); err == nil {
		t.Error("a launch with a bad argument succeeded")
	}
	d.Close()
	if err := d.Flush(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: err = %v", err)
	}
	if _, err := d.Alloc(4); !errors.Is(err, ErrClosed) {
		t.Errorf("Alloc after Close: err = %v", err)
	}
}

// TestMain lets tests run this binary again as another program.
func TestMain(m *testing.M) {
	switch os.Getenv("CLRT_TEST_CHILD") {
	case "list":
		if _, err := List(); err != nil {
			os.Stdout.WriteString(err.Error())
		}
		os.Exit(0)
	case "signals":
		signals()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, mode string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "CLRT_TEST_CHILD="+mode), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestMissingRuntime(t *testing.T) {
	out := child(t, "list", "CLGRAD_OPENCL_LIB=/nonexistent/libOpenCL.so")
	for _, want := range []string{ErrNoRuntime.Error(), "/nonexistent/libOpenCL.so", "CLGRAD_OPENCL_LIB"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
}

func TestNoPlatform(t *testing.T) {
	open(t, Options{}) // skips without a loader
	out := child(t, "list", "OCL_ICD_VENDORS="+t.TempDir(), "OCL_ICD_FILENAMES=")
	if !strings.Contains(out, ErrNoPlatform.Error()) || !strings.Contains(out, "pocl-opencl-icd") {
		t.Errorf("without platforms: %q", out)
	}
}

// TestSignals runs the checks in a process of their own: they change its signal handling.
func TestSignals(t *testing.T) {
	open(t, Options{})
	if out := child(t, "signals"); !strings.HasSuffix(out, "ok\n") {
		t.Error(out)
	}
}

// signals opens a device, builds and runs a kernel, and then holds that Go's own signal handling is
// what it was: panics for a nil dereference and a division by zero, and delivery of SIGINT and
// SIGTERM.
func signals() {
	say := func(s string) { os.Stdout.WriteString(s + "\n") }
	infos, err := List()
	if err != nil {
		say(err.Error())
		return
	}
	d, err := Open(infos[0], Options{})
	if err != nil {
		say(err.Error())
		return
	}
	k, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=1"}, "k_square")
	if err != nil {
		say(err.Error())
		return
	}
	b, _ := d.Alloc(64)
	if err := d.Launch(k, []int{4}, []int{4}, []Arg{BufferArg(b), IntArg(0), IntArg(4)}, 0); err != nil {
		say(err.Error())
	}
	if err := d.Finish(); err != nil {
		say(err.Error())
	}
	panics := func(what string, f func()) {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(r.(error).Error(), what) {
				say("no panic about " + what)
			}
		}()
		f()
	}
	var null *int
	zero := len(os.Getenv("CLRT_IS_NEVER_SET"))
	panics("nil pointer", func() { *null = 1 })
	panics("divide by zero", func() { zero = 1 / zero })
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c := make(chan os.Signal, 1)
		signal.Notify(c, sig)
		syscall.Kill(os.Getpid(), sig)
		select {
		case <-c:
		case <-time.After(5 * time.Second):
			say("no " + sig.String())
		}
	}
	say("ok")
}

// TestRefusedForMemory: whatever call a driver refuses for want of memory, the error says what this
// process has, and that another may have the rest.
func TestRefusedForMemory(t *testing.T) {
	d := open(t, Options{})
	if _, err := d.Alloc(3 << 20); err != nil {
		t.Fatal(err)
	}
	for status, says := range map[Status]bool{MemAllocationFailure: true, OutOfResources: true, OutOfHostMemory: true, InvalidKernelArgs: false} {
		err := d.refused("launch k", status, "global [1]")
		const want = "global [1]; this process has 3.0 MiB in tensors and 0.0 MiB held for reuse, of "
		if has := strings.Contains(err.Error(), want) && strings.HasSuffix(err.Error(), ": another process may have the rest"); has != says || !errors.Is(err, status) {
			t.Errorf("%v: %v", status, err)
		}
	}
}

// TestLongBuildLog builds a program whose log is longer than the 4 KiB that go-opencl has room for.
func TestLongBuildLog(t *testing.T) {
	d := open(t, Options{})
	text := "kernel void k_a(global float *x) {\n"
	for i := range 200 {
		text += fmt.Sprintf("\t*x = undefined_name_%d;\n", i)
	}
	_, err := d.Kernel(Source{Name: "broken.cl", Text: text + "}\n"}, "k_a")
	if !errors.Is(err, BuildProgramFailure) || !strings.Contains(err.Error(), "undefined_name_0") {
		t.Errorf("err = %.300v, want BuildProgramFailure with the log", err)
	}
}
