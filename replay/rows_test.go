package replay_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/selftest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// ownSoftmax is a softmax as a user writes it.
func ownSoftmax(x *tensor.Tensor) *tensor.Tensor {
	e := x.Sub(x.Max(-1, tensor.Keepdims)).Exp()
	return e.Div(e.Sum(-1, tensor.Keepdims))
}

// ownNorm is a layer norm of the user's.
func ownNorm(x *tensor.Tensor) *tensor.Tensor {
	d := x.Sub(x.Mean(-1, tensor.Keepdims))
	return d.Div(d.Square().Mean(-1, tensor.Keepdims).AddScalar(1e-5).Sqrt())
}

// rowOps are what random steps of rows are made of.
func rowOps() []randomOp {
	list := []randomOp{
		{"softmax", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Softmax(-1) }},
		{"log softmax", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.LogSoftmax(-1) }},
		{"layer norm", func(_ *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			if r.IntN(2) == 0 {
				return x.Add(y).LayerNorm(-1, nil, nil, 1e-5)
			}
			return x.LayerNorm(-1, y, nil, 1e-5)
		}},
		{"root norm", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { return x.RMSNorm(-1, y, 1e-5).Mul(x) }},
		{"own softmax", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return ownSoftmax(x) }},
		{"own norm", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return ownNorm(x) }},
		{"log sum", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return x.MulScalar(0.5).LogSumExp(-1, tensor.Keepdims)
		}},
		{"length", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return x.Div(x.Norm(2, -1, tensor.Keepdims).AddScalar(1))
		}},
		{"row sum", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Sum(-1, tensor.Keepdims) }},
		{"row least", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Min(-1, tensor.Keepdims) }},
		{"into a part", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { // what others see
			y := tensor.Zeros(w.d, append([]int{2}, x.Shape()...)...)
			y.Select(0, 1).SetInPlace(x)
			return y.Select(0, 1).Softmax(-1)
		}},
		{"own rows in place", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			p := w.older[r.IntN(len(w.older))]
			p.SetInPlace(p.Softmax(-1).Add(x))
			return p.View()
		}},
	}
	list = append(list, list...)
	for _, op := range randomOps {
		switch op.name {
		case "unary", "binary", "in place", "update", "set", "set view", "slice", "transpose", "expand", "itself", "sum", "copy", "zeros", "number", "step":
			list = append(list, op)
		}
	}
	return list
}

// TestRandomRows: steps of reductions of rows and of maps have the bits of eager ones, with all
// rewrites and with this one alone.
func TestRandomRows(t *testing.T) {
	for _, sel := range devtest.Selected() {
		n, options := 1500, []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			n, options = 60, []tensor.Options{{}, devtest.GPUKernels()}
		}
		if !devtest.Sweep() {
			n = min(n/6, 200)
		}
		for _, opt := range options {
			t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) {
				d := devtest.Open(t, sel, opt)
				var explained bytes.Buffer
				switch {
				case opt == devtest.GPUKernels(opt) && !devtest.Sweep():
					n = 3 // PoCL takes seconds for each kernel of many rows with barriers between them; TestRows has one for each case
				case opt != (tensor.Options{}):
					n /= 2
				}
				ops := map[string]int{}
				for seed := range n {
					o := replay.Options{Explain: &explained}
					if seed%3 == 0 {
						for _, w := range replay.Passes() {
							if w[0] != "rows" {
								o.Without = append(o.Without, w[0])
							}
						}
					}
					randomSteps(t, d, devtest.Seed(seed), ops, func(w *world) {
						w.table, w.most = rowOps(), seed%2 == 0
						w.shapes = append(w.shapes, []int{6, 300}, []int{300})
						w.older = append(w.older, tensor.NewRNG(devtest.Seed(seed)).Normal(w.d, 0, 1, 6, 300))
					}, o)
				}
				done := strings.Count(explained.String(), ": one launch")
				t.Logf("%d launches became one with others", done)
				if n > 20 && (done < n/10 || !strings.Contains(explained.String(), "replay: rows: ")) {
					t.Errorf("%d launches of %d steps became one with others", done, n)
				}
				for _, op := range rowOps() {
					if ops[op.name] == 0 && n >= 100 {
						t.Errorf("no step did %q", op.name)
					}
				}
			})
		}
	}
}

