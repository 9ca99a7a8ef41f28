package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// mapOps are what random steps of maps are made of: maps, views, copies, updates in place, and a
// few others between.
func mapOps() []randomOp {
	var list []randomOp
	for _, op := range randomOps {
		weight := map[string]int{"unary": 4, "binary": 6, "where": 2, "in place": 2, "update": 2, "expand": 2, "slice": 2, "transpose": 2, "reshape": 2,
			"sum": 3, "matmul": 1, "gather": 1, "itself": 1, "step": 1, "select": 1, "copy": 1, "zeros": 2, "number": 1, "constant": 1,
			"changed constant": 1, "set": 1, "set view": 1, "dropout": 1, "to int": 1, "to byte": 1, "to real": 1, "tanh in place": 1}[op.name]
		for range weight {
			list = append(list, op)
		}
	}
	return append(list,
		randomOp{"table", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { // of constants
			n := 1
			if x.Rank() > 0 {
				n = x.Shape()[x.Rank()-1]
			}
			c := devtest.New(w.d, make([]float64, n)).AddScalar(float64(r.IntN(4))).Sin()
			return x.Mul(c).Sub(c)
		}},
		randomOp{"parts", func(w *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { // of one tensor, each added to
			if x.Rank() == 0 || !slices.Equal(x.Shape(), y.Shape()) || x.Type() != tensor.Float32 || y.Type() != w.d.DefaultType() {
				return nil
			}
			z := tensor.Zeros(w.d, append([]int{2}, x.Shape()...)...)
			z.Select(0, r.IntN(2)).MapInPlace(fn.Add, nil, x)
			z.Select(0, 1).MapInPlace(fn.Add, nil, y)
			return z
		}},
		randomOp{"integers", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return x.Clamp(-9, 9).To(tensor.Int32).Mul(x.Clamp(-9, 9).To(tensor.Int32)).AddScalar(3)
		}})
}

// TestRandomMaps: steps of maps have the bits of eager ones, with all rewrites and with each alone;
// and each does something.
func TestRandomMaps(t *testing.T) {
	for _, sel := range devtest.Selected() {
		n, options := 2000, []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			n, options = 50, []tensor.Options{{}, devtest.GPUKernels()}
		}
		if !devtest.Sweep() {
			n = min(n/8, 250)
		}
		for _, opt := range options {
			t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) {
				d := devtest.Open(t, sel, opt)
				var explained bytes.Buffer
				if opt.DefaultType == tensor.Float64 || opt == devtest.GPUKernels(opt) {
					n /= 4
				}
				for seed := range n {
					o := replay.Options{Explain: &explained}
					if only := seed % 4; only > 0 {
						for i, w := range replay.Passes() {
							if i%3 != only-1 {
								o.Without = append(o.Without, w[0])
							}
						}
					}
					randomSteps(t, d, devtest.Seed(seed), map[string]int{}, func(w *world) { w.table, w.most = mapOps(), true }, o)
				}
				for _, w := range replay.Passes() {
					if n >= 50 && !slices.Contains([]string{"copy-elimination", "fused-training-step", "prologue-fusion", "split", "split-k-into-adam", "lookup", "horizontal-fusion"}, w[0]) && (sel == "cpu" || w[0] != "batch-launches") && (!d.Target().CPU || w[0] != "sum-to-elementwise") && !strings.Contains(explained.String(), "replay: "+w[0]+": ") {
						t.Errorf("%s was never done nor refused", w[0])
					}
				}
			})
		}
	}
}

