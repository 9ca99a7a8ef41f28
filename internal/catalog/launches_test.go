package catalog

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

const launchesFile = "../../testdata/launches.txt"

const launchesHead = `# How many kernels each case of testdata/references launches when it runs eagerly on the Go device
# in float32: forward, and for the gradient of its first result, "-" if it has none. Made by "make generate".
`

// TestLaunches: no case of an operation launches more or fewer kernels than testdata/launches.txt has.
// -update writes the file.
func TestLaunches(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	var s strings.Builder
	s.WriteString(launchesHead)
	for _, f := range families {
		refs := references(t, f)
		for _, o := range f.operations {
			for _, name := range slices.Sorted(maps.Keys(o.cases)) {
				tensor.Scope(d, func() { fmt.Fprintf(&s, "%s.%s\n", o.name, o.launches(t, d, d.DefaultType(), name, refs)) })
			}
		}
	}
	if *update {
		if err := os.WriteFile(launchesFile, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(launchesFile)
	if err != nil {
		t.Fatal(err)
	}
	had := map[string]bool{}
	for line := range strings.Lines(string(want)) {
		had[line] = true
	}
	for line := range strings.Lines(s.String()) {
		if !had[line] {
			t.Errorf("testdata/launches.txt has not: %s", strings.TrimSpace(line))
		}
		delete(had, line)
	}
	for line := range had {
		t.Errorf("testdata/launches.txt has, and nothing launches: %s", strings.TrimSpace(line))
	}
}

// halfOperations read and write floats of 16 bits as they lie.
var halfOperations = []string{"Conv", "ConvTranspose", "MaxPool", "AvgPool", "AdaptiveMaxPool", "AdaptiveAvgPool", "Interpolate",
	"Sum", "SumTo", "Mean", "Max", "Min", "LogSumExp", "Norm", "Dot",
	"CumProd", "LogCumSumExp", "CumMax", "CumMin",
	"Softmax", "LogSoftmax", "Softmin", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm", "BatchNorm", "autograd.CrossEntropy",
	"MatMul", "ScaledDotProductAttention"}

// TestHalfLaunches: in 16 bits, products, attention, operations of rows, scans, convolutions, pools and their
// gradients launch as many kernels as in float32: none converts.
func TestHalfLaunches(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	seen := map[string]bool{}
	for _, f := range families {
		refs := references(t, f)
		for _, o := range f.operations {
			if !slices.Contains(halfOperations, o.name) {
				continue
			}
			seen[o.name] = true
			for _, name := range slices.Sorted(maps.Keys(o.cases)) {
				if o.name == "BatchNorm" && (name == "eval" || name == "running") || o.name == "autograd.CrossEntropy" && (name == "sum" || name == "none") {
					continue // statistics of 16 bits, and the sum of losses of float32, are converted
				}
				if o.name == "ScaledDotProductAttention" && (name == "added" || name == "shared" || name == "special") {
					continue // gradients of masks, and of what the batch shares, are of float32 until they are summed
				}
				if strings.HasPrefix(name, "cubic") || name == "exact" {
					continue // of other operations
				}
				tensor.Scope(d, func() {
					want := o.launches(t, d, tensor.Float32, name, refs)
					for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
						if got := o.launches(t, d, typ, name, refs); got != want {
							t.Errorf("%s.%s launches in %v, as many in float32", o.name, got, typ)
							t.Errorf("%s.%s", o.name, want)
						}
					}
				})
			}
		}
	}
	if len(seen) != len(halfOperations) {
		t.Errorf("of %v there are %v", halfOperations, slices.Sorted(maps.Keys(seen)))
	}
}

// launches returns the name of a case, and its launches in a type.
func (o operation) launches(t *testing.T, d tensor.Device, typ tensor.Type, name string, refs map[string]npz.Array) string {
	var operands, params []*node
	for i := 0; ; i++ {
		key := fmt.Sprint(o.name, ".", name, ".")
		in, ok := refs[fmt.Sprint(key, "in", i)]
		if !ok {
			break
		}
		x := autograd.Const(upload(t, d, typ, &in))
		if _, ok := refs[fmt.Sprint(key, "grad", i)]; ok {
			x = autograd.Param(x.Value(), fmt.Sprint("in", i))
			params = append(params, x)
		}
		operands = append(operands, x)
	}
	if len(operands) == 0 {
		t.Errorf("testdata/references has no case %s.%s: add it to scripts/references, then make generate", o.name, name)
		return o.name + "." + name
	}
	count := func(f func()) int64 {
		before := d.Stats().Launches
		f()
		return d.Stats().Launches - before
	}
	var got []*node
	forward := count(func() { got = o.cases[name](operands) })
	gradient := "-"
	if i := slices.IndexFunc(got, (*node).NeedsGrad); i >= 0 && len(params) > 0 {
		seed := autograd.Const(tensor.FullOf(d, got[i].Value().Type(), 1, got[i].Shape()...))
		gradient = fmt.Sprint(count(func() {
			if _, err := autograd.Grad(got[i], params, autograd.GradOptions{Seed: seed, AllowUnused: true}); err != nil {
				t.Errorf("%s.%s: %v", o.name, name, err)
			}
		}))
	}
	return fmt.Sprintf("%s %d %s", name, forward, gradient)
}