// TestRows: which reductions of rows become one launch with what is beside them, and which do not.
func TestRows(t *testing.T) {
	devices := devtest.Keep(t)
	type tensors = []*tensor.Tensor
	list := func(t ...*tensor.Tensor) tensors { return t }
	for name, c := range map[string]struct {
		shapes, older [][]int
		step          func(in, older tensors) tensors
		launches      int // −1: any
		says          string
		checked       bool // in check mode, too
	}{
		"own softmax": {[][]int{{300, 48}}, nil, func(in, _ tensors) tensors { return list(ownSoftmax(in[0])) }, 1, "rows: 0 k_maxima", false},
		"own norm":    {[][]int{{300, 64}}, nil, func(in, _ tensors) tensors { return list(ownNorm(in[0])) }, 1, "one launch", true},
		"a residual before a norm": {[][]int{{300, 64}, {300, 64}, {64}, {64}}, nil, func(in, _ tensors) tensors {
			x := in[0].Add(in[1])
			return list(x, x.LayerNorm(-1, in[2], in[3], 1e-5))
		}, 1, "rows: 0 k_add and 1 k_layer_norm_w_b: one launch", false},
		"a mask before a softmax, dropout behind it": {[][]int{{7, 5, 40, 40}, {40, 40}, {7, 5, 40, 40}}, nil, func(in, _ tensors) tensors {
			return list(in[0].MulScalar(0.1).Add(in[1]).Softmax(-1).Mul(in[2]))
		}, 1, "one launch", false},
		"a norm, its sum and its largest": {[][]int{{300, 64}}, nil, func(in, _ tensors) tensors {
			y := in[0].Square().LayerNorm(-1, nil, nil, 1e-5)
			return list(y.Sum(-1), y.Max(-1))
		}, 1, "one launch", false},
		"a value that is used twice": {[][]int{{300, 64}}, nil, func(in, _ tensors) tensors {
			y := in[0].Softmax(-1)
			return list(y.Square().Sum(-1), y.Mul(in[0]).Max(-1))
		}, 1, "one launch", false},
		"in place": {nil, [][]int{{300, 64}}, func(_, older tensors) tensors {
			p := older[0]
			p.SetInPlace(p.Softmax(-1).Add(p))
			return nil
		}, 1, "one launch", true},
		"weights that two norms read": {[][]int{{300, 64}, {64}}, nil, func(in, _ tensors) tensors {
			return list(in[0].LayerNorm(-1, in[1], nil, 1e-5).LayerNorm(-1, in[1], nil, 1e-5))
		}, 1, "one launch", false},
		"another part of what is read": {[][]int{{300, 64}}, [][]int{{2, 300, 64}}, func(in, older tensors) tensors {
			p := older[0]
			p.Select(0, 1).SetInPlace(p.Select(0, 0).Softmax(-1).Add(in[0]))
			return nil
		}, 1, "one launch", false},
		"written over in place": {[][]int{{15, 64}, {30, 64}}, [][]int{{30, 64}}, func(in, older tensors) tensors {
			p := older[0]
			p.Slice(0, 0, 15).SetInPlace(in[0].Softmax(-1))
			p.MapInPlace(fn.Mul, nil, in[1].Max(-1, tensor.Keepdims))
			return list(p.MulScalar(2).Softmax(-1))
		}, 1, "one launch", true},
		"far apart": {[][]int{{300, 64}, {64, 64}}, nil, func(in, _ tensors) tensors {
			s, z := in[0].Max(-1, tensor.Keepdims), in[0]
			for range 9 {
				z = z.MatMul(in[1])
			}
			return list(in[0].Sub(s), z)
		}, 10, "rows: 0 k_maxima and 10 k_sub: one launch", false},
		"what would be kept": {[][]int{{300, 64}, {64, 64}}, nil, func(in, _ tensors) tensors {
			y, z := in[0].MatMul(in[1].Transpose()), in[0] // no product like the others, with which it would be one launch
			s := y.Sum(-1)
			for range 9 {
				z = z.MatMul(in[1])
			}
			return list(s.Sum(), z)
		}, 12, "which is more than its result", false},
		"rows of one element": {[][]int{{3000, 1}}, nil, func(in, _ tensors) tensors { return list(ownSoftmax(in[0].Neg())) }, 1, "one launch", false},
		"one row":             {[][]int{{304}}, nil, func(in, _ tensors) tensors { return list(ownSoftmax(in[0].Neg())) }, 1, "one launch", false},
		"long rows":           {[][]int{{3, 20001}}, nil, func(in, _ tensors) tensors { return list(in[0].Neg().Softmax(-1).Square()) }, -1, "rows:", false},
		"no rows":             {[][]int{{0, 5}}, nil, func(in, _ tensors) tensors { return list(in[0].Neg().Softmax(-1).Square()) }, 0, "", false},
		"empty rows": {[][]int{{5, 0}}, nil, func(in, _ tensors) tensors {
			return list(in[0].Neg().Softmax(-1), in[0].Sum(-1).AddScalar(1))
		}, -1, "", false},
		"a mean of few": {[][]int{{40, 10}}, nil, func(in, _ tensors) tensors {
			return list(in[0].LogSoftmax(-1).Select(1, 3).Neg().Sum().MulScalar(0.1).AddScalar(1))
		}, 1, "one launch", false},
		"neighbours of a row": {[][]int{{3000, 8}}, nil, func(in, _ tensors) tensors {
			y := in[0].Softmax(-1)
			return list(y.Slice(0, 1, 3000).Sub(y.Slice(0, 0, 2999)))
		}, 2, "has not 3000 rows", false},
		"another row": {[][]int{{3000, 8}}, nil, func(in, _ tensors) tensors {
			y := tensor.Zeros(in[0].Device(), 3001, 8)
			y.Slice(0, 0, 3000).SetInPlace(in[0])
			return list(y.Slice(0, 1, 3001).Copy().Softmax(-1))
		}, -1, "", false},
		"columns": {[][]int{{300, 64}}, nil, func(in, _ tensors) tensors { return list(in[0].Softmax(0).Square()) }, 2, "does not work on rows", false},
		"a transpose": {[][]int{{300, 64}}, nil, func(in, _ tensors) tensors {
			return list(in[0].Transpose().Neg().Softmax(-1))
		}, 2, "strided along its rows", false},
		"written between": {[][]int{{300, 64}}, [][]int{{300, 64}}, func(in, older tensors) tensors {
			y := older[0].Softmax(-1)
			older[0].SetInPlace(in[0].MatMul(in[0].Slice(0, 0, 64)))
			return list(y.Add(older[0]))
		}, -1, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(t *testing.T, d tensor.Device, o ...replay.Options) {
				said, report := rewritten(t, d, func() (func() tensors, tensors, tensors) {
					var in, older tensors
					for _, s := range c.shapes {
						in = append(in, tensor.Zeros(d, s...))
					}
					for i, s := range c.older {
						older = append(older, tensor.NewRNG(uint64(i)).Normal(d, 0, 1, s...))
					}
					return func() tensors { return c.step(in, older) }, in, older
				}, o...)
				switch joined := strings.Contains(said, "replay: rows: "); {
				case len(o) > 0 && joined:
					t.Errorf("it is switched off, and says:\n%s", said)
				case len(o) == 0 && (c.launches >= 0 && report.Launches != c.launches || !strings.Contains(said, c.says)):
					t.Errorf("%d launches, want %d and %q:\n%s", report.Launches, c.launches, c.says, said)
				}
			}
			for _, sel := range devtest.Selected() {
				t.Run(sel, func(t *testing.T) { check(t, devices.Open(sel, tensor.Options{})) })
				if sel == "cpu" {
					d := devices.Open(sel, tensor.Options{DefaultType: tensor.Float64})
					check(t, d)
					check(t, d, replay.Options{Without: []string{"rows"}})
					continue
				}
				t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devices.Open(sel, devtest.GPUKernels())) })
				if c.checked {
					t.Run(sel+"/checked", func(t *testing.T) { check(t, devices.Open(sel, tensor.Options{Check: true})) })
				}
			}
		})
	}
}

