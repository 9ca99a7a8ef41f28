package lower_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/irtest"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
	"github.com/clgrad/clgrad/tensor"
)

// TestRandomPrograms: random row programs are on every device, in the forms for CPUs and for GPUs,
// what they say.
func TestRandomPrograms(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off")
	n, first := 3, uint64(2) // which PoCL compiles in seconds
	if devtest.Sweep() {     // others with each seed
		n = 100
		first, _ = strconv.ParseUint(os.Getenv(devtest.SweepEnv), 10, 64)
		first *= 1000
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) { each(t, d, n, first) })
	for _, sel := range devtest.Selected() {
		if sel != "cpu" && devtest.Sweep() { // PoCL takes a minute for some of them
			t.Run(sel+"/for GPUs", func(t *testing.T) { each(t, devtest.Open(t, sel, devtest.GPUKernels()), n, first) })
		}
	}
}

// TestMaxOfProduct: a product is no two factors where a maximum takes it.
func TestMaxOfProduct(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off")
	b := ir.NewRows("products")
	x, z := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("Z", ir.Outer, ir.N, ir.Inner)
	b.Result("Y", b.MaxNumber(x.Mul(z), ir.N).Sub(b.Sum(z.Mul(z), ir.N)).Add(b.MaxNumber(z, ir.N)))
	p := b.Program()
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		rng := rand.New(rand.NewPCG(1, 2))
		k := kernelOf(p)
		for _, size := range [][3]int{{3, 5, 1}, {40, 33, 1}, {2, 19, 17}, {1, 5000, 1}} {
			check(t, d, k, irtest.Draw(p, rng, size[0], size[1], size[2]))
		}
	})
}

// TestStoredWithSums: results of elements that the last sums do not change are stored in their pass;
// what an earlier one kept is read there.
func TestStoredWithSums(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off")
	b := ir.NewRows("deviations")
	x, z, c := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("Z", ir.Outer, ir.N, ir.Inner), b.Input("C", ir.N)
	kept, other := x.Tanh(), z.Tanh()
	off := kept.Sub(b.Sum(kept, ir.N).Add(b.Sum(other, ir.N)).Div(b.Length(ir.N)))
	b.Result("V", b.Sum(off.Square(), ir.N).Add(b.Max(off.Mul(c), ir.N)))
	b.Result("D", off.Mul(other))
	b.Result("E", off.Mul(c).Add(x))
	elements := b.Program()

	b = ir.NewRows("sums_over_lines")
	x, c = b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("C", ir.N)
	b.SumOfLines("W", x.Mul(c))
	b.Result("V", b.Sum(x, ir.N).Div(b.Length(ir.N)))
	sums := b.Program()

	run := func(t *testing.T, d tensor.Device) {
		for _, p := range []*ir.Program{elements, sums} {
			k, rng := kernelOf(p), rand.New(rand.NewPCG(1, 2))
			for _, s := range [][3]int{{1, 1, 1}, {3, 5, 1}, {2, 16, 1}, {40, 33, 1}, {2, 300, 1}, {1, 1023, 1}, {2, 19, 17},
				{3, 40, 40}, {1, 1500, 3}, {1, 5000, 1}, {1, 40000, 1}, {2, 0, 3}} {
				if p.Runs() {
					s[2] = 1
				}
				check(t, d, k, irtest.Draw(p, rng, s[0], s[1], s[2]))
			}
			if t.Failed() {
				t.Fatalf("%s\n%s", p, k.TextOn(d.Target()))
			}
		}
	}
	inBothForms(t, run)
}

