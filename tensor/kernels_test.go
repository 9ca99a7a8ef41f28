package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// guard is the number of elements kept around every buffer argument. They must not change. It is a
// multiple of four, which some kernels ask of their offsets, and of no power of two above.
const guard = 68

// operands makes the arguments of one launch: buffers as host memory, numbers as they are.
type operands struct {
	r    *rand.Rand
	real kernels.DType
	args []kernels.Arg
}

func (o *operands) add(m *kernels.Mem) *operands {
	o.args = append(o.args, kernels.Vec(m, guard, m.Len()-2*guard))
	return o
}

// in adds n reals uniform in [lo, hi), inside guards.
func (o *operands) in(n int, lo, hi float64) *operands {
	return o.reals(n, func(int) float64 { return lo + (hi-lo)*o.r.Float64() })
}

// out adds n reals that must all be written: they start as NaN.
func (o *operands) out(n int) *operands { return o.reals(n, func(int) float64 { return math.NaN() }) }

func (o *operands) reals(n int, f func(i int) float64) *operands {
	m := kernels.NewMem(o.real, n+2*guard)
	for i := range m.Len() {
		v := -12345.0 // the guards
		if i >= guard && i < guard+n {
			v = f(i - guard)
		}
		if o.real == kernels.Float64 {
			kernels.Slice[float64](m, i, 1)[0] = v
		} else {
			kernels.Slice[float32](m, i, 1)[0] = float32(v)
		}
	}
	return o.add(m)
}

func (o *operands) ints(n int, f func(i int) int) *operands {
	m := kernels.NewMem(kernels.Int32, n+2*guard)
	for i := range n {
		kernels.Slice[int32](m, guard+i, 1)[0] = int32(f(i))
	}
	return o.add(m)
}

func (o *operands) num(vs ...int) *operands {
	for _, v := range vs {
		o.args = append(o.args, kernels.I(v))
	}
	return o
}

func (o *operands) real64(vs ...float64) *operands {
	for _, v := range vs {
		o.args = append(o.args, kernels.R(v))
	}
	return o
}

// special replaces the first elements of the last buffer by values that break careless kernels.
func (o *operands) special() *operands {
	a := o.args[len(o.args)-1]
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-42, -1e-42, 3e38}
	for i := range min(a.N, len(values)) {
		if o.real == kernels.Float64 {
			kernels.Slice[float64](a.Buf.(*kernels.Mem), guard+i, 1)[0] = values[i]
		} else {
			kernels.Slice[float32](a.Buf.(*kernels.Mem), guard+i, 1)[0] = float32(values[i])
		}
	}
	return o
}

type kernelCase struct {
	name  string
	build func(o *operands)
}

// lengths are around the sizes of work-groups and vectors, and odd.
func lengths() []int {
	if testing.Short() {
		return []int{1, 7, 257}
	}
	return []int{0, 1, 7, 16, 255, 256, 257, 1009, 1023, 1025, 5000}
}

