//go:build opencl && cgo

package tensor

import (
	"fmt"
	"os"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

func setKernel(value int) *kernels.Kernel {
	return &kernels.Kernel{Name: "set", Text: "// @depends: common\nkernel void set(OUT(Y), int n) { int i = get_global_id(0); if (i < n) Y[Y_off + i] = VALUE; }",
		Defines: fmt.Sprintf("-DVALUE=%d", value), Params: []kernels.Param{{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid { return kernels.Grid1D(int(a[1].Int), l) }}
}

// TestEntriesAreBounded: Kernels made for every launch share an entry point, and entry points of
// many sources are released.
func TestEntriesAreBounded(t *testing.T) {
	if os.Getenv("CLGRAD_TEST_DEVICES") == "cpu" {
		t.Skip("only cpu is under test")
	}
	dev, err := Open("opencl", Options{})
	if err != nil {
		t.Skip(err)
	}
	defer dev.Close()
	d := dev.(*clDevice)
	d.entries.most = 4
	y := Empty(dev, 3)
	set := func(value int) {
		Launch(dev, setKernel(value), y.Arg(), kernels.IntArg(3))
		if v, err := y.Float64s(); err != nil || v[0] != float64(value) || v[2] != float64(value) {
			t.Fatalf("got %v, %v; want %d", v, err, value)
		}
	}
	for range 50 {
		set(7)
	}
	if s := dev.Stats(); s.Kernels != 1 || s.Programs != 1 || len(d.entries.of) > 4 {
		t.Errorf("50 Kernels of one source: %d OpenCL kernels of %d programs, %d remembered", s.Kernels, s.Programs, len(d.entries.of))
	}
	for value := range 10 {
		set(value)
		set(7) // launched often: it stays
		if s := dev.Stats(); s.Kernels > 4 {
			t.Fatalf("%d kernels are alive, at most 4", s.Kernels)
		}
	}
	if s := dev.Stats(); s.Programs != 10 { // 7 was built once
		t.Errorf("%d programs built, want 10", s.Programs)
	}
}
