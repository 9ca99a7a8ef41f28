package augment

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the maps to their host kernels, and to what they say of themselves, of floats and bytes,
// in the forms for CPUs and for GPUs.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	var list []*kernels.Kernel
	for _, j := range []*kernels.FusedElementwise{cropMap, flipAcross, flipDown} {
		layout := fused.AccessPattern{Rank: 4, Steps: [fused.MapTensors]fused.Access{fused.Indexed, fused.Contiguous}}
		list = append(list, fused.Map(j, kernels.Float32, layout), fused.Map(j, kernels.Uint8, layout))
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