// kernelCases returns the launches that test k; a kernel without one fails TestKernels.
func kernelCases(k *kernels.Kernel) []kernelCase {
	var cases []kernelCase
	add := func(build func(o *operands), format string, a ...any) {
		cases = append(cases, kernelCase{fmt.Sprintf(format, a...), build})
	}
	perLength := func(build func(o *operands, n int)) {
		for _, n := range lengths() {
			add(func(o *operands) { build(o, n) }, "n=%d", n)
		}
	}
	matrices := [][2]int{{1, 1}, {3, 5}, {17, 3}, {5, 33}, {64, 64}, {130, 67}}
	perMatrix := func(build func(o *operands, r, c int)) {
		for _, s := range matrices {
			add(func(o *operands) { build(o, s[0], s[1]) }, "%dx%d", s[0], s[1])
		}
	}
	boxes := [][3]int{{1, 1, 1}, {1, 300, 1}, {7, 33, 1}, {1, 100, 64}, {3, 17, 5}, {2, 65, 35}, {1, 513, 3}, {4, 0, 3}}

	for _, u := range kernels.Unaries {
		switch k {
		case u.Forward():
			perLength(func(o *operands, n int) {
				o.in(n, u.Domain[0], u.Domain[1]).special().out(n).num(n).real64(u.A, u.B)
			})
		case u.Gradient():
			perLength(func(o *operands, n int) {
				o.in(n, u.Domain[0], u.Domain[1]).reals(n, func(i int) float64 {
					return u.Fwd(o.args[0].Buf.(*kernels.Mem).At(guard+i), u.A, u.B)
				}).in(n, -2, 2).out(n).num(n).real64(u.A, u.B)
			})
		}
	}
	for _, b := range kernels.Binaries {
		switch k {
		case b.Forward():
			perLength(func(o *operands, n int) { o.in(n, -3, 3).special().in(n, 0.5, 3).out(n).num(n) })
		case b.Row():
			perMatrix(func(o *operands, r, c int) { o.in(r*c, -3, 3).in(c, 0.5, 3).special().out(r*c).num(r, c) })
		case b.First():
			perLength(func(o *operands, n int) { o.in(n, -3, 3).in(1, 0.5, 3).out(n).num(n) })
		case b.GradX(), b.GradY():
			perLength(func(o *operands, n int) {
				// Whole numbers: ties are frequent.
				o.reals(n, func(int) float64 { return float64(o.r.IntN(5) - 2) })
				o.reals(n, func(int) float64 { return float64(o.r.IntN(3) + 1) }).in(n, -2, 2).out(n).num(n)
			})
		}
	}
	if k.Name == "k_mlp_loss" {
		for _, c := range [][2]int{{1, 1}, {17, 1}, {33, 2}, {130, 3}, {200, 2}} {
			if testing.Short() && c[0] > 33 {
				continue
			}
			add(func(o *operands) { mlpOperands(o, mlpShape, c[0], c[1]) }, "%d samples in %d groups", c[0], c[1])
		}
	}
	if strings.HasPrefix(k.Name, "k_gemm_") {
		cases = gemmCases(kernels.GemmForm(strings.TrimPrefix(k.Name, "k_gemm_")))
	}
	switch k {
	case kernels.ReduceShares:
		perLength(func(o *operands, n int) { o.in(3*n, -1, 1).in(1, 0.5, 2).out(n).num(n, 3) })
	case kernels.AdamWShares:
		perLength(func(o *operands, n int) {
			o.in(n, -1, 1).in(11*n, -1, 1).in(1, 0.5, 2).in(n, -1, 1).in(n, 0, 1).num(n, 11).real64(1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})
	case kernels.Fill:
		perLength(func(o *operands, n int) { o.out(n).num(n).real64(1.25) })
	case kernels.Zero:
		perLength(func(o *operands, n int) { o.out(n).num(n) })
	case kernels.Copy:
		perLength(func(o *operands, n int) { o.in(n, -1, 1).special().out(n).num(n) })
	case kernels.BroadcastRows:
		perMatrix(func(o *operands, r, c int) { o.in(c, -1, 1).out(r*c).num(r, c) })
	case kernels.Transpose:
		perMatrix(func(o *operands, r, c int) { o.in(r*c, -1, 1).out(r*c).num(r, c) })
	case kernels.StridedCopy:
		add(func(o *operands) { // [2, 3, 2, 5, 1, 4] with gaps and a repeated axis
			o.in(2000, -1, 1).out(240).num(240, 3, 2, 5, 1, 4, 900, 300, 0, 4, 7, 1)
		}, "rank 6")
		add(func(o *operands) { o.in(35, -1, 1).out(35).num(35, 1, 1, 1, 1, 7, 0, 0, 0, 0, 1, 5) }, "column-major")
	case kernels.GatherRows:
		perMatrix(func(o *operands, r, c int) {
			o.in(r*c, -1, 1).ints(9, func(int) int { return o.r.IntN(r) }).out(9*c).num(9, c)
		})
	case kernels.ScatterAddRows:
		perMatrix(func(o *operands, r, c int) {
			o.in(9*c, -1, 1).ints(9, func(int) int { return o.r.IntN(r) }).in(r*c, -1, 1).num(9, c)
		})
	case kernels.Sum:
		perLength(func(o *operands, n int) { o.in(n, -1, 1).out(1).num(n, max(n, 1)).real64(0.5) })
		add(func(o *operands) { o.in(1000, -1, 1).out(4).num(1000, 257).real64(1) }, "4 chunks")
	case kernels.SquaredError:
		perLength(func(o *operands, n int) { o.in(n, -1, 1).in(n, -1, 1).out(n).out(1).num(n, max(n, 1)) })
		add(func(o *operands) { o.in(1000, -1, 1).in(1000, -1, 1).out(1000).out(4).num(1000, 256) }, "4 chunks")
	case kernels.LinearGrad:
		for i, s := range append(matrices, [][2]int{{65, 16}, {70, 40}}...) {
			r, c, run := s[0], s[1], 1+3*i
			runs := (r + run - 1) / run
			add(func(o *operands) {
				o.in(r*c, -1, 1).in(r*c, -1, 1).out(r*c).out(runs*c).num(r, c, run, i%5).real64(0.2)
			}, "%dx%d in runs of %d", r, c, run)
		}
	case kernels.SumAtomic:
		perLength(func(o *operands, n int) { o.in(n, 0, 1).in(1, 0, 1).num(n).real64(0.5) })
	case kernels.SumAxis:
		for i, b := range boxes {
			add(func(o *operands) {
				o.in(b[0]*b[1]*b[2], -1, 1).in(b[0]*b[2], -1, 1).num(b[0], b[1], b[2]).real64(0.5).num(i % 2)
			}, "%v", b)
		}
	case kernels.MaxAxis:
		for _, b := range boxes[:len(boxes)-1] {
			add(func(o *operands) { o.in(b[0]*b[1]*b[2], -1, 1).special().out(b[0]*b[2]).num(b[0], b[1], b[2]) }, "%v", b)
		}
	case kernels.MaxAxisGrad:
		for _, b := range boxes[:len(boxes)-1] {
			add(func(o *operands) {
				o.reals(b[0]*b[1]*b[2], func(int) float64 { return float64(o.r.IntN(4)) })
				o.reals(b[0]*b[2], func(int) float64 { return 3 }).in(b[0]*b[2], -1, 1).out(b[0]*b[1]*b[2]).num(b[0], b[1], b[2])
			}, "%v", b)
		}
	case kernels.OuterAcc:
		perMatrix(func(o *operands, r, c int) { o.in(9*r, -1, 1).in(9*c, -1, 1).in(r*c, -1, 1).num(9, r, c) })
	case kernels.OuterAccAtomic:
		perMatrix(func(o *operands, r, c int) { o.in(9*r, -1, 1).in(9*c, -1, 1).in(r*c, -1, 1).num(9, r, c, 4) })
	case kernels.Uniform:
		perLength(func(o *operands, n int) { o.out(n).num(n, 12345, -7, 3).real64(-2, 5) })
	case kernels.Normal:
		perLength(func(o *operands, n int) { o.out(n).num(n, 12345, -7, 3).real64(1, 2) })
	case kernels.RandomInts:
		perLength(func(o *operands, n int) { o.ints(n, func(int) int { return -1 }).num(n, 12345, -7, 3, 1000003) })
	case kernels.SGD:
		for _, nesterov := range []int{0, 1} {
			perLength(func(o *operands, n int) {
				o.in(n, -1, 1).in(n, -1, 1).in(n, -1, 1).num(n).real64(0.01, 0.9, 0.1).num(nesterov)
			})
		}
	case kernels.AdamW:
		perLength(func(o *operands, n int) {
			o.in(n, -1, 1).in(n, -1, 1).in(n, -1, 1).in(n, 0, 1).num(n).real64(1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})
	case kernels.PixelCentres:
		perLength(func(o *operands, n int) { o.out(2*n).num(n, 11, 37, 1000) })
	case kernels.SampleEncode:
		for i, n := range lengths() {
			octaves := []int{16, 1, 20}[i%3]
			add(func(o *operands) {
				// Sides are powers of two: a GPU's division is not exact, and octaves magnify what it is off by.
				o.in(8*16*3, 0, 1).out(n*4*octaves).out(3*n).num(n, 8, 16, 3, octaves, 12345, -7, 3)
			}, "n=%d, %d octaves", n, octaves)
		}
	case kernels.FMAChains:
		perLength(func(o *operands, n int) { o.out(n).num(n, 20).real64(0.999, 0.5) })
	case kernels.FrequencyEncode:
		perLength(func(o *operands, n int) { o.in(2*n, 0, 1).out(n*4*16).num(n, 16) })
	}
	return cases
}

// gemmCases covers tiles that are whole and cut off, rows that are aligned and not, shares of the sum, and the
// epilogues.
func gemmCases(form kernels.GemmForm) []kernelCase {
	var cases []kernelCase
	for i, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {13, 17, 31}, {64, 64, 64}, {65, 67, 63}, {7, 130, 5}, {130, 3, 40}, {30, 16, 300}, {26, 80, 520}, {132, 260, 36}, {20, 48, 96}} {
		m, n, k, pad := s[0], s[1], s[2], i%3
		if testing.Short() && m*n*k > 70000 {
			continue
		}
		act := kernels.Activation(i % 5)
		lda, ldb, ldc := k+pad, n+pad, n
		rowsA, rowsB := m, k
		switch form {
		case kernels.TN:
			lda, rowsA = m+pad, k
		case kernels.NT:
			ldb, rowsB = k+pad, n
		}
		slice, accumulate, biased := k, i%2, i/2%2
		if i%3 == 1 { // in shares
			slice, accumulate, biased, act = (k+2)/3, 0, 0, kernels.ActNone
		}
		shares := (k + slice - 1) / slice
		rows := 12 * (1 + i%3)
		cases = append(cases, kernelCase{fmt.Sprint(s), func(o *operands) {
			o.in(rowsA*lda, -1, 1).in(rowsB*ldb, -1, 1).in(n, -1, 1).in(shares*m*ldc, -1, 1).num(m, n, k, lda, ldb, ldc,
				accumulate, biased, int(act)).real64(0.1).num(rows, slice)
		}})
	}
	return cases
}

// mlpShape is that of the perceptron in kernels.All.
var mlpShape = kernels.ExampleMLP

// mlpOperands makes a pass over n samples in a number of groups.
func mlpOperands(o *operands, s kernels.MLPShape, n, groups int) {
	o.in(n*s.Inputs, -1, 1).in(n*s.Outputs, 0, 1).in(s.Size(), -0.2, 0.2).in(groups*s.Size(), 0, 0).out(groups).num(n)
}

// TestMLPShapes runs the fused perceptron in other shapes than that of the list: kernels are built for each.
func TestMLPShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many kernels")
	}
	check := func(t *testing.T, d tensor.Device) {
		for i, s := range []kernels.MLPShape{
			{Inputs: 8, Width: 16, Layers: 1, Outputs: 1, Slope: 0}, {Inputs: 20, Width: 48, Layers: 2, Outputs: 5, Slope: 0.2},
			{Inputs: 40, Width: 32, Layers: 4, Outputs: 16, Slope: 0.1}, {Inputs: 32, Width: 128, Layers: 2, Outputs: 4, Slope: 0.01}, {Inputs: 128, Width: 128, Layers: 3, Outputs: 3, Slope: 0.1},
		} {
			if err := s.Check(d.Real(), d.Limits()); err != nil {
				t.Fatal(err)
			}
			o := &operands{r: rand.New(rand.NewPCG(77, uint64(i))), real: d.Real()}
			mlpOperands(o, s, 75, 2)
			checkLaunch(t, d, kernels.MLPLoss(s, d.Real(), s.Block(75, d.Real(), kernels.Limits{Units: 1 + 99*(i%2)})), fmt.Sprintf("%+v", s), o.args)
			if err := d.Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{GPUKernels: true})) })
		}
	}
}