// TestRowsKinds: a recording makes 48 kernels at most, for rows, too.
func TestRowsKinds(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x := tensor.NewRNG(1).Uniform(d, 0.1, 0.9, 64, 40)
	const most = 48
	n := 0
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		n = 0
		var out []*tensor.Tensor
		for _, f := range fn.Functions {
			for _, g := range []*kernels.Function{fn.Neg, fn.Square} {
				if f.Operands() == 1 && !f.Condition() && n < most+9 {
					out = append(out, tensor.Map(g, g.Scalars, tensor.Map(f, f.Scalars, x)).Softmax(-1))
					n++
				}
			}
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	own := map[string]bool{}
	for _, l := range rec.Launches() {
		if len(l.Step) > 1 {
			own[l.Kernel] = true
		}
	}
	if len(own) != most || n != most+9 {
		t.Errorf("%d kernels were made for %d functions, want %d", len(own), n, most)
	}
}

// rowsOfUser is a kernel of a user's own, Y = 2·X, by rows of four; in a chain it computes times
// that.
func rowsOfUser(times string) *kernels.Kernel {
	text := `// @depends: common
kernel void doubled_rows(IN(X), OUT(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = 2 * X[X_off + i];
}`
	rows := func(prefix string, _ bool) string {
		return `// @depends: common
static void ` + prefix + `rows(IN(X), OUT(Y), int n, int from, int to) {
    for (int i = 4 * from + (int)get_local_id(0); i < 4 * to; i += get_local_size(0)) Y[Y_off + i] = ` + times + ` * X[X_off + i];
}
`
	}
	host := func(n int, x func(i int) float64, y func(i int, v float64)) {
		for i := range n {
			y(i, 2*x(i))
		}
	}
	return &kernels.Kernel{Name: "doubled_rows", Text: text, Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid: kernels.GridFromArg(2),
		Host: kernels.HostKernel{
			F32: func(c kernels.HostArgs[float32]) {
				host(c.Int(2), func(i int) float64 { return float64(c.Floats(0)[i]) },
					func(i int, v float64) { c.Floats(1)[i] = float32(v) })
			},
			F64: func(c kernels.HostArgs[float64]) {
				host(c.Int(2), func(i int) float64 { return c.Floats(0)[i] }, func(i int, v float64) { c.Floats(1)[i] = v })
			}},
		SelfTest: func(like []kernels.Arg) []kernels.Operand {
			n := 8
			if like != nil {
				n = int(like[2].Int)
			}
			return []kernels.Operand{selftest.Uniform(n, -1, 1), selftest.Output(n), selftest.Number(float64(n))}
		},
		Fusions: fused.Fusions{Rows: &fused.RowSpec{Function: "rows", Free: true, Text: rows,
			Of: func(a []kernels.Arg, _ kernels.Target) *fused.RowTiling {
				return &fused.RowTiling{Rows: int(a[2].Int) / 4,
					Slices: []fused.RowSlice{fused.ConsecutiveRows(4), fused.ConsecutiveRows(4), {}}}
			}}}}
}

// TestRowsOfOthers: a kernel from outside this module is joined by rows, too; where a device
// computes the launch wrongly, there are several.
func TestRowsOfOthers(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{})
		for times, launches := range map[string]int{"2": 1, "3": 3} {
			if times == "3" && sel == "cpu" {
				launches = 1 // it computes the host kernels
			}
			k := rowsOfUser(times)
			explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
				x := tensor.Empty(d, 3000, 4)
				return func() []*tensor.Tensor {
					y := tensor.Empty(d, 3000, 4)
					tensor.Launch(d, k, x.Arg(), y.Arg(), kernels.IntArg(x.Len()))
					return []*tensor.Tensor{y.Softmax(-1).Add(y)}
				}, []*tensor.Tensor{x}, nil
			})
			if report.Launches != launches || launches == 3 && !strings.Contains(explained, "computes it wrongly") {
				t.Errorf("%s, times %s: %d launches, want %d:\n%s", sel, times, report.Launches, launches, explained)
			}
		}
	}
}

