package imagefit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestFeaturesLookedUp: a fused step on matrix units looks the features of drawn pixels up, with
// the bits of those that are computed.
func TestFeaturesLookedUp(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, grouped := range []bool{false, true} {
			if sel != "cpu" && !grouped && !devtest.Sweep() {
				continue // TestGPUKernels has that kernel
			}
			t.Run(fmt.Sprint(sel, " ", grouped), func(t *testing.T) {
				d := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Precision: tensor.PrecisionFloat16}))
				tensorapi.Impl.AsMatrixUnits(d, grouped)
				cfg := Defaults()
				cfg.Batch = 64*d.Target().Units + 33
				launches := 3
				if d.Target().CPU && !grouped { // weights are packed by one of their own
					launches++
				}
				got, bytes := trainedBy(t, d, cfg, launches)
				t.Setenv(replay.Env, "-lookup")
				want, before := trainedBy(t, d, cfg, launches)
				if !slices.Equal(got, want) {
					t.Error("the weights differ from those of features that are computed")
				}
				if bytes >= before {
					t.Errorf("%d bytes are planned, and %d with features that are computed", bytes, before)
				}
			})
		}
	}
}