// TestParts: folds of whole lines and of parts, of floats and of ints, in both forms.
func TestParts(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off")
	b := ir.NewRows("floats")
	b.Parts()
	x, z, c := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("Z", ir.Outer, ir.N, ir.Inner), b.Input("C", ir.N)
	mean := b.Sum(x.Mul(c), ir.N).Div(b.Length(ir.N))
	l := b.Input("L", ir.Outer, ir.Inner)
	b.Result("S", b.Sum(x.Sub(mean).Square(), ir.N).Sub(b.Sum(x.Mul(l), ir.N)))
	b.Result("F", b.Sum(x.Sub(b.First(x, ir.N)), ir.N).Add(b.First(x, ir.N)).Add(b.First(z.Mul(c), ir.N)))
	b.Result("M", b.Max(x, ir.N).Sub(b.Min(z.Sub(x), ir.N)).Add(b.MaxNumber(z, ir.N)).Mul(b.Number("a")))
	b.Result("P", b.Prod(z.Mul(expr.Const(0.01)).Add(expr.Const(1)), ir.N))
	b.IntResult("C0", b.Sum(expr.Where(x.Lt(z), expr.Const(1), expr.Const(0)), ir.N))
	most := b.Max(x, ir.N)
	first := b.Min(ir.Attained(x, most, expr.Index(ir.N).Mul(expr.Const(3)), expr.Const(1<<20)), ir.N)
	b.Result("A", first.Min(expr.Const(1<<19)).Sub(expr.Const(1)), ir.Outer, ir.Inner) // an int that is computed
	b.Result("D", z.Mul(l).Sub(mean))                                                  // of elements
	floats := b.Program()

	b = ir.NewRows("ints")
	b.Parts()
	i := b.IntInput("X", ir.Outer, ir.N, ir.Inner)
	b.Result("S", b.Sum(i, ir.N))
	b.Result("P", b.Prod(i, ir.N))
	b.Result("M", b.Max(i, ir.N))
	b.Result("N", b.Min(i, ir.N))
	b.IntResult("C", b.Sum(expr.Where(i.Float().Eq(expr.Const(0)), expr.Const(0), expr.Const(1)), ir.N))
	b.Result("Q", b.Sum(i.Mul(i.Sub(expr.Const(1))), ir.N)) // of products
	equal := i.Sub(b.Min(i, ir.N)).Float().Eq(expr.Const(0))
	b.Result("A", b.Min(expr.Where(equal, expr.Index(ir.N).Mul(b.Int("step")).Add(i), expr.Const(1<<30)), ir.N))
	ints := b.Program()

	run := func(t *testing.T, d tensor.Device) {
		for _, p := range []*ir.Program{floats, ints, defs.NormSums(false)} {
			if p.OfInts() && tensorapi.Impl.TuningName(d) == "" { // Go code of ints is written by hand
				continue
			}
			rng := rand.New(rand.NewPCG(1, 2))
			k := kernelOf(p)
			for _, s := range [][4]int{{1, 1, 1, 1}, {3, 5, 1, 2}, {3, 16, 1, 16}, {1, 1023, 1, 1023}, {40, 33, 1, 33},
				{2, 300, 1, 64},
				{1, 7, 3, 4}, {2, 130, 17, 50}, {1, 100, 130, 32},
				{2, 70, 64, 70}, {1, 20000, 1, 7000}, {2, 0, 3, 1}} {
				l := irtest.Draw(p, rng, s[0], s[1], s[2])
				l.Chunk = s[3]
				for name, x := range l.Ints {
					for i := range x {
						x[i] = [...]int32{1, -1, 1, 0, 2, -3}[(i+s[1])%4+len(name)-1]
					}
				}
				check(t, d, k, l)
			}
			if t.Failed() {
				t.Fatalf("%s\n%s", p, k.TextOn(d.Target()))
			}
		}
	}
	inBothForms(t, run)
}

// inBothForms calls run with every device, and with the kernels for GPUs on those of OpenCL.
func inBothForms(t *testing.T, run func(t *testing.T, d tensor.Device)) {
	devtest.Each(t, true, run)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/for GPUs", func(t *testing.T) { run(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

func each(t *testing.T, d tensor.Device, n int, first uint64) {
	var p *ir.Program
	var k *kernels.Kernel
	seed := uint64(0)
	defer func() {
		if t.Failed() {
			t.Logf("program %d:\n%s\n%s", first+seed, p, k.TextOn(d.Target()))
		}
	}()
	for seed = range uint64(n) {
		rng := rand.New(rand.NewPCG(first+seed, 7))
		p = irtest.Random(rng)
		k = kernelOf(p)
		for _, size := range [][3]int{{1, 1, 1}, {3, 5, 1}, {40, 33, 1}, {2, 300, 1}, {2, 7, 3}, {2, 19, 17}, {1, 4, 40}, {1, 5000, 1}} {
			check(t, d, k, irtest.Draw(p, rng, size[0], size[1], size[2]))
		}
	}
}

// kernelOf returns the kernel of a program, with more work-groups than it needs.
func kernelOf(p *ir.Program) *kernels.Kernel {
	k, _, _ := lower.Rows(p)
	at, run := lower.LayoutOf(p).Sizes, lower.LayoutOf(p).Run
	k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		if run >= 0 {
			groups := lower.Parts(int(a[at].Int), int(a[run].Int))
			if l.CPU {
				return kernels.Groups(groups, 1)
			}
			return kernels.Grid{Dims: 1, Global: [3]int{256 * groups}, Local: [3]int{256}}
		}
		if l.CPU {
			return kernels.Groups(3, 1)
		}
		lines := int(a[at].Int * a[at+2].Int)
		if p.Parts {
			lines *= max(1, (int(a[at+1].Int)+int(a[at+3].Int)-1)/int(a[at+3].Int))
		}
		return kernels.Grid{Dims: 1, Global: [3]int{256 * lines}, Local: [3]int{256}}
	}
	return k
}

