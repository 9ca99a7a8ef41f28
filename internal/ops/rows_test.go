package ops

import (
	"regexp"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// TestNormRun: the rows whose gradients of weights are summed together fill a device, and are whole
// groups of it.
func TestNormRun(t *testing.T) {
	cpu, gpu := kernels.Target{CPU: true, Units: 2}, kernels.Target{Units: 100}
	for _, c := range []struct{ got, want int }{
		{NormRun(8192, 128, cpu), 256}, {NormRun(10, 128, cpu), 32}, {NormRun(3, 100000, cpu), 1}, {NormRun(0, 0, cpu), 256}, {NormRun(1<<20, 4096, gpu), 256},
		{NormRun(1<<24, 64, gpu), 8192}, {NormRun(8192, 128, gpu), 16}, {NormRun(10, 128, gpu), 16}, {NormRun(4096, 4096, gpu), 21},
		{NormRun(4096, 2048, gpu), 6}, {NormRun(1, 1, gpu), 256},
	} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
}

// TestAttentionShapes: there are kernels for as many features as stay in the cache of a CPU, the
// same for the same shape.
func TestAttentionShapes(t *testing.T) {
	cpu := kernels.Target{CPU: true, Units: 2}
	if k := Attention(AttentionShape{64, 128}, 1, kernels.Float32, cpu); k == nil || k != Attention(AttentionShape{64, 128}, 1, kernels.Float32, cpu) {
		t.Error("a shape has no kernels, or two")
	}
	if Attention(AttentionShape{64, 64}, 1, kernels.Float32, cpu) != Attention(AttentionShape{64, 64}, 1<<20, kernels.Float32, cpu) {
		t.Error("a CPU has two kernels for a shape")
	}
	for _, s := range []AttentionShape{{0, 1}, {1, 0}, {129, 1}, {1, 129}} {
		if Attention(s, 1, kernels.Float32, cpu) != nil {
			t.Errorf("there are kernels for %+v", s)
		}
	}
	for _, size := range []int{1, 64, 128} {
		for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
			for _, rows := range []int{1, 1 << 20} {
				if Attention(AttentionShape{size, size}, rows, float, kernels.Target{Units: 100, MaxGroup: 256, LocalMem: 48 << 10}) == nil {
					t.Errorf("there are no kernels for GPUs of %d features of type %v and %d rows", size, float, rows)
				}
			}
		}
	}
	if Attention(AttentionShape{64, 64}, 1, kernels.Float32, kernels.Target{Units: 100, MaxGroup: 256, LocalMem: 1 << 10}) != nil {
		t.Error("there are kernels for a device without local memory")
	}
}

// TestAttentionKeeps: what was measured to be faster by products keeps its softmax, if it is not
// too large.
func TestAttentionKeeps(t *testing.T) {
	cpu, gpu := kernels.Target{CPU: true, Units: 2}, kernels.Target{Units: 132}
	for _, c := range []struct {
		features, values, items, l, s int
		causal                        bool
		limits                        kernels.Target
		want                          bool
	}{
		{64, 64, 32, 1024, 1024, false, gpu, true}, {64, 64, 32, 1024, 1024, true, gpu, false}, {128, 128, 32, 1024, 1024, true, gpu, true},
		{8, 65, 32, 1024, 1024, true, gpu, true}, {32, 32, 32, 1024, 1024, false, gpu, false}, {128, 128, 32, 64, 64, false, gpu, false},
		{128, 128, 65, 1024, 1024, false, gpu, false}, {128, 128, 32, 1024, 1024, false, cpu, false},
	} {
		if got := AttentionKeeps(AttentionShape{c.features, c.values}, c.items, c.l, c.s, c.causal, c.limits); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestAttentionByProducts: on a GPU, few queries of many keys, and the other way round, are
// products; short ones never are.
func TestAttentionByProducts(t *testing.T) {
	cpu, gpu := kernels.Target{CPU: true, Units: 2}, kernels.Target{Units: 132}
	for _, c := range []struct {
		items, l, s int
		limits      kernels.Target
		want        bool
	}{
		{1, 128, 128, cpu, true}, {1, 128, 129, cpu, false}, {1, 1, 1, gpu, false}, {1, 256, 256, gpu, false}, {1, 1, 100000, gpu, true}, {1, 100000, 1, gpu, true},
		{32, 1024, 1024, gpu, false}, {66, 1, 4096, gpu, false}, {65, 4096, 1, gpu, true}, {0, 300, 300, gpu, true},
	} {
		if got := AttentionByProducts(c.items, c.l, c.s, c.limits); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// definition is a line that defines a macro or a function.
var definition = regexp.MustCompile(`^(?:# *define (\w+)|static [^(=]*?(\w+)\()`)

// TestNamesOfRows: no two files of kernels with Rows define one name, since a chain may be built of
// any of them.
func TestNamesOfRows(t *testing.T) {
	for _, l := range []kernels.Target{{CPU: true, Units: 4}, {Units: 4, MaxGroup: 256, LocalMem: 48 << 10}} {
		by := map[string]string{}
		for _, k := range All(kernels.Float32, l) {
			if fused.Of(k).Rows == nil || fused.Of(k).Rows.Text != nil {
				continue
			}
			text, err := k.Program(l)
			if err != nil {
				t.Fatal(err)
			}
			file := ""
			for line := range strings.Lines(text) {
				if name, ok := strings.CutPrefix(line, "#line 1 "); ok {
					file = strings.TrimSpace(name)
				}
				m := definition.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				name := m[1] + m[2]
				if by[name] == "" {
					by[name] = file
				}
				if by[name] != file {
					t.Errorf("CPU %v: %s is defined by %s and by %s", l.CPU, name, by[name], file)
				}
			}
		}
		if len(by) < 30 {
			t.Errorf("CPU %v: %d names: the sources are read wrongly", l.CPU, len(by))
		}
	}
}