// TestKernels launches every kernel on every device and holds what it wrote against the Go twin, element
// by element, within the kernel's tolerance. Nothing else may change: not the inputs, not a guard.
func TestKernels(t *testing.T) {
	devtest.Each(t, true, testKernels)
}

// TestGPUKernels is TestKernels with the variants for GPUs on the OpenCL devices that are CPUs.
func TestGPUKernels(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		t.Run(sel, func(t *testing.T) { testKernels(t, devtest.Open(t, sel, tensor.Options{GPUKernels: true})) })
	}
}

func testKernels(t *testing.T, d tensor.Device) {
	seen := map[string]int{}
	for i, k := range kernels.All(d.Real(), d.Limits()) {
		if seen[k.Name]++; testing.Short() && seen[k.Name] > 2 {
			continue // further tiles of a matrix product
		}
		if testing.Short() && k == kernels.FMAChains {
			continue // Oclgrind 21.10 takes the lanes of its vectors for uninitialised; elsewhere they are right
		}
		cases := kernelCases(k)
		if len(cases) == 0 {
			t.Errorf("%s has no test case", k.Name)
		}
		for j, c := range cases {
			o := &operands{r: rand.New(rand.NewPCG(uint64(i), uint64(j))), real: d.Real()}
			c.build(o)
			checkLaunch(t, d, k, c.name, o.args)
			if err := d.Err(); err != nil {
				t.Fatalf("%s %s: %v", k.Name, c.name, err)
			}
		}
	}
}

