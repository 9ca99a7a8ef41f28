package nn

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the maps of layers to their host kernels, and to what they say of themselves, in the
// forms for CPUs and for GPUs and in the layouts in which layers launch them.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	const unit, indexed = fused.Contiguous, fused.Indexed
	of := func(j *kernels.FusedElementwise, rank int, gaps bool, steps ...fused.Access) *kernels.Kernel {
		layout := fused.AccessPattern{Rank: rank, Gaps: gaps}
		copy(layout.Steps[:], steps)
		for i := len(steps); i < len(layout.Steps); i++ {
			layout.Steps[i] = unit
		}
		return fused.Map(j, kernels.Float32, layout)
	}
	list := []*kernels.Kernel{
		of(gruStep, 2, false), of(gruGateGrads, 2, false), of(gruBack, 2, true),
		of(lstmStep, 2, false, unit, unit, unit, unit, indexed), of(lstmGateGrads, 2, false), of(lstmBack, 2, true, indexed, unit, unit, unit, unit, unit, unit, indexed),
		of(maskMap{rank: 4, causal: true, bits: true}.joined(), 4, false), of(maskMap{rank: 3, causal: true, floats: true, add: true}.joined(), 3, false),
		of(maskMap{rank: 5, causal: true, later: true}.joined(), 5, false), of(rotaryAngles, 3, false),
		of(truncated.Alone(), 1, false),
	}
	check := func(t *testing.T, d tensor.Device) {
		if err := kerneltest.All(d, true, list...); err != nil {
			t.Error(err)
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
