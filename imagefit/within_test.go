package imagefit

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestBatchWithinFusedStep: on a GPU, a fused step draws its batch and encodes it, and leaves the
// same bits as launches before it.
func TestBatchWithinFusedStep(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		for encoding, apart := range map[string]int{Frequency: 3, Fourier: 4} {
			t.Run(sel+"/"+encoding, func(t *testing.T) {
				cfg := DefaultsFor(encoding)
				cfg.Batch = 27
				train := func(launches int) []float64 {
					values, _ := trainedBy(t, devtest.Open(t, sel, devtest.GPUKernels()), cfg, launches)
					return values
				}
				got := train(2)
				t.Setenv(replay.Env, "-prologue-fusion")
				if !slices.Equal(got, train(apart)) {
					t.Error("the weights differ from those of launches of their own")
				}
			})
		}
	}
}

// trainedBy returns the weights after three steps, each of which is so many launches, and the bytes
// of what a step makes.
func trainedBy(t *testing.T, d tensor.Device, cfg Config, launches int) (values []float64, bytes int64) {
	t.Helper()
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
	return values, f.recorded.Report().PlannedBytes
}
