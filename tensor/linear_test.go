package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// gauss is a function of a program's own, of two scalars.
var gauss = &kernels.Function{Name: "own, e.g. Gauß", Value: expr.Input(0).Sub(expr.Param(0)).Square().Mul(expr.Param(1)).Neg().Exp(), Scalars: []float64{0.5, 2}}

// TestLinearFunctions: a layer is its function of the product and the bias, and what it stores for
// its gradient is their sum, at odd sizes, of transposed operands and of non-contiguous views.
func TestLinearFunctions(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(1, 9))
		for i, f := range []*kernels.Function{gauss, fn.Clamp, fn.Softplus, fn.LeakyReLU, fn.Tanh} {
			scalars := f.Scalars
			for j, s := range [][3]int{{1, 1, 1}, {5, 3, 7}, {67, 65, 33}, {130, 19, 4}} {
				m, n, k := s[0], s[1], s[2]
				a, b, bias := random(r, m, k), random(r, k, n), random(r, n)
				z := array{[]int{m, n}, make([]float64, m*n)}
				each([]int{m, n, k}, func(i []int) { z.data[i[0]*n+i[1]] += a.data[i[0]*k+i[2]] * b.data[i[2]*n+i[1]] })
				y := array{z.shape, nil}
				for i := range z.data {
					z.data[i] += bias.data[i%n]
					y.data = append(y.data, f.At(scalars, z.data[i]))
				}
				x, w := on(d, a), on(d, b)
				switch form := (i + j) % 4; form {
				case 1:
					x = x.T().Copy().T()
				case 2:
					w = w.T().Copy().T()
				case 3:
					wide := tensor.Full(d, math.NaN(), m, k+3)
					wide.Slice(1, 1, k+1).SetInPlace(x)
					x = wide.Slice(1, 1, k+1)
				}
				what := fmt.Sprint(f.Name, s)
				expect(t, what, tensor.Linear(x, w, on(d, bias), f, scalars...), y, 1e-5)
				got, kept := tensorapi.Impl.Linear(x, w, on(d, bias), f, scalars, true)
				expect(t, what+" in a graph", got, y, 1e-5)
				if (kept == nil) != (f == fn.Tanh || f == fn.LeakyReLU) {
					t.Errorf("%s: an operand is stored: %v", what, kept != nil)
				}
				if kept != nil {
					expect(t, what+", its operand", kept, z, 1e-5)
				}
			}
		}
	})
}

// TestLinearForgets: a function that a program no longer has is not kept by the layers that it was
// in.
func TestLinearForgets(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Full(d, 1, 2, 2)
	use := func() weak.Pointer[kernels.Function] {
		f := &kernels.Function{Name: "mine", Value: expr.Input(0).Cos()}
		tensor.Linear(x, x, nil, f)
		tensorapi.Impl.LinearGrad(f.Gradient(0), nil, x, x, x)
		return weak.Make(f)
	}
	f := use()
	tensorapi.Impl.TakeLaunched(d, "Test")
	for range 3 {
		runtime.GC()
	}
	if f.Value() != nil {
		t.Error("the function is still there")
	}
}

// TestOneKernelForProducts: where a layer comes first, products without a function run its kernel,
// with the bits that their own has; where they come first, they keep theirs.
func TestOneKernelForProducts(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, double := range []bool{false, true} {
			var sums, layers [2][]float64
			var programs [2]int
			for i := range 2 {
				d := devtest.Open(t, sel, tensor.Options{DefaultType: devtest.Floats(double)})
				r := tensor.NewRNG(1)
				x, w, b := r.Uniform(d, -1, 1, 37, 19), r.Uniform(d, -1, 1, 19, 23), r.Uniform(d, -1, 1, 23)
				before := d.Stats().Programs
				product := func() {
					sums[i] = append(devtest.Float64s(t, x.MatMul(w)), devtest.Float64s(t, tensor.Linear(x, w, b, nil))...)
				}
				layer := func() { layers[i] = devtest.Float64s(t, tensor.Linear(x, w, b, fn.Clamp, -1, 1)) }
				if i == 0 {
					product()
					layer()
				} else {
					layer()
					product()
				}
				first := slices.Clone(sums[i])
				if product(); !slices.Equal(sums[i], first) {
					t.Errorf("%s: a product changes from call to call", d.Name())
				}
				programs[i] = d.Stats().Programs - before
			}
			if !slices.Equal(sums[0], sums[1]) || !slices.Equal(layers[0], layers[1]) {
				t.Errorf("%s, double %v: the order of layer and product changes bits", sel, double)
			}
			if sel != "cpu" && programs[1] != programs[0]-1 {
				t.Errorf("%s: %d programs with the layer first, %d with the product first", sel, programs[1], programs[0])
			}
		}
	}
}