// rewritten records a step, and compares what three replays leave in the outputs and in older
// tensors with what eager steps leave. make returns a step on tensors of its own, the inputs that
// change from run to run, and the older ones that are looked at. It returns the explanation and the
// report.
func rewritten(t *testing.T, d tensor.Device, make func() (step func() []*tensor.Tensor, inputs, older []*tensor.Tensor), opts ...replay.Options) (string, replay.Report) {
	t.Helper()
	var explained bytes.Buffer
	opt := replay.Options{Explain: &explained}
	if len(opts) > 0 {
		opt.Without = opts[0].Without
	}
	eager, in, old := make()
	recorded, rin, rold := make()
	set := func(run int, list []*tensor.Tensor) {
		r := rand.New(rand.NewPCG(uint64(run), 9))
		for _, x := range list {
			data := []float64{}
			for range x.Len() {
				data = append(data, r.NormFloat64())
			}
			tensor.Upload(x, data)
		}
	}
	set(0, in)
	set(0, rin)
	eager()
	want := eager()
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return recorded(), nil }, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	for run := 1; run < 5; run++ {
		if g, w := bits(t, append(slices.Clone(rec.Outputs()), rold...)), bits(t, append(slices.Clone(want), old...)); g != w {
			t.Fatalf("after %d runs:\n%.600s\nwant\n%.600s\n%s", run-1, g, w, explained.String())
		}
		set(run, in)
		set(run, rin)
		want = eager()
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
	}
	return explained.String(), rec.Report()
}

