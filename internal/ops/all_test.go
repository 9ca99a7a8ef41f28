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
		float                 kernels.DType
		l                     kernels.Target
		products, conversions int
	}{
		{"CPU", kernels.Float32, kernels.Target{CPU: true}, 3*len(cpuTiles) + 24 + 28, 20},
		{"GPU", kernels.Float32, gpu, 3*len(gpuTiles) + 26 + 3*17 + 20 + 4 + 12 + 2*9, 20},
		{"GPU of float64", kernels.Float64, gpu, 3*len(GemmTiles(kernels.Float64, gpu)) + 26, 22},
	} {
		count := map[string]int{}
		for _, k := range All(c.float, c.l) {
			if k == nil {
				t.Fatalf("%s: there is a kernel that is none", c.name)
			}
			for _, prefix := range []string{"k_gemm_", "k_linear_grad", "k_fill"} {
				if strings.HasPrefix(k.Name, prefix) {
					count[prefix]++
				}
			}
		}
		for what, want := range map[string]int{"k_gemm_": c.products, "k_linear_grad": 9, "k_fill": 5} {
			if count[what] != want {
				t.Errorf("%s: %d of %s, want %d", c.name, count[what], what, want)
			}
		}
	}
}
