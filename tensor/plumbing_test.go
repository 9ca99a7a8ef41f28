package tensor_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/tensor"
)

// TestPlumbing: every kind of device has what package plumbing asks of it. In check mode, too, nothing is tried.
func TestPlumbing(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, opt := range []tensor.Options{{}, {Check: true}, {SkipSelfTest: true}} {
			if opt.Check && sel == "cpu" {
				continue
			}
			d := devtest.Open(t, sel, opt)
			plumbing.TakeLaunched(d, "Test")
			x := tensor.Zeros(d, 2, 3)
			if got := plumbing.TakeLaunched(d, "Test"); got != (plumbing.Launched{ops.Zero}) {
				t.Errorf("%s: Zeros launched %v", d.Name(), got)
			}
			if got := plumbing.TakeLaunched(d, "Test"); got != (plumbing.Launched{}) {
				t.Errorf("%s: taken twice: %v", d.Name(), got)
			}
			if err := plumbing.Try(d, ops.Zero, nil); err != nil {
				t.Errorf("%s: %v", d.Name(), err)
			}
			if has := plumbing.TuningName(d) != ""; has != (sel != "cpu") {
				t.Errorf("%s: its name in a tuning table is %q", d.Name(), plumbing.TuningName(d))
			}
			place := tensor.Full(d, 1, 2, 3)
			plumbing.Rehome(x, place)
			place.FillInPlace(2)
			if v, err := x.Sum().Item(); v != 12 || err != nil || !plumbing.InFlatBuffer(x) {
				t.Errorf("%s: moved, the elements add up to %v (err %v)", d.Name(), v, err)
			}
			if plumbing.LeaveFlatBuffer(x); plumbing.InFlatBuffer(x) {
				t.Errorf("%s: unmoored, it is moored", d.Name())
			}
		}
	}
}
