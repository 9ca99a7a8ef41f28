package replay_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// storedOps are what random steps of products with maps around them are made of.
func storedOps() []randomOp {
	var list []randomOp
	for _, op := range mapOps() {
		switch op.name {
		case "unary", "binary", "where", "itself", "matmul", "gram", "linear", "sum", "slice", "transpose", "reshape", "expand",
			"in place", "update", "set", "set view", "tanh in place", "copy", "dropout", "gather", "to byte", "number", "zeros":
			list = append(list, op)
		}
	}
	line := func(x *tensor.Tensor) *tensor.Tensor { // for operations of one axis
		if !x.Type().Float() {
			x = x.To(tensor.Float32)
		}
		return x.Reshape(1, 1, -1)
	}
	products := []randomOp{
		{"product", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { return x.MatMul(y).Add(y.Sum(0)) }},
		{"residual", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return x.MatMul(x.T()).MatMul(x).Add(x)
		}},
		{"layer", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			return tensor.Linear(x, y, nil, fn.Tanh).Sub(tensor.Linear(x, y, nil, nil))
		}},
		{"gradient of a layer", func(_ *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			f := []*kernels.Function{fn.Tanh, fn.ReLU, fn.GELU}[r.IntN(3)]
			z, g := x.MatMul(y), x.MatMul(y.MulScalar(0.5))
			dz, shares := tensorapi.Impl.LinearGrad(f.Gradient(0), nil, z, z, g)
			switch r.IntN(3) {
			case 0:
				dz = dz.Add(g)
			case 1:
				dz.MapInPlace(fn.Add, nil, shares.Sum(0))
			}
			return dz.Sub(shares.Sum(0))
		}},
		{"kept", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			z := x.MatMul(y)
			return z.Abs().Sum(0).Add(z.Sum(0))
		}},
		{"over the product", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			z := x.MatMul(y)
			z.MapInPlace(fn.Tanh, nil)
			return z
		}},
		{"into an operand", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			p := w.older[r.IntN(len(w.older))]
			p.SetInPlace(p.MatMul(x).Add(p))
			return p.View()
		}},
		{"other way round", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
			return x.MatMul(y).Transpose().MulScalar(0.5).Copy()
		}},
		{"batch", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return x.Reshape(-1, 2, 1).MatMul(x.Reshape(-1, 1, 2)).Sigmoid()
		}},
		{"convolution", func(w *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			weights := w.rng.Uniform(w.d, -1, 1, 1+r.IntN(9), 1, 3)
			y := line(x).Conv(weights, nil, tensor.ConvOptions{Padding: []int{1}})
			return y.ReLU().Add(line(x)).Reshape(-1)
		}},
		{"spread", func(w *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			weights := w.rng.Uniform(w.d, -1, 1, 1, 2, 3)
			return line(x).ConvTranspose(weights, nil, tensor.ConvTransposeOptions{Stride: []int{2}}).Tanh().Reshape(-1)
		}},
		{"pool", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return line(x).MaxPool([]int{2}, tensor.MaxPoolOptions{Stride: []int{1 + r.IntN(2)}}).Exp().Reshape(-1)
		}},
		{"mean of a window", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return line(x).AvgPool([]int{3}, tensor.AvgPoolOptions{Stride: []int{1}}).AddScalar(1).Reshape(-1)
		}},
		{"sum of columns", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor {
			return x.Sum(0).MulScalar(0.25).Tanh()
		}},
	}
	for range 3 {
		list = append(list, products...)
	}
	return list
}

// TestRandomStored: steps of products, convolutions, pools and sums with maps behind them have the
// bits of eager ones, and at least half as many maps as steps are computed where something is stored.
func TestRandomStored(t *testing.T) {
	for _, sel := range devtest.Selected() {
		n, options := 1500, []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			n, options = 50, []tensor.Options{{}, devtest.GPUKernels()}
		}
		if !devtest.Sweep() {
			n = min(n/25, 60)
		}
		for _, opt := range options {
			t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) {
				d := devtest.Open(t, sel, opt)
				var explained bytes.Buffer
				ops := map[string]int{}
				for seed := range n {
					o := replay.Options{Explain: &explained}
					if seed%3 == 0 { // nothing joins the maps before
						o.Without = []string{"inline", "join"}
					}
					randomSteps(t, d, devtest.Seed(seed), ops, func(w *world) { w.table, w.most = storedOps(), seed%2 == 0 }, o)
				}
				if done := strings.Count(explained.String(), ": computed where "); done < max(1, n/2) {
					t.Errorf("of %d steps %d maps were computed where something is stored", n, done)
				}
				for _, want := range []string{"computed where", "stored, too", "but for its sums", "epilogue: "} {
					if n > 50 && !strings.Contains(explained.String(), want) {
						t.Errorf("no %q", want)
					}
				}
				for _, op := range storedOps() {
					if ops[op.name] == 0 && n > 100 {
						t.Errorf("no step did %q", op.name)
					}
				}
			})
		}
	}
}

