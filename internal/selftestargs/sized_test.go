package selftestargs

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// TestBounded: what a trial of a large launch takes is bounded, whatever its sizes and however far
// apart the rows of its operands lie, and its operands are those that the host kernel of a launch could
// meet.
func TestBounded(t *testing.T) {
	product := func(form ops.GemmForm, m, n, k, lda, ldb, slice int) []kernels.Arg {
		rowsA, rowsB := m, k
		if form.TransposesA() {
			rowsA = k
		}
		if form.TransposesB() {
			rowsB = n
		}
		v := func(n int) kernels.Arg { return kernels.BufferArg(nil, 0, n) }
		return []kernels.Arg{v(rowsA * lda), v(rowsB * ldb), v(0), v((k + slice - 1) / slice * m * n), kernels.IntArg(m), kernels.IntArg(n), kernels.IntArg(k),
			kernels.IntArg(lda), kernels.IntArg(ldb), kernels.IntArg(n), kernels.IntArg(0), kernels.IntArg(0), kernels.IntArg(12), kernels.IntArg(slice)}
	}
	tile := ops.GemmTiles(kernels.Float32, kernels.Target{CPU: true})[0]
	n := kernels.IntArg
	v := func(n int) kernels.Arg { return kernels.BufferArg(nil, 0, n) }
	for _, c := range []struct {
		name  string
		k     *kernels.Kernel
		args  []kernels.Arg
		tried bool
	}{
		{"a column of a wide matrix", ops.Gemm(ops.NN, tile, nil), product(ops.NN, 2000, 8, 10, 1_000_000, 8, 10), true},
		{"weights' gradient of a large batch", ops.Gemm(ops.TN, tile, nil), product(ops.TN, 4096, 3, 65536, 4096, 3, 65536), true},
		{"a wide B", ops.Gemm(ops.NN, tile, nil), product(ops.NN, 100, 8, 1000, 1000, 2_000_000, 1000), true},
		{"a wide transposed B", ops.Gemm(ops.NT, tile, nil), product(ops.NT, 100, 8, 1000, 1000, 100_000_000, 1000), true},
		{"a large square", ops.Gemm(ops.NN, tile, nil), product(ops.NN, 1024, 1024, 1024, 1024, 1024, 1024), true},
		{"a B that is too large", ops.Gemm(ops.NN, tile, nil), product(ops.NN, 30000, 30000, 30000, 30000, 30000, 30000), false},
		{"shares that are too large", ops.Gemm(ops.NT, tile, nil), product(ops.NT, 64, 64, 1<<20, 1<<20, 1<<20, 1<<15), false},
		{"long sums in few columns", ops.Gemm(ops.TN, tile, nil), product(ops.TN, 200, 1, 1<<21, 200, 1, 1<<21), false},
		{"a layer of a large batch", ops.Gemm(ops.NN, tile, fn.Softplus), append(product(ops.NN, 1<<20, 64, 64, 64, 64, 64), v(1<<26), n(1)), true},
		{"a layer that keeps nothing", ops.Gemm(ops.NN, tile, fn.Clamp), append(product(ops.NN, 1<<20, 64, 64, 64, 64, 64), v(0), n(0), kernels.FloatArg(-1), kernels.FloatArg(1)), true},
		{"the gradient of a layer", ops.LinearGrad(fn.Softplus.Gradient(0)), []kernels.Arg{v(70 * 40), v(70 * 40), v(70 * 40), v(5 * 40), n(70), n(40), n(16)}, true},
		{"the gradient of a large layer", ops.LinearGrad(fn.Tanh.Gradient(0)), []kernels.Arg{v(1 << 26), v(1 << 26), v(1 << 26), v(1 << 20), n(1 << 20), n(64), n(64)}, false},
		{"chains", ops.FMAChains, []kernels.Arg{v(1 << 21), n(1 << 21), n(100000), kernels.FloatArg(0.999), kernels.FloatArg(0.5)}, true},
		{"a copy", fused.Map(fn.Identity.Alone(), kernels.Float32, fused.AccessPattern{Rank: 1}),
			[]kernels.Arg{v(1 << 29), v(1 << 29), n(1 << 29)}, true},
		{"a gradient", fused.Map(fn.Tanh.Gradient(0).Alone(), kernels.Float32, fused.AccessPattern{Rank: 1}),
			[]kernels.Arg{v(1 << 29), v(1 << 29), v(1 << 29), n(1 << 29)}, true},
		{"a step", ops.SGD, []kernels.Arg{v(1 << 29), v(1 << 29), v(1 << 29), n(1 << 29), kernels.FloatArg(1e30), kernels.FloatArg(1), kernels.FloatArg(0), n(1), n(0)}, true},
		{"a transpose that is too large", fused.Map(fn.Identity.Alone(), kernels.Float32,
			fused.AccessPattern{Rank: 2, Steps: [fused.MapTensors]fused.Access{fused.Strided}}),
			[]kernels.Arg{v(1 << 28), v(1 << 28), n(1 << 14), n(1 << 14), n(1), n(1 << 14), n(1 << 14)}, false},
		{"ties", ops.ExtremeGrad.Kernel(), []kernels.Arg{v(7 * 900 * 11), v(7 * 11), v(7 * 11), v(7 * 900 * 11), n(7), n(900), n(11)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := Like(c.k, c.args, kernels.Float32)
			if err != nil || (o != nil) != c.tried {
				t.Fatalf("operands: %v, want %v; err = %v", o != nil, c.tried, err)
			}
			if o == nil {
				return
			}
			total, items := 0, 0
			for _, a := range o.Args {
				total += a.N
			}
			const most = 1 << 24
			if total > most {
				t.Fatalf("%d elements", total)
			}
			g := c.k.Grid(o.Args, kernels.Target{CPU: true, Units: 2, MaxGroup: 4096})
			if items = g.Global[0]; g.Empty() {
				t.Fatalf("a grid of %d work-items", items)
			}
			c.k.Run(kernels.Float32, o.Args)
		})
	}
}