// check launches a program and compares what it stores with what it means.
func check(t *testing.T, d tensor.Device, k *kernels.Kernel, l *irtest.Launch) {
	t.Helper()
	var args []kernels.Arg
	for _, v := range l.Program.Values {
		switch {
		case v.Kind != ir.Input:
		case v.Int:
			args = append(args, devtest.New(d, l.Ints[v.Name], len(l.Ints[v.Name])).Arg())
		default:
			args = append(args, devtest.New(d, l.Floats[v.Name], len(l.Floats[v.Name])).Arg())
		}
	}
	want := l.Run()
	if d.DefaultType() == kernels.Float32 {
		want = l.Expected()
	}
	var results []*tensor.Tensor
	for k, of := range l.Program.Results {
		r := tensor.Full(d, 77, len(want[k]))
		if of.Int {
			r = r.To(tensor.Int32)
		}
		results, args = append(results, r), append(args, r.Arg())
	}
	args = append(args, sizesAndNumbers(l)...)
	tensor.Launch(d, k, args...)
	off := 1e-12
	if d.DefaultType() == kernels.Float32 {
		off = 1e-4
	}
	at := lower.LayoutOf(l.Program).Results
	bound := lower.Bound(l.Program, func(n int) float64 { return float64(n) })(d.DefaultType(), hostArgs(l, want))
	for k, r := range results {
		got, err := r.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s[%d %d %d] %s", l.Program.Name, l.Outer, l.N, l.Inner, l.Program.Results[k].Name)
		irtest.Near(t, what, got, want[k], off,
			func(i int) float64 { return bound(at+k, i) }) // terms of a sum may cancel
	}
}

// sizesAndNumbers are the arguments of a launch after its inputs and results.
func sizesAndNumbers(l *irtest.Launch) []kernels.Arg {
	args := []kernels.Arg{kernels.IntArg(l.Outer), kernels.IntArg(l.N), kernels.IntArg(l.Inner)}
	if l.Program.Parts {
		args = append(args, kernels.IntArg(l.Chunk))
	}
	if l.Program.Runs() {
		args = append(args, kernels.IntArg(l.Lines))
	}
	if lower.Sets(l.Program) {
		args = append(args, kernels.IntArg(l.Sets), kernels.IntArg(l.Span))
	}
	for _, v := range l.Program.Values {
		switch {
		case v.Kind != ir.Number:
		case v.Int:
			args = append(args, kernels.IntArg(int(l.Numbers[v.Name])))
		default:
			args = append(args, kernels.FloatArg(l.Numbers[v.Name]))
		}
	}
	return args
}

// TestFours: lanes of a GPU read and write four elements at a time only where every input and result of elements
// begins at a multiple of four. A device that is a CPU does not mind others.
func TestFours(t *testing.T) {
	fours := regexp.MustCompile(`const int fours = INNER == 1 && ALIGNED4\(len, (.*)\);`)
	for _, p := range []*ir.Program{defs.Softmax(), defs.SoftmaxGrad(), defs.SquaredError(), defs.Dot(),
		defs.NormGrad(defs.NormForm{Weights: true})} {
		k, _, _ := lower.Rows(p)
		line := fours.FindStringSubmatch(k.GPUText)
		if line == nil {
			t.Fatalf("%s: %s", p.Name, k.GPUText)
		}
		asked := strings.Split(line[1], " | ")
		want := []string{}
		for _, v := range p.Values {
			if v.Kind == ir.Input && v.Along == ir.Element {
				want = append(want, v.Name+"_off")
			}
		}
		for _, r := range p.Results {
			if r.Along == ir.Element {
				want = append(want, r.Name+"_off")
			}
		}
		if p.Parts {
			want = append(want, "chunk")
		}
		if !slices.Equal(asked, want) {
			t.Errorf("%s asks %v, want %v", p.Name, asked, want)
		}
	}
}
