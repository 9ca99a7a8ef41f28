package replay_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestSumsThatWait: GPUs do sums of large tensors together, which wait for each other, up to a bound; CPUs do not.
func TestSumsThatWait(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, gpu := range []bool{false, true} {
			if gpu && sel == "cpu" {
				continue
			}
			d := devtest.Open(t, sel, tensor.Options{GPUKernels: gpu})
			for _, c := range []struct{ rows, together int }{{100, 3}, {12000, 2}} {
				if c.rows > 1000 && d.Limits().CPU {
					continue
				}
				told, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
					x, w := tensor.Empty(d, c.rows, 400), tensor.NewRNG(3).Uniform(d, -1, 1, 400, 1)
					return func() []*tensor.Tensor {
						var out []*tensor.Tensor
						for k := range 3 {
							y := x.MulScalar(float64(k))
							out = append(out, y.MatMul(w), y.Sum(0))
						}
						return out
					}, []*tensor.Tensor{x}, nil
				}, replay.Options{Without: []string{"join", "once"}})
				launches := 9
				if !d.Limits().CPU {
					launches -= c.together - 1
				}
				if report.Step == 9 && report.Launches != launches || d.Limits().CPU != (strings.Count(told, "it would keep much memory") > 1) {
					t.Errorf("%s, CPU %v: %d rows: %d launches, want %d:\n%s", sel, d.Limits().CPU, c.rows, report.Launches, launches, told)
				}
			}
		}
	}
}
