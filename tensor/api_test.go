package tensor_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// TestAPI: every kind of device has what tensorapi.API asks of it. In check mode, too, nothing is
// tried.
func TestAPI(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if d := devtest.Open(t, sel, devtest.GPUKernels()); sel != "cpu" && d.Target().CPU {
			t.Errorf("%s with GPUKernels runs kernels for CPUs", d.Name())
		}
		for _, opt := range []tensor.Options{{}, {Check: true}, {SkipSelfTest: true}} {
			if opt.Check && sel == "cpu" {
				continue
			}
			d := devtest.Open(t, sel, opt)
			tensorapi.Impl.TakeLaunched(d, "Test")
			x := tensor.Zeros(d, 2, 3)
			if got := tensorapi.Impl.TakeLaunched(d, "Test"); got != (tensorapi.Launched{ops.Zero}) {
				t.Errorf("%s: Zeros launched %v", d.Name(), got)
			}
			if got := tensorapi.Impl.TakeLaunched(d, "Test"); got != (tensorapi.Launched{}) {
				t.Errorf("%s: taken twice: %v", d.Name(), got)
			}
			if err := tensorapi.Impl.Try(d, ops.Zero, nil); err != nil {
				t.Errorf("%s: %v", d.Name(), err)
			}
			if has := tensorapi.Impl.TuningName(d) != ""; has != (sel != "cpu") {
				t.Errorf("%s: its name in a tuning table is %q", d.Name(), tensorapi.Impl.TuningName(d))
			}
			place := tensor.Full(d, 1, 2, 3)
			tensorapi.Impl.Rehome(x, place)
			place.FillInPlace(2)
			if v, err := x.Sum().Item(); v != 12 || err != nil || !tensorapi.Impl.InFlatBuffer(x) {
				t.Errorf("%s: moved, the elements add up to %v (err %v)", d.Name(), v, err)
			}
			if tensorapi.Impl.LeaveFlatBuffer(x); tensorapi.Impl.InFlatBuffer(x) {
				t.Errorf("%s: unmoored, it is moored", d.Name())
			}
		}
	}
}