// TestRewrites: what is joined and what is refused, by the number of launches and by what is said
// of it.
func TestRewrites(t *testing.T) {
	devices := devtest.Keep(t)
	type tensors = []*tensor.Tensor
	list := func(t ...*tensor.Tensor) tensors { return t }
	large := 300 * 300
	for name, c := range map[string]struct {
		shapes   [][]int // of the inputs
		older    [][]int // of tensors that the step changes
		step     func(d tensor.Device, in, older tensors) tensors
		launches int
		says     string
	}{
		"a chain": {[][]int{{5, 7}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].MulScalar(2).Square().Neg().AddScalar(1))
		}, 1, "inline: 0 k_mul_scalar"},
		"a value used twice": {[][]int{{40}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			x := in[0].AddScalar(1)
			return list(x.Mul(x), x.Mul(x).Sub(x))
		}, 1, "join"},
		"a value that is returned, too": {[][]int{{40}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			x := in[0].AddScalar(1)
			return list(x, x.Neg())
		}, 1, "join: 0 k_add_scalar and 1 k_neg: one launch"},
		"through a transpose": {[][]int{{5, 7}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].MulScalar(2).T().AddScalar(1))
		}, 1, "inline"},
		"through a reshape of a slice": {[][]int{{4, 6}, {12}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].MulScalar(2).Slice(0, 1, 3).Reshape(12).Add(in[1]))
		}, 1, "inline"},
		"a view of what is not stored": {[][]int{{4, 6}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			x := in[0].MulScalar(2)
			return list(x.Slice(1, 0, 3).Add(x.Slice(1, 3, 6)), x.Step(1, 2).Neg())
		}, 2, "inline"},
		"a cheap row for every line": {[][]int{{300, 300}, {300}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Add(in[1].MulScalar(2)))
		}, 1, "inline"},
		"a costly row for every line": {[][]int{{300, 300}, {300}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Add(in[1].Exp().Sin()))
		}, 2, "more often than computed"},
		"costly, and read by two": {[][]int{{large}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			x := in[0].Sin().Exp()
			return list(x.AddScalar(1), x.MulScalar(3))
		}, 1, "join"},
		"small ones that have nothing in common": {[][]int{{40}, {5, 8}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].AddScalar(1), in[1].MulScalar(3))
		}, 1, "join"},
		"large ones that have nothing in common": {[][]int{{large}, {large}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].AddScalar(1), in[1].MulScalar(3))
		}, 2, ""},
		"large ones that read the same": {[][]int{{large}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].AddScalar(1), in[0].MulScalar(3))
		}, 1, "join"},
		"parts of one tensor": {[][]int{{8, 4}, {8, 4}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			z := tensor.Zeros(d, 8, 2, 4)
			z.Select(1, 0).MapInPlace(fn.Add, nil, in[0])
			z.Select(1, 1).MapInPlace(fn.Add, nil, in[1])
			return list(z.Sum(0))
		}, 2, "dead-store-elimination: 0 k_zero"},
		"a part that is left as it was": {[][]int{{8, 4}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			z := tensor.Zeros(d, 8, 2, 4)
			z.Select(1, 0).MapInPlace(fn.Add, nil, in[0])
			return list(z.Sum(0))
		}, 3, "refused in 2 k_sum_axis"},
		"nobody reads it": {[][]int{{9}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			in[0].Exp().Sum()
			return list(in[0].Neg())
		}, 1, "dead-store-elimination: 1 k_sum"},
		"overwritten before it is read": {[][]int{{9}}, [][]int{{9}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].FillInPlace(3)
			older[0].SetInPlace(in[0])
			return nil
		}, 1, "dead-store-elimination: 0 k_fill"},
		"a part of it is written again": {[][]int{{4}}, [][]int{{9}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].FillInPlace(3)
			older[0].Slice(0, 2, 6).SetInPlace(in[0])
			return nil
		}, 2, ""},
		"a parameter in place": {[][]int{{9}}, [][]int{{9}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].MapInPlace(fn.Sub, nil, in[0].Square().MulScalar(0.1))
			return list(older[0].Neg())
		}, 1, "inline"},
		"read before it is changed": {nil, [][]int{{9}}, func(_ tensor.Device, _, older tensors) tensors {
			x := older[0].MulScalar(2)
			older[0].MapInPlace(fn.Tanh, nil)
			return list(x.AddScalar(1))
		}, 1, "changes what it reads"},
		"at other indices than it is changed": {nil, [][]int{{3, 3}}, func(_ tensor.Device, _, older tensors) tensors {
			x := older[0].T().MulScalar(2)
			older[0].MapInPlace(fn.Add, nil, x)
			return nil
		}, 2, "lies where operand"},
		"changed between": {[][]int{{6}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			x := in[0].MulScalar(2)
			x.Slice(0, 0, 2).MapInPlace(fn.Exp, nil)
			return list(x.AddScalar(1), x.Sum())
		}, 3, "refused"},
		"a condition": {[][]int{{6, 5}, {5}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Where(in[0].Lt(in[1]), in[1]))
		}, 1, "inline: 0 k_lt"},
		"integers": {[][]int{{30}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			i := in[0].To(tensor.Int32)
			return list(i.Mul(i).AddScalar(3))
		}, 2, "inline"},
		"bytes": {[][]int{{30}, {30}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			b := in[0].Square().Clamp(0, 200).To(tensor.Uint8)
			return list(b.To(b.Device().DefaultType()).DivScalar(255).Mul(in[1]))
		}, 3, "inline: 3 k_copy: computed within"},
		"bytes of which a part is read": {[][]int{{5, 6}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			b := in[0].Square().Clamp(0, 200).To(tensor.Uint8)
			return list(b.To(b.Device().DefaultType()).Slice(1, 1, 4).T().Neg())
		}, 3, "inline"},
		"an output that is an input": {[][]int{{6}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0], in[0].MulScalar(2).Neg(), in[0].View())
		}, 1, "inline"},
		"nothing": {[][]int{{0, 4}, {4}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Add(in[1]).MulScalar(2), in[1].MulScalar(2).Neg())
		}, 1, "inline"},
		"one element": {[][]int{{}, {1, 1}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Add(in[1]).MulScalar(2).Exp())
		}, 1, "inline"},
		"a scalar for each element": {[][]int{{}, {33}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[1].Mul(in[0].MulScalar(2)))
		}, 1, "inline"},
		"a sum that is copied": {[][]int{{40, 8}}, [][]int{{8}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].SetInPlace(in[0].Sum(0))
			return nil
		}, 1, "copy-elimination: 0 k_sum_axis: writes where 1 k_copy"},
		"a sum that is copied to where no buffer begins": {[][]int{{40, 8}}, [][]int{{9}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].Slice(0, 1, 9).SetInPlace(in[0].Sum(0))
			return nil
		}, 2, "where no buffer begins"},
		"a sum that is copied to where a buffer begins": {[][]int{{40, 8}}, [][]int{{520}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].Slice(0, 512, 520).SetInPlace(in[0].Sum(0))
			return nil
		}, 1, "copy-elimination"},
		"a sum that is copied and read": {[][]int{{40, 8}}, [][]int{{8}}, func(_ tensor.Device, in, older tensors) tensors {
			s := in[0].Sum(0)
			older[0].SetInPlace(s)
			return list(s.Sum())
		}, 3, ""},
		"a sum that is copied over what is read before": {[][]int{{40, 8}}, [][]int{{8}}, func(_ tensor.Device, in, older tensors) tensors {
			s := in[0].Sum(0)
			y := older[0].Sum()
			older[0].SetInPlace(s)
			return list(y)
		}, 3, "touches the memory"},
		"a sum of what it is copied over": {nil, [][]int{{1, 8}}, func(_ tensor.Device, _, older tensors) tensors {
			older[0].SetInPlace(older[0].Sum(0).Reshape(1, 8))
			return nil
		}, 2, "touches the memory"},
		"a part of a sum that is copied": {[][]int{{40, 8}}, [][]int{{4}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].SetInPlace(in[0].Sum(0).Slice(0, 2, 6))
			return nil
		}, 2, "only a part"},
		"small sums": {[][]int{{40, 8}, {30, 20}, {5, 70}, {50, 1}, {3, 33}}, [][]int{{8}, {20}, {70}, {1}, {33}}, func(_ tensor.Device, in, older tensors) tensors {
			var out tensors
			for i, x := range in {
				older[i].SetInPlace(x.Sum(0))
				out = append(out, x.Max(0).Reshape(-1).Sum(0))
			}
			return out
		}, 10, "batch-launches: 0 k_sum_axis … 17 k_copy"},
		"a sum of a sum": {[][]int{{4, 8, 3}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Sum(2).Sum(0))
		}, 2, "batch-launches: 0 k_sum_axis and 1 k_sum_axis: refused: the latter depends on the former"},
		"a sum of what is changed between": {nil, [][]int{{40, 8}}, func(_ tensor.Device, _, older tensors) tensors {
			s := older[0].Sum(0)
			older[0].ScatterAddRowsInPlace(devtest.New(older[0].Device(), []int32{0}), older[0].Slice(0, 3, 4).Copy())
			return list(s, older[0].Sum(0))
		}, 4, "or what is done between them does and the latter on that"},
		"sums of many work-groups": {[][]int{{3000, 20}, {3000, 20}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Sum(1), in[1].Sum(1))
		}, 2, ""},
		"a sum of few work-groups beside one of many": {[][]int{{20, 7600}, {20, 3}, {20, 4}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Sum(0), in[1].Sum(0), in[2].Sum(0))
		}, 2, "batch-launches: 1 k_sum_axis + 2 k_sum_axis: one launch"},
		"large sums one after the other": {[][]int{{3000, 20}, {3000, 20}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			return list(in[0].Sum(0), in[1].Sum(0))
		}, 1, "batch-launches"},
		"a table of constants": {[][]int{{5, 3}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			return list(in[0].Mul(devtest.New(d, []float64{1, 2, 3}).Sin().Exp()))
		}, 1, "constant-folding: 1 k_exp: reads constants alone"},
		"a sum of constants": {[][]int{{5, 3}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			c := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3).Sum(0)
			return list(in[0].Mul(c), in[0].MatMul(c.Reshape(3, 1)))
		}, 2, "constant-folding: 0 k_sum_axis"},
		"what a fill makes": {[][]int{{5, 3}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			c := tensor.Full(d, 2, 3)
			return list(in[0].Mul(c.Sin()), in[0].Sub(c))
		}, 1, "constant-folding: 1 k_sin"},
		"constants that are changed": {[][]int{{3}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			c := devtest.New(d, []float64{1, 2, 3}).Sin()
			c.MapInPlace(fn.Add, nil, in[0])
			return list(c)
		}, 1, "constant-folding: 0 k_sin: refused"},
		"constants that are returned": {[][]int{{3}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			c := devtest.New(d, []float64{1, 2, 3}).Sin()
			return list(c, in[0].Add(c))
		}, 1, "constant-folding: 0 k_sin: refused"},
		"constants of which a part is made": {[][]int{{4}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			c := tensor.Empty(d, 4)
			c.Step(0, 2).SetInPlace(devtest.New(d, []float64{1, 2}))
			c.Slice(0, 0, 4).Step(0, 3).FillInPlace(3)
			c.Slice(0, 1, 2).FillInPlace(5)
			return list(in[0].Add(c))
		}, 4, "constant-folding: 0 k_copy: refused"},
		"a mask of indices": {[][]int{{4, 4}}, nil, func(d tensor.Device, in, _ tensors) tensors {
			return list(in[0].Where(tensor.ArangeOf(d, tensor.Int32, 0, 4, 1).Reshape(4, 1).Ge(tensor.ArangeOf(d, tensor.Int32, 0, 4, 1)), in[0].Neg()))
		}, 1, "constant-folding: 2 k_ge: reads constants alone"},
		"a sum over what was there": {[][]int{{40, 8}}, [][]int{{8}}, func(_ tensor.Device, in, older tensors) tensors {
			older[0].MapInPlace(fn.Exp, nil)
			older[0].SetInPlace(in[0].Sum(0))
			return nil
		}, 1, "dead-store-elimination: 0 k_exp"},
		"too many operands": {[][]int{{9}, {9}, {9}, {9}, {9}, {9}, {9}, {9}, {9}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			s := in[0]
			for _, x := range in[1:] {
				s = s.Add(x)
			}
			return list(s)
		}, 2, "together they read 9 tensors"},
		"too many steps": {[][]int{{9}}, nil, func(_ tensor.Device, in, _ tensors) tensors {
			s := in[0]
			for range 50 {
				s = s.Square()
			}
			return list(s)
		}, 2, "more than 40 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			devices.Each(t, true, func(t *testing.T, d tensor.Device) {
				said, report := rewritten(t, d, func() (func() tensors, tensors, tensors) {
					var in, older tensors
					for _, s := range c.shapes {
						in = append(in, tensor.Empty(d, s...))
					}
					for i, s := range c.older {
						older = append(older, tensor.NewRNG(uint64(i)).Normal(d, 0, 1, s...))
					}
					return func() tensors { return c.step(d, in, older) }, in, older
				})
				if !d.Target().CPU {
					return // other kernels, and vectors of other widths, are joined elsewhere
				}
				if report.Launches != c.launches || !strings.Contains(said, c.says) {
					t.Errorf("%d launches of %d, want %d; %q is said in\n%s", report.Launches, report.Step, c.launches, c.says, said)
				}
			})
		})
	}
}

