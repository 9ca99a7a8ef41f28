//go:build opencl && cgo

package tensor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// counting is a kernel whose work-items each go through `outer` loops of `inner` steps, and count
// them.
func counting(outer, inner int) *kernels.Kernel {
	return &kernels.Kernel{Name: "counting", Text: `// @depends: common
kernel void counting(OUT(Y), int n) {
    const int g = get_global_id(0);
    REAL count = 0;
    for (int i = 0; i < OUTER; i++) {
        for (int j = 0; j < INNER; j++) count += 1;
    }
    if (g < n) Y[Y_off + g] = count;
}`, Defines: fmt.Sprintf("-DOUTER=%d -DINNER=%d", outer, inner),
		Params: []kernels.Param{{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid:   func(a []kernels.Arg, l kernels.Target) kernels.Grid { return kernels.Grid1D(int(a[1].Int), l) },
		SelfTest: func([]kernels.Arg) []kernels.Operand {
			return []kernels.Operand{selftest.Output(64), selftest.Number(64)}
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			for i := range c.Floats(0) {
				c.Floats(0)[i] = float32(outer * inner)
			}
		}}}
}

// TestRusticlLongLoops is the smallest form of a fault of Mesa 22.3's llvmpipe: it leaves a loop
// when all loops of the work-item together have gone round 65,535 times, and says nothing. The
// kernels for CPUs, one work-item that goes through a large block, go beyond: the fused step of a
// perceptron wrote zeros, and products of many rows lost the last of each block. Whatever the
// driver does, a device never returns a wrong result: it is right, or its trial refuses it.
func TestRusticlLongLoops(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("CLGRAD_TEST_DEVICES"), ","), "rusticl") {
		t.Skip("rusticl is not under test")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("MESA_SHADER_CACHE_DISABLE", "true") // it continues to write there when the test is over
	for _, c := range [][2]int{{10, 100}, {1, 60000}, {1, 70000}, {300, 210}, {300, 230}} {
		d, err := Open("rusticl", Options{})
		if err != nil {
			t.Fatal(err)
		}
		y := Full(d, -1, 64)
		Launch(d, counting(c[0], c[1]), y.Arg(), kernels.IntArg(64))
		v, err := y.Float64s()
		var refused *MiscompileError
		switch {
		case errors.As(err, &refused) && c[0]*c[1] > 65535:
			t.Logf("%d × %d: %v", c[0], c[1], err)
		case err != nil:
			t.Errorf("%d × %d: %v", c[0], c[1], err)
		case v[0] != float64(c[0]*c[1]) || v[63] != v[0]:
			t.Errorf("%d × %d: counted %v", c[0], c[1], v[0])
		default:
			t.Logf("%d × %d: right", c[0], c[1])
		}
		d.Close()
	}
}

// TestRusticlInt8: what Mesa's compiler does not survive is refused, and what is near it works.
func TestRusticlInt8(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("CLGRAD_TEST_DEVICES"), ","), "rusticl") {
		t.Skip("rusticl is not under test")
	}
	d, err := Open("rusticl", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := New(d, []float32{-1.5, 0, 1, 254.5, 300})
	if err := Try(func() { x.To(Int8) }); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "int16") {
		t.Errorf("int8: %v", err)
	}
	for typ, want := range map[Type][]float64{Uint8: {0, 0, 1, 254, 255}, Int16: {-1, 0, 1, 254, 300}, Bool: {1, 0, 1, 1, 1}} {
		if got, err := x.To(typ).To(Float32).Float64s(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v (%v)", typ, got, want, err)
		}
	}
}
