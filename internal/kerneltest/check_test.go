package kerneltest

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestCheckFindsFaults runs kernels whose first run, that of the device, does something that the second, that of the
// twin, does not: each fault is found and named.
func TestCheckFindsFaults(t *testing.T) {
	ulps := func(v float32, n int) float32 { return math.Float32frombits(math.Float32bits(v) + uint32(n)) }
	for _, c := range []struct {
		name  string
		fault func(x, y []float32)
		say   string // "" where there is none
	}{
		{"none", func(_, _ []float32) {}, ""},
		{"after the output", func(_, y []float32) { unsafe.Slice(&y[0], len(y)+1)[len(y)] = 1 }, "wrote Y[5], outside"},
		{"at the end of the guard", func(_, y []float32) { unsafe.Slice(&y[0], len(y)+guard)[len(y)+guard-1] = 1 }, "wrote Y[72], outside"},
		{"before the output", func(_, y []float32) { *(*float32)(unsafe.Add(unsafe.Pointer(&y[0]), -4)) = 1 }, "wrote Y[-1], outside"},
		{"the input", func(x, _ []float32) { x[2] = 7 }, "wrote X[2], outside"},
		{"after the input", func(x, _ []float32) { unsafe.Slice(&x[0], len(x)+1)[len(x)] = 7 }, "wrote X[5], outside"},
		{"not written", func(_, y []float32) { y[4] = float32(math.NaN()) }, "Y[4] = NaN"},
		{"3 ULP", func(_, y []float32) { y[1] = ulps(y[1], 3) }, ""},
		{"4 ULP", func(_, y []float32) { y[1] = ulps(y[1], 4) }, "Y[1]"},
		{"1000 ULP", func(_, y []float32) { y[3] = ulps(y[3], 1000) }, "(1000 ULP)"},
	} {
		d := devtest.Open(t, "cpu", tensor.Options{})
		runs := 0
		k := &kernels.Kernel{Name: "k_double", File: "unary.cl", Tol: kernels.ULP(3),
			Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}},
			Grid:   kernels.Neg.Forward().Grid,
			Twin: kernels.Twin{F32: func(call kernels.Call[float32]) {
				x, y := call.Reals(0), call.Reals(1)
				for i := range y {
					y[i] = 2 * x[i]
				}
				if runs++; runs == 1 {
					c.fault(x, y)
				}
			}}}
		_, err := Check(d, k, c.name, NewOperands(kernels.Float32, 1, 1).in(5, 1, 2).out(5).Args)
		if c.say == "" && err != nil || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%s: err = %v, want %q", c.name, err, c.say)
		}
		if runs != 2 {
			t.Errorf("%s: %d runs", c.name, runs)
		}
	}
}