// TestWithout: what is switched off is not done, by the option and by the environment; unknown
// names are errors that name what there is.
func TestWithout(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Full(d, 1, 9)
		step := func() ([]*tensor.Tensor, error) {
			x.Exp() // dead
			y := x.AddScalar(1).MulScalar(2)
			return []*tensor.Tensor{y, y.Neg()}, nil
		}
		launches := func(opts ...replay.Options) int {
			t.Helper()
			rec, err := replay.Record(d, step, opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Free()
			if n := rec.Report().Step; n != 4 {
				t.Errorf("the step has %d launches", n)
			}
			return rec.Report().Launches
		}
		for _, c := range []struct {
			words string
			want  int
		}{{"", 1}, {"none", 4}, {"-dead-store-elimination", 1}, {"-inline", 1}, {"-join", 2}, {"-join,-inline", 3}, {"-join,-inline,-dead-store-elimination", 4}} {
			var names []string
			for _, w := range strings.Split(c.words, ",") {
				if w != "" {
					names = append(names, strings.TrimPrefix(w, "-"))
				}
			}
			if got := launches(replay.Options{Without: names}); got != c.want {
				t.Errorf("without %v: %d launches, want %d", names, got, c.want)
			}
			t.Setenv(replay.Env, c.words)
			if got := launches(); got != c.want {
				t.Errorf("%s=%s: %d launches, want %d", replay.Env, c.words, got, c.want)
			}
			t.Setenv(replay.Env, "")
		}
		for _, words := range []string{"inline", "-inlined", "-", "-none", "explain,all"} {
			t.Setenv(replay.Env, words)
			if _, err := replay.Record(d, step); err == nil || !strings.Contains(err.Error(), "inline, join") {
				t.Errorf("%s=%s: %v", replay.Env, words, err)
			}
		}
		t.Setenv(replay.Env, "")
		if _, err := replay.Record(d, step, replay.Options{Without: []string{"maps"}}); err == nil || !strings.Contains(err.Error(), `"maps"`) {
			t.Errorf("an unknown name: %v", err)
		}
		if err := tensor.Try(func() { _, _ = replay.Record(d, step, replay.Options{}, replay.Options{}) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("two Options: %v", err)
		}
	})
}
