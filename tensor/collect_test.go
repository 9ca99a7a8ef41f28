package tensor_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestMain lets tests run this binary again as a program that leaks.
func TestMain(m *testing.M) {
	switch os.Getenv("TENSOR_TEST_CHILD") {
	case "inference":
		inference(os.Getenv("TENSOR_TEST_SELECT"))
		os.Exit(0)
	case "hoard":
		hoard(os.Getenv("TENSOR_TEST_SELECT"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, mode, sel string, env ...string) string {
	t.Helper()
	cmd := devtest.Command(t, os.Args[0])
	cmd.Env = append(append(os.Environ(), "TENSOR_TEST_CHILD="+mode, "TENSOR_TEST_SELECT="+sel), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s on %s: %v\n%s", mode, sel, err, out)
	}
	return string(out)
}

// status returns a size in /proc/self/status, in MiB.
func status(field string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				panic(err)
			}
			return kb >> 10
		}
	}
	panic("no " + field)
}

// inference is a loop of inference by a program that never calls Free or Scope: 2 MB a pass, 1000
// passes. It prints the memory that the passes added to the process at most, in MiB, and the
// collections.
func inference(sel string) {
	d, err := tensor.Open(sel)
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x, w := tensor.Full(d, 0.01, 2048, 64), tensor.Full(d, 0.01, 64, 64)
	start := 0
	for i := range 1000 {
		h := x
		for range 4 {
			h = h.MatMul(w)
		}
		h = tensor.Map(fn.Tanh, nil, h)
		if i%10 == 0 {
			if _, err := h.Sum().Item(); err != nil {
				panic(err)
			}
		}
		if i == 0 {
			start = status("VmRSS")
		}
	}
	fmt.Println(status("VmHWM")-start, d.Stats().Collections)
}

// TestInferenceWithoutScope measures the memory of such a program. It needs 4 MB beside its
// weights, and may take 128 MiB more.
func TestInferenceWithoutScope(t *testing.T) {
	if runtime.GOOS != "linux" || underRace {
		t.Skip("reads the process's memory from /proc, without the race detector's")
	}
	for _, sel := range devtest.Selected() {
		var grown, collections int
		out := child(t, "inference", sel)
		if _, err := fmt.Sscan(out, &grown, &collections); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("%s: %d MiB, %d collections", sel, grown, collections)
		if grown > 128 {
			t.Errorf("%s: 1000 passes that need 4 MB added %d MiB, with %d collections", sel, grown, collections)
		}
	}
}

// hoard takes memory in tensors of 16 MiB: first some that it lets go of, then some that it holds
// until the device refuses.
func hoard(sel string) {
	d, err := tensor.Open(sel)
	if err != nil {
		panic(err)
	}
	defer d.Close()
	// Tensors that nobody holds fill the memory once over: no refusal.
	for range 200 {
		tensor.Full(d, 1, 4<<20)
	}
	fmt.Println("garbage:", d.Sync())
	var held []*tensor.Tensor
	for d.Err() == nil && len(held) < 200 {
		held = append(held, tensor.Full(d, 1, 4<<20))
	}
	fmt.Println("held:", len(held), d.Err())
	runtime.KeepAlive(held)
}

// TestRefusal: a CPU that would die of a launch when memory is used up refuses before, as an error.
func TestRefusal(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel != "pocl" {
			continue
		}
		out := child(t, "hoard", sel, "POCL_MEMORY_LIMIT=1") // GiB
		for _, want := range []string{"garbage: <nil>\n", "clCreateBuffer", "CL_MEM_OBJECT_ALLOCATION_FAILURE", "16.0 MiB wanted", "left alone"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in:\n%s", want, out)
			}
		}
	}
}
