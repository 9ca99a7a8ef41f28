package hashgrid

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels to their host kernels, for the least, the most and other numbers of
// features: four are what host kernels have vectors for.
func TestKernels(t *testing.T) {
	all := []int{4, 2, 1, 3, MaxFeatures}
	if testing.Short() {
		all = all[:2]
	}
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		for _, features := range all {
			if err := kerneltest.All(d, testing.Short(), Kernels(features)...); err != nil {
				t.Errorf("%d features: %v", features, err)
			}
		}
	})
}

// TestSourceBuildsAlone: the source has a default for FEATURES, with which an edited file can be
// tried in other tools.
func TestSourceBuildsAlone(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, k := range Kernels(2) {
			k := *k
			k.Defines = ""
			if err := kerneltest.All(d, true, &k); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestParamsMatchSource holds the parameters of each kernel against those of its entry point, in
// name, kind and order, and every entry point against Kernels.
func TestParamsMatchSource(t *testing.T) {
	macros := map[kernels.Mode]string{kernels.In: "IN(%)", kernels.Out: "OUT(%)", kernels.InInts: "IN_INTS(%)",
		kernels.InOutInts: "OUT_INTS(%)", kernels.IntParam: "int %", kernels.FloatParam: "REAL %"}
	entries := map[string]bool{}
	for _, k := range Kernels(1) {
		var params []string
		for _, p := range k.Params {
			params = append(params, strings.Replace(macros[p.Mode], "%", p.Name, 1))
		}
		want := "void " + k.Name + "(" + strings.Join(params, ", ") + ") {"
		if fused.Of(k).Epilogue != nil {
			want = strings.TrimSuffix(want, ") {") + " PUT_PARAMS) {"
		}
		for name, text := range map[string]string{k.File: k.Text, k.GPU: k.GPUText} {
			if name == "" {
				continue
			}
			if strings.Count(strings.Join(strings.Fields(text), " "), want) != 1 {
				t.Errorf("%s does not have once\n%s", name, want)
			}
			entries[name+k.Name] = true
		}
	}
	if n := strings.Count(sourceCPU+sourceGPU, "void k_"); n != len(entries) {
		t.Errorf("the sources have %d entry points, Kernels %d", n, len(entries))
	}
}

// opaque are the kernels that say nothing of themselves, and why. A new kernel describes itself, or
// gets a line here.
var opaque = map[string]string{
	"k_hash_encode":  "looks up by a hash, of which there is no primitive",
	"k_hash_draw":    "looks up by a hash, of which there is no primitive",
	"k_hash_grad":    "looks up by a hash, of which there is no primitive",
	"k_hash_scatter": "adds by atomics",
	"k_hash_collect": "reads numbers of two words",
}

// TestOpaque: a kernel describes itself or is in the list, and the list has no other.
func TestOpaque(t *testing.T) {
	listed := 0
	for _, k := range Kernels(2) {
		if (k.Semantics == nil) != (opaque[k.Name] != "") {
			t.Errorf("%s describes itself: %v; the list says: %q", k.Name, k.Semantics != nil, opaque[k.Name])
		}
		if opaque[k.Name] != "" {
			listed++
		}
	}
	if listed != len(opaque) {
		t.Errorf("there are %d of the %d kernels in the list", listed, len(opaque))
	}
}

// TestWithoutLongAtomics: devices without additions of 64 bits make the same sums in two words.
func TestWithoutLongAtomics(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		k := *scatter(3)
		first, rest, _ := strings.Cut(k.Text, "\n")
		k.Text = first + "\n#undef cl_khr_int64_base_atomics\n" + rest
		if err := kerneltest.All(d, testing.Short(), &k); err != nil {
			t.Error(err)
		}
	})
}