func checkLaunch(t *testing.T, d tensor.Device, k *kernels.Kernel, name string, args []kernels.Arg) {
	t.Helper()
	scale := math.NaN()
	if k.Tol.Scale != nil {
		scale = k.Tol.Scale(args)
	}
	onDevice := make([]kernels.Arg, len(args))
	before := make([]*kernels.Mem, len(args))
	for i, a := range args {
		onDevice[i] = a
		if a.Buf == nil {
			continue
		}
		host := a.Buf.(*kernels.Mem)
		buf, err := d.Alloc(host.DType(), host.Len())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Release(buf)
		if err := d.Upload(buf, 0, host); err != nil {
			t.Fatal(err)
		}
		onDevice[i].Buf = buf
		before[i] = kernels.NewMem(host.DType(), host.Len())
		kernels.CopyMem(before[i], 0, host, 0, host.Len())
	}
	launched := append([]kernels.Arg(nil), onDevice...)
	if !k.Grid(args, d.Limits()).Empty() {
		d.Launch(k, launched...)
		k.Run(d.Real(), args)
	}
	for i, p := range k.Params {
		if !p.Mode.Buffer() {
			continue
		}
		all := kernels.NewMem(before[i].DType(), before[i].Len())
		if err := d.Download(all, onDevice[i].Buf, 0); err != nil {
			t.Fatalf("%s %s: %v", k.Name, name, err)
		}
		for j := range all.Len() {
			inside := j >= guard && j < guard+args[i].N
			if (!inside || !p.Mode.Written()) && !sameValue(all.At(j), before[i].At(j)) {
				t.Errorf("%s %s: wrote %s[%d], outside its output", k.Name, name, p.Name, j-guard)
				return
			}
		}
		if !p.Mode.Written() {
			continue
		}
		got, want := kernels.NewMem(all.DType(), args[i].N), kernels.NewMem(all.DType(), args[i].N)
		kernels.CopyMem(got, 0, all, guard, args[i].N)
		kernels.CopyMem(want, 0, args[i].Buf.(*kernels.Mem), guard, args[i].N)
		if at := tensor.Compare(k, got, want, scale); at >= 0 {
			t.Errorf("%s %s %s: %s[%d] = %v, twin has %v (%d ULP)", k.Name, k.Defines, name, p.Name, at, got.At(at), want.At(at),
				kernels.ULPDistance(got.DType(), got.At(at), want.At(at)))
		}
	}
}

func sameValue(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