// TestStored: what is computed where a product stores its result, and what is refused, by the
// number of launches and by what is said of it.
func TestStored(t *testing.T) {
	devices := devtest.Keep(t)
	type tensors = []*tensor.Tensor
	list := func(t ...*tensor.Tensor) tensors { return t }
	for name, c := range map[string]struct {
		make     func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors)
		launches int
		says     string
	}{
		"a residual": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 33, 20), rng.Uniform(d, -1, 1, 20, 20)
			return func() tensors { return list(x.MatMul(w).Add(x)) }, list(x), nil
		}, 1, "computed where 0 k_gemm_nn stores its result"},
		"a result that is read again": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 32, 20), rng.Uniform(d, -1, 1, 20, 20)
			return func() tensors { y := x.MatMul(w); return list(y.Exp(), y) }, list(x), nil
		}, 1, "which is stored, too"},
		"bias, by column and by row, and a scale": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w, b, r := rng.Uniform(d, -1, 1, 37, 12), rng.Uniform(d, -1, 1, 12, 24), rng.Uniform(d, -1, 1, 24), rng.Uniform(d, -1, 1, 37, 1)
			return func() tensors { return list(x.MatMul(w).Add(b).Mul(r).MulScalar(0.3).ReLU()) }, list(x, b, r), nil
		}, 1, "computed where"},
		"a sum in place": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w, g := rng.Uniform(d, -1, 1, 9, 12), rng.Uniform(d, -1, 1, 12, 24), rng.Uniform(d, -1, 1, 9, 24)
			return func() tensors { g.MapInPlace(fn.Add, nil, x.MatMul(w)); return nil }, list(x), list(g)
		}, 1, "computed where"},
		"the transpose of a small product": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 9, 12), rng.Uniform(d, -1, 1, 12, 24)
			return func() tensors { return list(x.MatMul(w).Transpose().Neg()) }, list(x), nil
		}, 1, "computed where"},
		"the transpose of a large one": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w, o := rng.Uniform(d, -1, 1, 300, 12), rng.Uniform(d, -1, 1, 12, 300), tensor.Zeros(d, 300, 300)
			return func() tensors { o.SetInPlace(x.MatMul(w).Transpose()); return nil }, list(x), list(o)
		}, 2, "across the rows of large tensors"},
		"an operand of the product that is written over": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -0.1, 0.1, 20, 20), rng.Uniform(d, -0.1, 0.1, 20, 20)
			return func() tensors { w.SetInPlace(x.MatMul(w).Tanh()); return nil }, list(x), list(w)
		}, 2, "it writes what the former reads or writes"},
		"the result and itself in another order": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 20, 20), rng.Uniform(d, -1, 1, 20, 20)
			return func() tensors { y := x.MatMul(w); return list(y.Sub(y.T())) }, list(x), nil
		}, 2, "refused"},
		"a part of the result": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 20, 20), rng.Uniform(d, -1, 1, 20, 20)
			return func() tensors { return list(x.MatMul(w).Slice(0, 3, 9).Neg()) }, list(x), nil
		}, 2, "it does not read the result whole, each element once"},
		"a result that is repeated": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w, b := rng.Uniform(d, -1, 1, 1, 20), rng.Uniform(d, -1, 1, 20, 20), rng.Uniform(d, -1, 1, 7, 20)
			return func() tensors { return list(x.MatMul(w).Add(b)) }, list(x, b), nil
		}, 2, "it does not read the result whole, each element once"},
		"two products": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 20, 20), rng.Uniform(d, -1, 1, 20, 20)
			return func() tensors { return list(x.MatMul(w).Mul(w.MatMul(x))) }, list(x), nil
		}, 2, "computed where 1 k_gemm_nn stores its result"},
		"a long sum": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w, b := rng.Uniform(d, -1, 1, 20, 700), rng.Uniform(d, -1, 1, 700, 20), rng.Uniform(d, -1, 1, 20)
			return func() tensors { return list(x.MatMul(w).Add(b).Abs()) }, list(x, b), nil
		}, 2, "a long sum is added up where its result lies"},
		"a long sum that a map writes over": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 20, 700), rng.Uniform(d, -1, 1, 700, 20)
			return func() tensors { y := x.MatMul(w); y.MapInPlace(fn.Abs, nil); return list(y) }, list(x), nil
		}, 2, "a long sum is added up where its result lies"},
		"a batch": {func(d tensor.Device, rng *tensor.RNG) (func() tensors, tensors, tensors) {
			x, w := rng.Uniform(d, -1, 1, 5, 6, 8), rng.Uniform(d, -1, 1, 5, 8, 4)
			b := rng.Uniform(d, -1, 1, 4)
			return func() tensors { return list(x.MatMul(w).Add(b).Mul(b)) }, list(x, b), nil
		}, 1, "computed where"},
	} {
		t.Run(name, func(t *testing.T) {
			devices.Each(t, true, func(t *testing.T, d tensor.Device) {
				explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
					return c.make(d, tensor.NewRNG(5))
				})
				if d.Target().CPU && (report.Launches != c.launches || !strings.Contains(explained, c.says)) { // GPUs share long sums out
					t.Errorf("%d launches, not %d, or not %q:\n%s", report.Launches, c.launches, c.says, explained)
				}
				_, off := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
					return c.make(d, tensor.NewRNG(5))
				}, replay.Options{Without: []string{"epilogue"}})
				if c.launches == 1 && off.Launches < 2 {
					t.Errorf("%d launches without the rewrite", off.Launches)
				}
			})
		})
	}
}

