package tensor_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLaunchAllocates: a launch leaves nothing to the garbage collector. On the Go device a twin may: it starts
// goroutines.
func TestLaunchAllocates(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d := devtest.Open(t, sel, tensor.Options{})
		x, w, y := tensor.Full(d, 1, 64, 16), tensor.Full(d, 1, 16, 16), tensor.Zeros(d, 64, 16)
		for name, f := range map[string]func(){
			"unary":  func() { x.MapInPlace(fn.Abs, nil) },
			"binary": func() { y.MapInPlace(fn.Add, nil, x) },
			"matmul": func() { plumbing.MatMulInto(y, x, w, false) },
		} {
			if n := testing.AllocsPerRun(100, f); n > 0 {
				t.Errorf("%s, %s: %v allocations per launch", sel, name, n)
			}
		}
	}
}
