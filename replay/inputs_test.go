package replay_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestInputs: what makes the inputs and the targets of a fused step is computed in it on GPUs, with
// the same bits, or left where it is.
func TestInputs(t *testing.T) {
	devices := devtest.Keep(t)
	type nodes = []*autograd.Node
	const samples, inputs = 29, 12
	c := autograd.Const
	for name, step := range map[string]struct {
		// made returns the inputs, nil for the learner's, and the targets, of older tensors: x, one
		// of a column each, y, rows to be gathered and indices of them.
		made func(x, mean, y, table *autograd.Node, index *tensor.Tensor) nodes
		want string // that is explained
		not  string
	}{
		"normalized": {func(x, mean, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			return nodes{x.Sub(mean).Div(mean.Square().AddScalar(1)), y}
		}, "computed within", "refused in"},
		"scaled": {func(x, _, y, _ *autograd.Node, _ *tensor.Tensor) nodes { return nodes{x.MulScalar(2).AddScalar(1), y} }, "computed within", ""},
		"gathered": {func(_, _, y, table *autograd.Node, index *tensor.Tensor) nodes {
			return nodes{table.GatherRows(index), y}
		}, "computed within", "refused in"},
		"gathered and normalized": {func(_, mean, y, table *autograd.Node, index *tensor.Tensor) nodes {
			return nodes{table.GatherRows(index).Sub(mean), y}
		}, "gather", "refused in"},
		"transposed": {func(x, _, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			return nodes{x.Reshape(inputs, samples).T().Abs(), y}
		}, "computed within", ""},
		"reversed targets": {func(x, _, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			return nodes{x, y.Square().MulScalar(0.5)}
		}, "computed within", ""},
		"both": {func(x, mean, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			return nodes{x.Mul(mean), y.Neg()}
		}, "computed within", "refused in"},
		"both, of layers with tanh": {func(x, mean, y, _ *autograd.Node, _ *tensor.Tensor) nodes { // whose fused step is generated
			return nodes{x.Sub(mean), y.Square()}
		}, "computed within", "refused in"},
		"an output": {func(x, mean, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			x = x.Mul(mean).Retain()
			return nodes{x, y, x}
		}, "refused in", "computed within"},
		"read by others": {func(x, mean, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			x = x.Mul(mean).Retain()
			return nodes{x, y, x.Sum()}
		}, "refused in", "computed within"},
		"of several tensors": {func(x, _, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			return nodes{x.Mul(x.Reshape(inputs, samples).T()), y}
		}, "it reads more than it writes", "computed within"},
		"the last columns first": {func(x, _, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			from := x.Value().Reshape(samples, inputs/3, 3)
			all := tensor.Empty(from.Device(), samples, inputs/3, 3)
			for k := 2; k >= 0; k-- {
				all.Slice(2, k, k+1).SetInPlace(from.Slice(2, k, k+1).MulScalar(float64(k + 2)))
			}
			return nodes{c(all.Reshape(samples, inputs)), y}
		}, "computed within", "refused in"},
		"joined": {func(x, mean, y, _ *autograd.Node, _ *tensor.Tensor) nodes {
			return nodes{autograd.Concat(1, x.Slice(1, 0, 5).Mul(mean.Slice(0, 0, 5)), x.Slice(1, 5, inputs).Exp()), y}
		}, "a part of it", "computed within"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sel := range devtest.Selected() {
				if sel == "cpu" {
					continue
				}
				train := func(opt tensor.Options, o replay.Options) [][]float64 {
					d := devices.Open(sel, devtest.GPUKernels(opt))
					rng := tensor.NewRNG(3)
					cfg := plain(inputs, 16, 3)
					if strings.HasSuffix(name, "tanh") {
						cfg = nn.MLPConfig{Sizes: []int{inputs, 20, 3}, Activations: []nn.Activation{nn.Tanh}}
					}
					l := newLearner(d, samples, cfg, "adamw")
					mean, table := rng.Uniform(d, 0.5, 1, inputs), rng.Uniform(d, -1, 1, 9, inputs)
					index := tensor.ZerosOf(d, tensor.Int32, samples)
					at := make([]int32, samples)
					for i := range at {
						at[i] = int32(i * i % 9)
					}
					tensor.Upload(index, at)
					rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
						made := step.made(c(l.x), c(mean), c(l.y), c(table), index)
						y := l.y
						l.y = made[1].Value()
						defer func() { l.y = y }()
						return l.step(func(l *learner, _ *autograd.Node) *autograd.Node { return l.net.Forward(made[0]) }, squared, func(*learner) (list []*tensor.Tensor) {
							for _, m := range made[2:] {
								list = append(list, m.Retain().Value())
							}
							return list
						})
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
					return l.values(t, rec.Outputs())
				}
				var explained bytes.Buffer
				got, want := train(tensor.Options{Check: true}, replay.Options{Explain: &explained}), train(tensor.Options{}, replay.Options{Without: []string{"prologue-fusion"}})
				lines := ""
				for line := range strings.Lines(explained.String()) {
					if strings.HasPrefix(line, "replay: prologue-fusion") {
						lines += line
					}
				}
				if !strings.Contains(lines, step.want) || step.not != "" && strings.Contains(lines, step.not) {
					t.Errorf("want %q, and not %q:\n%s", step.want, step.not, explained.String())
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("tensor %d is %v, and %v of launches apart", i, got[i], want[i])
					}
				}
			}
		})
	}
}