// TestRowsOfSizes: where a device computes a chain wrongly, but not in launches as small as those
// that it was made for, a later recording whose launch is large does without.
func TestRowsOfSizes(t *testing.T) {
	k := rowsOfUser("(n > 9000 ? 3 : 2)")
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue // it computes the host kernels
		}
		d := devtest.Open(t, sel, tensor.Options{})
		for _, c := range []struct{ rows, launches int }{{64, 1}, {9000, 3}} {
			x := tensor.NewRNG(1).Uniform(d, 0, 1, c.rows, 4)
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
				y := tensor.Empty(d, c.rows, 4)
				tensor.Launch(d, k, x.Arg(), y.Arg(), kernels.IntArg(x.Len()))
				return []*tensor.Tensor{y.Softmax(-1).Add(y)}, nil
			})
			if err != nil {
				t.Fatalf("%s, %d rows: %v", sel, c.rows, err)
			}
			defer rec.Free() // the chain is there as long
			if got := rec.Report().Launches; got != c.launches {
				t.Errorf("%s, %d rows: %d launches, want %d", sel, c.rows, got, c.launches)
			}
		}
	}
}

// TestRowsOfConstants: what is done once, when a step is recorded, is not done in each run for what
// reads it by rows.
func TestRowsOfConstants(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x := tensor.NewRNG(1).Uniform(d, 0, 1, 300, 64)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		c := devtest.New(d, make([]float64, x.Len()), x.Shape()...).AddScalar(1).Softmax(-1)
		return []*tensor.Tensor{c.Sub(x), c.Mul(x).Sum(-1)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	if r := rec.Report(); r.Hoisted != 2 || r.Launches != 1 {
		t.Errorf("%d launches once, %d in each run, want 2 and 1", r.Hoisted, r.Launches)
	}
}

// TestRowsOfStepScalars: a launch whose size is a step scalar is one of its own.
func TestRowsOfStepScalars(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, k := tensor.NewRNG(1).Uniform(d, 0, 1, 3000, 4), rowsOfUser("2")
	scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error {
		numbers[0] = kernels.IntArg(x.Len())
		return nil
	})
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		if err := scalars.Next(); err != nil {
			return nil, err
		}
		y := tensor.Zeros(d, 3000, 4)
		tensor.Launch(d, k, x.Softmax(-1).Arg(), y.Arg(), scalars.Arg(0))
		return []*tensor.Tensor{y.Softmax(-1)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	for _, l := range rec.Launches() {
		if slices.Contains(l.Step, 2) && len(l.Step) > 1 {
			t.Errorf("%s does %v", l.Kernel, l.Step)
		}
	}
}

// TestRowsUnsaid: a kernel that does not say what its rows have, or says that there are none, is a
// launch of its own.
func TestRowsUnsaid(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for name, of := range map[string]func([]kernels.Arg, kernels.Target) *fused.RowTiling{
		"no cuts":      func([]kernels.Arg, kernels.Target) *fused.RowTiling { return &fused.RowTiling{Rows: 3000} },
		"no rows":      func([]kernels.Arg, kernels.Target) *fused.RowTiling { return &fused.RowTiling{} },
		"negative":     func([]kernels.Arg, kernels.Target) *fused.RowTiling { return &fused.RowTiling{Rows: 3000, Run: -1} },
		"no rows, nil": func([]kernels.Arg, kernels.Target) *fused.RowTiling { return nil },
		"nothing":      nil,
	} {
		k := rowsOfUser("2")
		fused.Of(k).Rows.Of = of
		explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
			x := tensor.Empty(d, 3000, 4)
			return func() []*tensor.Tensor {
				y := tensor.Empty(d, 3000, 4)
				tensor.Launch(d, k, x.Arg(), y.Arg(), kernels.IntArg(x.Len()))
				return []*tensor.Tensor{y.Softmax(-1).Add(y)}
			}, []*tensor.Tensor{x}, nil
		})
		if report.Launches != 2 {
			t.Errorf("%s: %d launches, want 2:\n%s", name, report.Launches, explained)
		}
	}
}

