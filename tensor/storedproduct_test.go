package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// onUnitsToo runs f on the devices under test, and as one that reads operands of 16 bits as they lie.
func onUnitsToo(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) { f(t, devtest.Open(t, sel, tensor.Options{})) })
	}
	t.Run("as matrix units", func(t *testing.T) {
		d := devtest.Open(t, "cpu", devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
		tensorapi.Impl.AsMatrixUnits(d, true)
		f(t, d)
	})
}

// TestStoredProducts: products of 16 bits of operands that begin and lie at multiples of 16 bytes,
// and of views that do not, are what float64 computes of them.
func TestStoredProducts(t *testing.T) {
	onUnitsToo(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(1, 9))
		draw := func(typ tensor.Type, shape ...int) *tensor.Tensor {
			n := 1
			for _, s := range shape {
				n *= s
			}
			data := make([]float64, n)
			for i := range data {
				data[i] = 2*r.Float64() - 1
			}
			return tensor.NewOf(d, typ, data, shape...)
		}
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			wide := draw(typ, 200, 208)
			few := draw(typ, 2, 3, 72, 128)
			for name, c := range map[string][2]*tensor.Tensor{
				"whole":                      {draw(typ, 128, 136), draw(typ, 136, 104)},
				"odd ends":                   {wide.Slice(0, 0, 131).Slice(1, 0, 201), wide.T().Slice(0, 0, 201).Slice(1, 0, 99)},
				"views at multiples of 8":    {wide.Slice(0, 3, 131).Slice(1, 8, 136), wide.Slice(0, 1, 129).Slice(1, 16, 150)},
				"views at others":            {wide.Slice(0, 3, 131).Slice(1, 9, 137), wide.Slice(0, 1, 129).Slice(1, 3, 150)},
				"both transposed":            {wide.Slice(1, 8, 136).T(), draw(typ, 104, 200).T()},
				"a batch":                    {few, few.Transpose(0, 1, 3, 2)},
				"a batch with one repeated":  {few, draw(typ, 3, 128, 80)},
				"a batch times one":          {few, draw(typ, 128, 72)},
				"a long sum of few elements": {draw(typ, 64, 4224), draw(typ, 4224, 32)},
			} {
				a, b := c[0], c[1]
				got := a.MatMul(b)
				if got.Type() != typ {
					t.Fatalf("%s: a product of %v is of %v", name, typ, got.Type())
				}
				closeToWide(t, fmt.Sprintf("%v, %s", typ, name), got, a, b, nil)
			}
			// A layer, and a product that is added to float32.
			x, w, bias := draw(typ, 128, 136), draw(typ, 136, 104), draw(typ, 104)
			biases := devtest.Float64s(t, bias)
			closeToWide(t, fmt.Sprint(typ, ", a layer"), tensor.Linear(x, w, bias, fn.ReLU), x, w,
				func(v float64, j int) float64 { return max(0, v+biases[j]) })
			sum := tensor.Full(d, 3, 128, 104).To(tensor.Float32)
			tensorapi.Impl.MatMulInto(sum, x, w, true)
			closeToWide(t, fmt.Sprint(typ, ", added"), sum, x, w, func(v float64, _ int) float64 { return v + 3 })
		}
	})
}

// closeToWide compares a product of two matrices, or of a batch, or what f makes of its elements and
// their columns, with float64's.
func closeToWide(t *testing.T, name string, got, a, b *tensor.Tensor, f func(v float64, column int) float64) {
	t.Helper()
	x, w := a.To(tensor.Float64), b.To(tensor.Float64)
	want, size := devtest.Float64s(t, x.MatMul(w)), devtest.Float64s(t, x.Abs().MatMul(w.Abs()))
	eps, _ := got.Type().Epsilon()
	k, n := a.Shape()[a.Rank()-1], b.Shape()[b.Rank()-1]
	for i, v := range devtest.Float64s(t, got) {
		z := want[i]
		if f != nil {
			z = f(z, i%n)
		}
		if bound := float64(k+8)*0x1p-23*(size[i]+4) + eps/2*math.Abs(z)*(1+eps) + 1e-7; !(math.Abs(v-z) <= bound) {
			t.Fatalf("%s: element %d is %v, want %v within %.2g", name, i, v, z, bound)
		}
	}
}

// TestStoredExtremes: infinities, NaN and sums that float16 does not hold come through a product of
// 16 bits as through one of float32 that is rounded.
func TestStoredExtremes(t *testing.T) {
	onUnitsToo(t, func(t *testing.T, d tensor.Device) {
		const n = 128
		data := make([]float64, n*n)
		for i := range data {
			data[i] = 1
		}
		data[0], data[n], data[2*n], data[3*n] = math.Inf(1), math.NaN(), 60000, -60000
		data[2*n+1], data[3*n+1] = 60000, -60000
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			a, ones := tensor.NewOf(d, typ, data, n, n), tensor.Full(d, 1, n, n).To(typ)
			got := devtest.Float64s(t, a.MatMul(ones))
			want := devtest.Float64s(t, a.To(tensor.Float32).MatMul(ones.To(tensor.Float32)).To(typ))
			for i := range got {
				if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
					t.Fatalf("%v: row %d is %v, want %v", typ, i/n, got[i], want[i])
				}
			}
			if typ == tensor.Float16 && !(math.IsInf(got[2*n], 1) && math.IsInf(got[3*n], -1)) {
				t.Errorf("sums beyond float16 are %v and %v", got[2*n], got[3*n])
			}
		}
	})
}

// TestStoredLaunches: a device that reads operands of 16 bits as they lie computes their product, and
// rounds it, in one launch.
func TestStoredLaunches(t *testing.T) {
	d := devtest.Open(t, "cpu", devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
	tensorapi.Impl.AsMatrixUnits(d, true)
	a, b := tensor.Full(d, 1, 128, 136).To(tensor.BFloat16), tensor.Full(d, 1, 2, 136, 128).To(tensor.BFloat16)
	one := b.Slice(0, 1, 2).Reshape(136, 128)
	for name, f := range map[string]func(){
		"a product":  func() { a.MatMul(one) },
		"transposed": func() { one.T().MatMul(a.T()) },
		"a batch":    func() { a.MatMul(b) },
		"a layer":    func() { tensor.Linear(a, one, nil, fn.Tanh) },
	} {
		before := d.Stats().Launches
		f()
		if n := d.Stats().Launches - before; n != 1 {
			t.Errorf("%s: %d launches", name, n)
		}
	}
}
