package replay_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// cycles is a kernel that writes rows of so many parts, of which period ones differ. Its form
// writes where they lie in a table. It reads nothing of X.
func cycles(parts, width int) *kernels.Kernel {
	value := func(entry, k int) float32 { return float32(entry*width+k) / 1000 }
	part := func(i, period int) int { return i * i % period }
	params := []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "rows", Mode: kernels.IntParam}, {Name: "period", Mode: kernels.IntParam}}
	k := &kernels.Kernel{Name: "k_cycles", Params: params, Text: "kernel void k_cycles() {}", Grid: kernels.GridFromArg(2),
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			for e := range c.Reals(1) {
				c.Reals(1)[e] = value(part(e/width, c.Int(3)), e%width)
			}
		}}}
	form := *k
	form.Name, form.Params = "k_cycles_lookup", slices.Clone(params)
	form.Params[1].Mode = kernels.OutInts
	form.Host = kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
		for i := range c.Ints(1) {
			c.Ints(1)[i] = int32(part(i, c.Int(3)) * width)
		}
	}}
	table := &kernels.Kernel{Name: "k_cycle", Params: []kernels.Param{{Name: "TABLE", Mode: kernels.Out}, {Name: "period", Mode: kernels.IntParam}},
		Text: "kernel void k_cycle() {}", Grid: kernels.GridFromArg(1), Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			for e := range c.Reals(0) {
				c.Reals(0)[e] = value(e/width, e%width)
			}
		}}}
	k.Fusions = fused.Fusions{Lookup: &fused.Lookup{Param: 1, Parts: parts, Kernel: &form,
		Rows: func(a []kernels.Arg) int { return int(a[2].Int) },
		Table: func(a []kernels.Arg) (*kernels.Kernel, []kernels.Arg, int) {
			return table, a[3:4], int(a[3].Int) * width
		}}}
	return k
}

// TestLookup: what a fused step reads and consists of parts of which few differ is looked up, with
// the same bits, or left as it is.
func TestLookup(t *testing.T) {
	type tensors = []*tensor.Tensor
	const inputs, period = 32, 10
	halves, quarters := cycles(2, inputs/2), cycles(4, inputs/4)
	none := *halves
	none.Fusions = nil
	of := func(k *kernels.Kernel, x *tensor.Tensor, rows int, period kernels.Arg) *tensor.Tensor {
		y := tensor.Empty(x.Device(), rows, inputs)
		tensor.Launch(x.Device(), k, x.Arg(), y.Arg(), kernels.IntArg(rows), period)
		return y
	}
	scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.IntArg(period); return nil })
	for name, c := range map[string]struct {
		// made returns the inputs of as many samples as x has, and outputs.
		made func(x *tensor.Tensor) tensors
		want string // that is explained
	}{
		"a batch": {func(x *tensor.Tensor) tensors { return tensors{of(halves, x, x.Shape()[0], kernels.IntArg(period))} }, "looks up what 0 k_cycles makes in a table of 160"},
		"an output": {func(x *tensor.Tensor) tensors {
			y := of(halves, x, x.Shape()[0], kernels.IntArg(period))
			return tensors{y, y}
		}, "is there before or after the run"},
		"read by others": {func(x *tensor.Tensor) tensors {
			y := of(halves, x, x.Shape()[0], kernels.IntArg(period))
			return tensors{y, y.Sum()}
		}, "reads or writes what it reads, too"},
		"no form":  {func(x *tensor.Tensor) tensors { return tensors{of(&none, x, x.Shape()[0], kernels.IntArg(period))} }, "k_cycles does not write it in parts"},
		"quarters": {func(x *tensor.Tensor) tensors { return tensors{of(quarters, x, x.Shape()[0], kernels.IntArg(period))} }, "k_cycles writes it in other parts"},
		"older":    {func(x *tensor.Tensor) tensors { return tensors{x} }, "is there before or after the run"},
		"a large table": {func(x *tensor.Tensor) tensors {
			return tensors{of(halves, x, x.Shape()[0], kernels.IntArg(x.Shape()[0]+1))}
		}, "the table is too large"},
		"another period": {func(x *tensor.Tensor) tensors { return tensors{of(halves, x, x.Shape()[0], scalars.Arg(0))} }, "the table is not the same in all runs"},
		"a part": {func(x *tensor.Tensor) tensors {
			n := x.Shape()[0]
			return tensors{of(halves, x, 2*n, kernels.IntArg(period)).Slice(0, n, 2*n)}
		}, "k_cycles writes it in other parts"},
	} {
		t.Run(name, func(t *testing.T) {
			grouped := name != "a batch" // no launch packs weights
			train := func(o replay.Options) ([][]float64, int64) {
				d := devtest.Open(t, "cpu", tensor.Options{Precision: tensor.PrecisionTF32})
				tensorapi.Impl.AsMatrixUnits(d, grouped)
				l := newLearner(d, 64*d.Target().Units+33, plain(inputs, 32, 3), "adamw")
				rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
					if err := scalars.Next(); err != nil {
						return nil, err
					}
					made := c.made(l.x)
					return l.step(func(l *learner, _ *autograd.Node) *autograd.Node { return l.net.Forward(autograd.Const(made[0])) }, squared,
						func(*learner) []*tensor.Tensor { return made[1:] })
				}, o)
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Free()
				for range 3 {
					if err := rec.Run(); err != nil {
						t.Fatal(err)
					}
				}
				return l.values(t, rec.Outputs()), rec.Report().PlannedBytes
			}
			var explained bytes.Buffer
			got, bytes := train(replay.Options{Explain: &explained})
			want, before := train(replay.Options{Without: []string{"lookup"}})
			said := ""
			for line := range strings.Lines(explained.String()) {
				if strings.HasPrefix(line, "replay: lookup") {
					said += line
				}
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("want %q:\n%s", c.want, explained.String())
			}
			if done := strings.HasPrefix(c.want, "looks up"); done != (bytes < before) {
				t.Errorf("%d bytes are planned, and %d without", bytes, before)
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("tensor %d differs from that of launches without", i)
				}
			}
		})
	}
}
