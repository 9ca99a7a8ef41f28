package refexec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
)

// opaque are the kernels that say nothing of themselves, and why. A new kernel describes itself, or
// gets a line here.
var opaque = map[string]string{
	"k_adamw_sums":                 "what a work-group does is in memory",
	"k_radix_count":                "sorts",
	"k_radix_scan":                 "sorts",
	"k_radix_move":                 "sorts",
	"k_scatter_runs":               "adds what is sorted, and leaves some of it",
	"k_narrow_floats":              "a description knows one type of floats",
	"k_widen_floats":               "a description knows one type of floats",
	"k_float_bits":                 "copies bits, and no operation has those of a float",
	"k_float_from_bits":            "copies bits, and no operation has those of a float",
	"k_double_bits":                "copies bits, and no operation has those of a float",
	"k_double_from_bits":           "copies bits, and no operation has those of a float",
	"k_fma_chains":                 "is there for the time that it takes",
	"k_cosine_similarity_dx_dxwgy": "a formula has more operands than a map",
	"k_layer_norm_lines_dx_dxgy":   "a formula has more operands than a map",
	"k_winograd":                   "no operation that there is transforms tiles",
	"k_winograd_weights":           "no operation that there is transforms tiles",
	"k_winograd_gradient":          "no operation that there is transforms tiles",
	"k_winograd_weights_grad":      "no operation that there is transforms tiles",
	"k_sort_digit":                 "sorts by some bits of keys",
}

// limits are those of a CPU and of a GPU.
var limits = []kernels.Target{{CPU: true, Units: 2, MaxGroup: 256}, {Units: 132, MaxGroup: 1024, LocalMem: 48 << 10}}

// TestDescriptions: what every kernel says of its launches is what its host kernel computes, in all cases,
// of which make test has few in float64. Each parameter is read or written as its mode says.
func TestDescriptions(t *testing.T) {
	for wide, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
		seen := map[any]bool{}
		for _, l := range limits {
			for n, k := range ops.All(float, l) {
				name := k.Name + " " + k.Defines
				why := opaque[k.Name] + opaque[name]
				if k.Name == "k_gemm_pack" || strings.Contains(k.Defines, "-DPACKED") {
					why = "factors lie in tiles of parts, which is no view"
				}
				if strings.HasPrefix(k.File, "conv_matrix") || strings.HasPrefix(k.File, "conv_pack") {
					why = "a convolution of factors that are parts next to each other, which is no view"
				}
				if strings.Contains(k.Text, ", lowbit\n") {
					why = "it converts elements for storage, which are bytes to a description"
				}
				if k.Semantics == nil {
					if why == "" {
						t.Errorf("%s does not describe itself, and is not among the kernels that are opaque", name)
					}
					continue
				}
				if why != "" {
					t.Errorf("%s describes itself, and is among the kernels that are opaque", name)
				}
				var same any = k
				if strings.HasPrefix(k.Name, "k_gemm_") || k.Name == "k_conv_output" || k.Name == "k_conv_weight" {
					same = fmt.Sprint(k.Name, k.File, k.Params) // a tile changes no description
				}
				if of := ops.RowForm(k); of != nil {
					same = of // nor does the length of the rows
				}
				if seen[same] {
					continue
				}
				seen[same] = true
				var all []refexec.Use
				few := testing.Short() || wide > 0 && !devtest.More()
				for i, c := range k.Cases(few) {
					o := kernels.NewOperands(float, uint64(n), uint64(i))
					c.Build(o)
					uses, err := refexec.Check(k, float, l, o.Args)
					if err != nil {
						t.Errorf("%s %s, %v: %v", name, c.Name, float, err)
					}
					all = refexec.Join(all, uses)
				}
				if err := refexec.Modes(k, all); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestOpaque: the list names kernels that there are.
func TestOpaque(t *testing.T) {
	all := append(ops.All(kernels.Float32, limits[0]), ops.All(kernels.Float64, limits[0])...)
	for name := range opaque {
		if !slices.ContainsFunc(all, func(k *kernels.Kernel) bool { return k.Name == name || k.Name+" "+k.Defines == name }) {
			t.Errorf("there is no %s", name)
		}
	}
}
