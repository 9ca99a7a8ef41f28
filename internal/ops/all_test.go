package ops

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestAll: the list has what a device runs: each tile of each product, ten of functions, five of
// batches, eleven by each inner product on matrix units and what packs for them, that of small
// matrices, the forms for other elements, and a conversion of each type to each other.
func TestAll(t *testing.T) {
	gpu := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}
	for _, c := range []struct {
		name                  string
		real                  kernels.DType
		l                     kernels.Target
		products, conversions int
	}{
		{"CPU", kernels.Float32, kernels.Target{CPU: true}, 3*len(cpuTiles) + 24, 20},
		{"GPU", kernels.Float32, gpu, 3*len(gpuTiles) + 26 + 3*17 + 20 + 4 + 12, 20},
		{"GPU of float64", kernels.Float64, gpu, 3*len(GemmTiles(kernels.Float64, gpu)) + 26, 22},
	} {
		count := map[string]int{}
		for _, k := range All(c.real, c.l) {
			if k == nil {
				t.Fatalf("%s: there is a kernel that is none", c.name)
			}
			for _, prefix := range []string{"k_gemm_", "k_linear_grad", "k_fill"} {
				if strings.HasPrefix(k.Name, prefix) {
					count[prefix]++
				}
			}
			if strings.Contains(k.Name, "_to_") {
				count["conversions"]++
			}
		}
		for what, want := range map[string]int{"k_gemm_": c.products, "k_linear_grad": 9, "k_fill": 5, "conversions": c.conversions} {
			if count[what] != want {
				t.Errorf("%s: %d of %s, want %d", c.name, count[what], what, want)
			}
		}
	}
	for _, from := range []kernels.DType{kernels.Float32, kernels.Float64, kernels.Int32, kernels.Uint8, kernels.Float16, kernels.BFloat16} {
		if k := Convert(from, from); k != nil {
			t.Errorf("%v is converted to itself by %s", from, k.Name)
		}
	}
	if Convert(kernels.Float64, kernels.Int32) != Convert(kernels.Float32, kernels.Int32) || Convert(kernels.Int32, kernels.Float64) != Convert(kernels.Int32, kernels.Float32) {
		t.Error("float64 has conversions of its own")
	}
}
