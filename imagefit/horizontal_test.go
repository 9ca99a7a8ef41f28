package imagefit

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
)

// TestPackedWithBatch: on a GPU's matrix units, the launch that draws a batch packs the weights,
// too, and leaves the same bits as two.
func TestPackedWithBatch(t *testing.T) {
	if !devtest.More() {
		t.Skip("make test-more runs it: a CPU is slow in the kernels for GPUs")
	}
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, devtest.GPUKernels())
			tensorapi.Impl.AsMatrixUnits(d, false)
			cfg := Defaults()
			cfg.Batch = 128*d.Target().Units + 33
			got, _ := trainedBy(t, d, cfg, 3)
			t.Setenv(replay.Env, "-horizontal-fusion")
			if want, _ := trainedBy(t, d, cfg, 4); !slices.Equal(got, want) {
				t.Error("the weights differ from those of separate launches")
			}
		})
	}
}