// TestMistakes: operands that are no launch's are named, and those of any element type are made.
func TestMistakes(t *testing.T) {
	params := []kernels.Param{{Name: "X", Mode: kernels.InBytes}, {Name: "H", Mode: kernels.In.Of(kernels.Float16)}, {Name: "Y", Mode: kernels.OutInts},
		{Name: "n", Mode: kernels.IntParam}, {Name: "a", Mode: kernels.FloatParam}}
	right := []kernels.Operand{selftest.Uniform(3, 0, 256), selftest.Uniform(3, -1, 1), selftest.Output(3),
		selftest.Number(3),
		selftest.Number(0.5)}
	with := func(i int, o kernels.Operand) []kernels.Operand {
		ops := append([]kernels.Operand{}, right...)
		ops[i] = o
		return ops
	}
	for _, c := range []struct {
		name string
		ops  []kernels.Operand
		want string
	}{
		{"right", right, ""},
		{"too few", right[:4], "4 operands for 5 parameters"},
		{"too many", append(right[:5:5], right[0]), "6 operands for 5 parameters"},
		{"a negative length", with(0, selftest.Uniform(-1, 0, 1)), "-1 elements for X"},
		{"an int that is none", with(3, selftest.Number(2.5)), "2.5 for n, an int"},
		{"an int out of range", with(3, selftest.Number(1e10)), "1e+10 for n, an int"},
		{"derived", with(1, selftest.Computed(3, func(before []kernels.Arg, i int) float64 {
			return float64(len(before) +
				i)
		})), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kernels.Kernel{Name: "k", Text: "-", Params: params, SelfTest: func([]kernels.Arg) []kernels.Operand { return c.ops }}
			small, err := Small(k, kernels.Float64)
			like, err2 := Like(k, make([]kernels.Arg, 5), kernels.Float64)
			if c.want != "" {
				if err == nil || err2 == nil || !strings.Contains(err.Error(), c.want) || err.Error() != err2.Error() {
					t.Fatalf("err = %v, %v; want %q", err, err2, c.want)
				}
				return
			}
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for _, o := range []*kernels.Operands{small[0], like} {
				if err := fits(k, o, kernels.Float64); err != nil {
					t.Error(err)
				}
			}
			if c.name == "derived" && like.Args[1].Buf.(*kernels.HostBuffer).At(like.Args[1].Off+2) != 3 {
				t.Error("the element is not what was derived")
			}
		})
	}
	k := &kernels.Kernel{Name: "k", Text: "-", Params: params, Cases: func(bool) []kernels.Case {
		return []kernels.Case{{Name: "floats", Build: func(o *kernels.Operands) { o.In(3, 0, 1).In(3, 0, 1).Out(3).Int(3).Float(1) }}}
	}}
	if _, err := Small(k, kernels.Float32); err == nil || !strings.Contains(err.Error(), `its case "floats": X has elements of type float32, not uint8`) {
		t.Errorf("err = %v", err)
	}
	k.Cases, k.SelfTest = nil, func([]kernels.Arg) []kernels.Operand { return nil }
	if o, err := Like(k, make([]kernels.Arg, 5), kernels.Float32); o != nil || err != nil {
		t.Errorf("no trial: %v, %v", o, err)
	}
}

