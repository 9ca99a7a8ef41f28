package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// gauss is a function of a program's own, of two scalars.
var gauss = &kernels.Function{Name: "own, e.g. Gauß", Value: expr.X(0).Sub(expr.S(0)).Square().Mul(expr.S(1)).Neg().Exp(), Scalars: []float64{0.5, 2}}

// TestLinearFunctions: a layer is its function of the product and the bias, and what it stores for its gradient is their
// sum, at odd sizes, of transposed operands and of views with gaps.
func TestLinearFunctions(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(1, 9))
		for i, f := range []*kernels.Function{gauss, kernels.Clamp, kernels.Softplus, kernels.LeakyReLU, kernels.Tanh} {
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
				got, kept := plumbing.Linear(x, w, on(d, bias), f, scalars, true)
				expect(t, what+" in a graph", got, y, 1e-5)
				if (kept == nil) != (f == kernels.Tanh || f == kernels.LeakyReLU) {
					t.Errorf("%s: an operand is stored: %v", what, kept != nil)
				}
				if kept != nil {
					expect(t, what+", its operand", kept, z, 1e-5)
				}
			}
		}
	})
}

// TestLinearForgets: a function that a program no longer has is not kept by the layers that it was in.
func TestLinearForgets(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Full(d, 1, 2, 2)
	use := func() weak.Pointer[kernels.Function] {
		f := &kernels.Function{Name: "mine", Value: expr.X(0).Cos()}
		tensor.Linear(x, x, nil, f)
		plumbing.LinearGrad(f.Gradient(0), nil, x, x, x)
		return weak.Make(f)
	}
	f := use()
	plumbing.TakeLaunched(d)
	for range 3 {
		runtime.GC()
	}
	if f.Value() != nil {
		t.Error("the function is still there")
	}
}
