package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfProducts: a product of two matrices of 16 bits is that of their numbers as float32
// computes it, rounded once, in all forms, batches and sizes around those of tiles, on ordinary units
// and as matrix units compute it.
func TestHalfProducts(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(4, 2))
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			eps, _ := typ.Epsilon()
			for _, s := range [][4]int{{1, 128, 130, 100}, {3, 100, 70, 80}, {1, 3, 5, 7}, {2, 1, 1, 1}} {
				batch, m, n, k := s[0], s[1], s[2], s[3]
				for form := range 4 {
					draw := func(rows, cols int, turned bool) *tensor.Tensor {
						data := make([]float64, batch*rows*cols)
						for i := range data {
							data[i] = 2*r.Float64() - 1
						}
						if turned {
							return tensor.NewOf(d, typ, data, batch, cols, rows).Transpose(0, 2, 1)
						}
						return tensor.NewOf(d, typ, data, batch, rows, cols)
					}
					a, b := draw(m, k, form&1 != 0), draw(k, n, form&2 != 0)
					va, vb, got := devtest.Float64s(t, a), devtest.Float64s(t, b), a.MatMul(b)
					if got.Type() != typ {
						t.Fatalf("a product of %v is of %v", typ, got.Type())
					}
					for at, v := range devtest.Float64s(t, got) {
						z, i, j := at/(m*n), at/n%m, at%n
						sum, size := 0.0, 0.0
						for q := range k {
							x := va[z*m*k+i*k+q] * vb[z*k*n+q*n+j]
							sum, size = sum+x, size+math.Abs(x)
						}
						if bound := float64(k+8)*0x1p-23*size + eps/2*math.Abs(sum)*(1+eps); math.Abs(v-sum) > bound+1e-7 {
							t.Fatalf("%v of %v, form %d: element %d is %v, want %v within %.2g", s, typ, form, at, v, sum, bound)
						}
					}
				}
			}
		}
	}
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{})) })
	}
	t.Run("as matrix units", func(t *testing.T) {
		for _, grouped := range []bool{true, false} {
			d := devtest.Open(t, "cpu", devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
			tensorapi.Impl.AsMatrixUnits(d, grouped)
			check(t, d)
		}
		d := devtest.Open(t, "cpu", devtest.GPUKernels(tensor.Options{SkipSelfTest: true}))
		tensorapi.Impl.AsMatrixUnits(d, false)
		x := tensor.NewOf(d, tensor.BFloat16, []float64{1, 0x1p-100, math.Inf(1), math.NaN(), 3e38, 0}, 2, 3).Tile(64, 32)
		if got := fmt.Sprint(devtest.Float64s(t, x.MatMul(x.T()))[1]); got != "NaN" {
			t.Errorf("a product with NaN is %s", got)
		}
	})
}