// TestRowsOfRuns: a norm's gradient has runs of rows, of which each leaves sums of its own. A
// work-group of a CPU does one of them.
func TestRowsOfRuns(t *testing.T) {
	devices := devtest.Keep(t)
	type tensors = []*tensor.Tensor
	gradient := func(x, g *tensor.Tensor) (dx, dw, db *tensor.Tensor) {
		y, mean, rstd := tensorapi.Impl.RowNorm("norm", x, -1, nil, nil, 1e-5, true)
		y.Free()
		return tensorapi.Impl.NormGrad(x, g, nil, mean, rstd, 1, 1, true, true)
	}
	for name, step := range map[string]func(d tensor.Device, rows int) (tensors, func(in tensors) tensors){
		"and neighbours of rows": func(d tensor.Device, rows int) (tensors, func(in tensors) tensors) {
			return tensors{tensor.Empty(d, rows, 100), tensor.Empty(d, rows, 100)}, func(in tensors) tensors {
				dx, dw, db := gradient(in[0], in[1])
				return tensors{dw.Sum(0), db.Sum(0), dx.Slice(0, 1, rows).Sub(dx.Slice(0, 0, rows-1))}
			}
		},
		"of two lengths": func(d tensor.Device, rows int) (tensors, func(in tensors) tensors) {
			return tensors{tensor.Empty(d, rows, 20), tensor.Empty(d, rows, 20), tensor.Empty(d, rows, 10)}, func(in tensors) tensors {
				dx, dw, db := gradient(in[0], in[1])
				dx2, dw2, db2 := gradient(in[2], dx.Slice(1, 3, 13))
				return tensors{dw.Sum(0), db.Sum(0), dx2, dw2.Sum(0), db2.Sum(0)}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sel := range devtest.Selected() {
				for _, opt := range []tensor.Options{{}, devtest.GPUKernels()} {
					if opt == devtest.GPUKernels(opt) && sel == "cpu" {
						continue
					}
					d := devices.Open(sel, opt)
					for _, rows := range []int{30, 60} { // one run of 40 rows of 100, and two
						rewritten(t, d, func() (func() tensors, tensors, tensors) {
							in, do := step(d, rows)
							return func() tensors { return do(in) }, in, nil
						})
					}
				}
			}
		})
	}
}
