//go:build opencl && cgo

package tensor_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
)

// floatOnly is the files that no kernel builds in double: those of matrix units, of quantized weights, and those
// whose default tile in double exceeds the local memory of some devices.
var floatOnly = []string{
	"gemm_mma.cl", "gemm_groups.cl", "gemm_bstationary.cl", "gemm_bstationary_groups.cl", "gemm_longk.cl", "gemm_tensor.cl",
	"conv_mma.cl", "conv_matrix.cl", "conv_matrix_weight.cl", "quantized_cpu.cl", "quantized_gpu.cl",
}

// TestEverySourceBuildsAlone: each .cl file that a device may use builds with the defaults of its
// macros, in float and, in make test-more, in double.
func TestEverySourceBuildsAlone(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		infos, err := clrt.List()
		if err != nil {
			t.Fatal(err)
		}
		info, err := clrt.Select(infos, sel)
		if err != nil {
			t.Fatal(err)
		}
		d, err := clrt.Open(info, clrt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		paths, err := filepath.Glob("../kernels/cl/*.cl")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%d files: %v", len(paths), err)
		}
		for _, path := range paths {
			file := filepath.Base(path)
			if strings.HasSuffix(file, "_cpu.cl") && info.Type != clrt.CPU {
				continue // NVIDIA's compiler takes minutes over the register blocks of a CPU
			}
			text, err := (&kernels.Kernel{File: file}).Program(kernels.Target{})
			if err != nil {
				t.Fatal(err)
			}
			for _, options := range []string{"-cl-std=CL1.2", "-cl-std=CL1.2 -DREAL_IS_DOUBLE"} {
				if options != "-cl-std=CL1.2" && !devtest.More() {
					continue
				}
				if options != "-cl-std=CL1.2" && slices.Contains(floatOnly, file) {
					continue
				}
				_, err := d.Kernel(clrt.Source{Name: file, Text: text, Options: options}, "k_is_not_there")
				if errors.Is(err, clrt.BuildProgramFailure) {
					t.Error(err)
				}
			}
		}
	}
}
