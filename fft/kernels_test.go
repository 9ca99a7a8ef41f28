package fft

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels to their host kernels, on OpenCL as for CPUs and as for GPUs.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	check := func(t *testing.T, d tensor.Device) {
		if err := kerneltest.All(d, testing.Short(), Kernels()...); err != nil {
			t.Error(err)
		}
	}
	devtest.Both(t, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