// TestStoredOnGPUs: convolutions, pools, sums and their gradients take maps in the forms for GPUs,
// also where each launch is compared with its host kernel.
func TestStoredOnGPUs(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		for _, check := range []bool{false, true} {
			storedOnGPU(t, devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Check: check})))
		}
	}
}

func storedOnGPU(t *testing.T, d tensor.Device) {
	t.Helper()
	explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
		rng := tensor.NewRNG(3)
		x, w := rng.Uniform(d, -1, 1, 2, 3, 10, 12), autograd.Param(rng.Uniform(d, -1, 1, 9, 3, 3, 3), "w")
		b := autograd.Param(rng.Uniform(d, -1, 1, 9), "b")
		return func() []*tensor.Tensor {
			y := autograd.Const(x).Conv(w, b, tensor.ConvOptions{Padding: []int{1}}).ReLU().MaxPool([]int{2, 2}).Tanh()
			z := y.Sum(0).MulScalar(0.5).Add(y.AvgPool([]int{1, 1}).Mean(0))
			z.Retain()
			if err := z.Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			grads := []*tensor.Tensor{w.Grad().Copy(), b.Grad().Copy(), z.Value()}
			w.ZeroGrad()
			b.ZeroGrad()
			return grads
		}, []*tensor.Tensor{x}, nil
	})
	for _, want := range []string{"k_relu: computed where 0 k_conv", "k_max_pool stores its result", "k_relu_grad_by_value: computed where"} {
		if !strings.Contains(explained, want) {
			t.Errorf("no %q among\n%s", want, explained)
		}
	}
	if report.Launches >= report.Step {
		t.Errorf("%d launches of %d", report.Launches, report.Step)
	}
}

// doubling is a kernel of a user's own, Y = 2·X, that lets maps be computed where it stores. With a
// map, it computes times that.
func doubling(times string) *kernels.Kernel {
	text := `// @depends: common, epilogue
#ifdef NUM // of the formula of a map
#define TIMES ` + times + `
#else
#define TIMES 2
#endif
kernel void doubled(IN(X), OUT(Y), int n PUT_PARAMS) {
    const int i = get_global_id(0);
    if (i < n) PUT(Y + Y_off, i, TIMES * X[X_off + i]);
}`
	host := func(n int, x func(i int) float64, y func(i int, v float64)) {
		for i := range n {
			y(i, 2*x(i))
		}
	}
	return &kernels.Kernel{Name: "doubled", Text: text, Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid: kernels.GridFromArg(2),
		Host: kernels.HostKernel{
			F32: func(c kernels.HostArgs[float32]) {
				host(c.Int(2), func(i int) float64 { return float64(c.Floats(0)[i]) },
					func(i int, v float64) { c.Floats(1)[i] = float32(v) })
			},
			F64: func(c kernels.HostArgs[float64]) {
				host(c.Int(2), func(i int) float64 { return c.Floats(0)[i] }, func(i int, v float64) { c.Floats(1)[i] = v })
			}},
		Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Out(n).Int(n) }),
		Fusions: fused.Fusions{Epilogue: &fused.EpilogueSpec{Result: 1, CPU: 1, GPU: 1,
			Elements: func(a []kernels.Arg) (n, row int) {
				return int(a[2].Int), int(a[2].Int)
			}}}}
}

// TestStoredByOthers: a kernel from outside this module takes maps, too; where a device computes
// them wrongly, they are launches of their own.
func TestStoredByOthers(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		for times, launches := range map[string]int{"2": 1, "3": 2} {
			if times == "3" && strings.HasPrefix(d.Name(), "cpu") {
				launches = 1 // it computes the host kernel
			}
			k := doubling(times)
			explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
				x := tensor.Empty(d, 40, 3)
				return func() []*tensor.Tensor {
					y := tensor.Empty(d, 40, 3)
					tensor.Launch(d, k, x.Arg(), y.Arg(), kernels.IntArg(x.Len()))
					return []*tensor.Tensor{y.Add(x).Neg()}
				}, []*tensor.Tensor{x}, nil
			})
			if report.Launches != launches || launches == 2 && !strings.Contains(explained, "computes it wrongly") {
				t.Errorf("times %s: %d launches, want %d:\n%s", times, report.Launches, launches, explained)
			}
		}
	}
	devtest.Each(t, true, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