// TestWhatIsTried: a kernel of the library is tried with its cases and with operands like a
// launch's; of a kernel from outside, the library knows only what it says itself.
func TestWhatIsTried(t *testing.T) {
	args := []kernels.Arg{kernels.BufferArg(nil, 0, 9), kernels.IntArg(9)}
	params := ops.Zero.Params
	for _, c := range []struct {
		name        string
		k           *kernels.Kernel
		small, like bool
	}{
		{"ours", ops.Zero, true, true},
		{"ours without a SelfTest", &kernels.Kernel{Name: "k_zero", File: "move.cl", Params: params,
			Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) { o.Out(n).Int(n) })}, true, true},
		{"from outside", &kernels.Kernel{Name: "zero", Text: "-", Params: params}, false, false},
		{"from outside, with a SelfTest of launches", &kernels.Kernel{Name: "zero", Text: "-", Params: params, SelfTest: ops.Zero.SelfTest}, false, true},
	} {
		small, err := Small(c.k, kernels.Float32)
		like, err2 := Like(c.k, args, kernels.Float32)
		if err != nil || err2 != nil || len(small) > 0 != c.small || (like != nil) != c.like {
			t.Errorf("%s: %d small launches, %v, and one like a launch: %v, %v", c.name, len(small), err, like != nil, err2)
		}
	}
}

// TestDrawn: what is drawn lies in its range and fills it; what must be written starts as no
// result.
func TestDrawn(t *testing.T) {
	params := []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "I", Mode: kernels.InInts}, {Name: "Y", Mode: kernels.Out}, {Name: "J", Mode: kernels.OutInts}}
	k := &kernels.Kernel{Name: "k", Text: "-", Params: params, SelfTest: func([]kernels.Arg) []kernels.Operand {
		return []kernels.Operand{selftest.Uniform(200, 3, 5), selftest.Uniform(200, 10, 20), selftest.Output(2),
			selftest.Output(2)}
	}}
	o, err := Like(k, make([]kernels.Arg, 4), kernels.Float32)
	if err != nil {
		t.Fatal(err)
	}
	ends := func(i int) (least, most float64) {
		least, most = math.Inf(1), math.Inf(-1)
		for j := range o.Args[i].N {
			least, most = min(least, o.Args[i].At(j)), max(most, o.Args[i].At(j))
		}
		return least, most
	}
	if least, most := ends(0); least < 3 || least > 3.1 || most < 4.9 || most >= 5 {
		t.Errorf("reals from %v to %v", least, most)
	}
	if least, most := ends(1); least != 10 || most != 19 {
		t.Errorf("ints from %v to %v", least, most)
	}
	if y, j := o.Args[2].At(1), o.Args[3].At(1); !math.IsNaN(y) || j != 77 {
		t.Errorf("outputs start as %v and %v", y, j)
	}
}

// TestComputedInChain: an operand that is computed from others is computed from those of its own launch, wherever that
// stands in a fused launch.
func TestComputedInChain(t *testing.T) {
	const rows, n = 3, 5
	b, number := func(n int) kernels.Arg { return kernels.BufferArg(nil, 0, n) }, kernels.IntArg
	dot := []kernels.Arg{b(rows * n), b(rows * n), b(rows), number(rows), number(n), number(1), number(n)}
	grad := []kernels.Arg{b(rows * n), b(rows), b(rows), b(rows * n), number(rows), number(n), number(1)}
	args := append(append(dot, grad...), number(rows), number(rows), number(rows), number(1))
	parts := []*kernels.Kernel{ops.Dot.Kernel(), ops.ExtremeGrad.Kernel()}
	k := fused.FuseVertical(parts, make([]bool, 2), args, kernels.Target{})
	o, err := Like(k, args, kernels.Float32)
	if err != nil {
		t.Fatal(err)
	}
	for row := range rows {
		most := math.Inf(-1)
		for i := range n {
			most = max(most, o.Args[len(dot)].At(row*n+i))
		}
		if got := o.Args[len(dot)+1].At(row); got != most {
			t.Errorf("row %d: its maximum is said to be %v, and is %v", row, got, most)
		}
	}
}
