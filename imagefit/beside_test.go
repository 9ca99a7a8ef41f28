package imagefit

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestPackedBesideBatch: on a GPU's matrix units, the launch that draws a batch packs the weights, too, and leaves the same bits as
// two.
func TestPackedBesideBatch(t *testing.T) {
	train := func(d tensor.Device, launches int) (values []float64) {
		cfg := Defaults()
		cfg.Batch = 128*d.Limits().Units + 33
		f, err := New(d, smooth(16, 8), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Free()
		for range 3 {
			if err := f.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.recorded.Launches(); len(got) != launches {
			t.Errorf("%d launches, want %d: %v", len(got), launches, got)
		}
		for _, p := range f.Model.Params() {
			v, err := p.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v...)
		}
		return values
	}
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, tensor.Options{GPUKernels: true})
			plumbing.AsMatrixUnits(d, false)
			got := train(d, 3)
			t.Setenv(replay.Env, "-beside")
			if !slices.Equal(got, train(d, 4)) {
				t.Error("the weights differ from those of separate launches")
			}
		})
	}
}
