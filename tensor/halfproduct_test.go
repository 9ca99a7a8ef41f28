package tensor_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestProductsInSixteenBits: a product of operands of 16 bits, of any size and layout, in a batch, with an epilogue or
// added to what is there, is one launch on a CPU, and has the bits of that of float32, rounded once. So has one of 16
// bits and float32.
func TestProductsInSixteenBits(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		if !d.Target().CPU {
			t.Skip("a GPU converts operands, or multiplies 16 bits on matrix units: see TestHalfProducts")
		}
		types := []tensor.Type{tensor.BFloat16, tensor.Float16}
		for i, typ := range types {
			rng := tensor.NewRNG(uint64(5 + i))
			draw := func(shape ...int) *tensor.Tensor { return rng.Normal(d, 0, 1, shape...).To(typ) }
			same := func(name string, launches int, f func(wide bool) *tensor.Tensor) {
				t.Helper()
				before := d.Stats().Launches
				got := f(false)
				if n := d.Stats().Launches - before; int(n) != launches {
					t.Errorf("%v: %s: %d launches, want %d", typ, name, n, launches)
				}
				want := f(true).To(got.Type())
				g, w := devtest.Float64s(t, got), devtest.Float64s(t, want)
				for j := range w {
					if g[j] != w[j] && !(math.IsNaN(g[j]) && math.IsNaN(w[j])) {
						t.Fatalf("%v: %s of %v: element %d is %v, of float32 %v", typ, name, got.Shape(), j, g[j], w[j])
					}
				}
			}
			of := func(wide bool, x *tensor.Tensor) *tensor.Tensor {
				turned := func(x *tensor.Tensor) *tensor.Tensor {
					if x.Rank() == 3 {
						return x.Transpose(0, 2, 1)
					}
					return x.Transpose()
				}
				switch {
				case !wide:
					return x
				case !x.IsContiguous() && turned(x).IsContiguous(): // in the same layout
					return turned(turned(x).To(tensor.Float32))
				}
				return x.To(tensor.Float32)
			}
			product := func(name string, launches int, a, b *tensor.Tensor) {
				t.Helper()
				same(name, launches, func(wide bool) *tensor.Tensor { return of(wide, a).MatMul(of(wide, b)) })
			}
			sizes := [][3]int{{1, 1, 1}, {1, 600, 130}, {3, 270, 65}, {8, 33, 17}, {9, 300, 300}, {67, 513, 70}, {300, 37, 300}, {60, 40, 3}, {2, 5, 0}}
			if tensorapi.Impl.TuningName(d) != "" {
				sizes = sizes[i : len(sizes)-1-i]
			}
			for _, s := range sizes {
				m, k, n := s[0], s[1], s[2]
				launches := min(1, n)
				product("nn", launches, draw(m, k), draw(k, n))
				product("nt", launches, draw(m, k), draw(n, k).T())
				product("tn", launches, draw(k, m).T(), draw(k, n))
				product("tt", launches, draw(k, m).T(), draw(n, k).T())
			}
			product("views", 1, draw(40, 60).Slice(0, 3, 30).Slice(1, 5, 44), draw(60, 50).Slice(0, 7, 46).Slice(1, 1, 36))
			product("no steps", 1, tensor.Zeros(d, 3, 0).To(typ), tensor.Zeros(d, 0, 4).To(typ))
			product("a batch that repeats", 1, draw(2, 1, 20, 30), draw(3, 30, 24))
			product("rows of a batch", 1, draw(3, 20, 30), draw(30, 24))
			product("a batch of long sums", 1, draw(4, 21, 300), draw(4, 70, 300).Transpose(0, 2, 1))

			special := draw(20, 300)
			for j, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 60000, math.Copysign(0, -1)} {
				special.Slice(0, j, j+1).Slice(1, 7*j, 7*j+1).FillInPlace(v)
			}
			product("infinities and NaN", 1, special, draw(300, 40))
			product("infinities and NaN on the right", 1, draw(40, 300), special.T())

			x, w, b := draw(37, 300), draw(300, 65), draw(65)
			same("a layer", 1, func(wide bool) *tensor.Tensor { return tensor.Linear(of(wide, x), of(wide, w), of(wide, b), fn.Tanh) })
			same("a layer without bias", 1, func(wide bool) *tensor.Tensor { return tensor.Linear(of(wide, x), of(wide, w), nil, fn.Tanh) })
			wide := b.To(tensor.Float32)
			same("a layer with a bias of float32", 1, func(of32 bool) *tensor.Tensor { return tensor.Linear(of(of32, x), of(of32, w), wide, nil) })
			outer, u, v := draw(19, 40), draw(300, 19), draw(300, 40)
			same("outer products", 2, func(wide bool) *tensor.Tensor {
				sum := of(wide, outer).Copy()
				sum.OuterAccInPlace(of(wide, u), of(wide, v))
				return sum
			})
			single := rng.Normal(d, 0, 1, 300, 24)
			same("float32 on the right", 1, func(wide bool) *tensor.Tensor { return of(wide, x).MatMul(single) })
			same("float32 on the left", 1, func(wide bool) *tensor.Tensor { return single.T().MatMul(of(wide, w)) })
			same("a batch by float32", 1, func(wide bool) *tensor.Tensor { return of(wide, x).MatMul(single.Reshape(2, 300, 12)) })
			sum := rng.Normal(d, 0, 1, 37, 65)
			same("added to float32", 2, func(wide bool) *tensor.Tensor {
				to := sum.Copy()
				tensorapi.Impl.MatMulInto(to, of(wide, x), of(wide, w), true)
				return to
			})
		}
	})
}
