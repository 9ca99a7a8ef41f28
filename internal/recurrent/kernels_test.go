package recurrent_test

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/recurrent"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels to their host kernels.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		if err := kerneltest.All(d, testing.Short(), recurrent.Kernels()...); err != nil {
			t.Error(err)
		}
	})
}
