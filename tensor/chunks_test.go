package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// TestSumsInChunks: sums of lengths about those at which the number of chunks changes are those of
// all elements, in one launch for one chunk and in two for more.
func TestSumsInChunks(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const chunk, most = 16384, 256
		for _, c := range []struct {
			n        int
			launches int64
		}{
			{1, 1}, {15, 1}, {16, 1}, {17, 1}, {chunk - 1, 1}, {chunk, 1}, {chunk + 1, 2}, {2*chunk - 1, 2}, {2 * chunk, 2}, {2*chunk + 1, 2},
			{5*chunk + 77, 2}, {most*chunk - 1, 2}, {most * chunk, 2}, {most*chunk + 1, 2}, {(most+3)*chunk + 5, 2},
		} {
			// Twos between ones, whose sums are exact: a chunk left out, or summed twice, is seen.
			x := tensor.Full(d, 1, c.n)
			last := x.Slice(0, c.n-1, c.n)
			last.FillInPlace(2)
			zeros := tensor.Zeros(d, c.n)
			for name, f := range map[string]func() *tensor.Tensor{
				"Sum":  func() *tensor.Tensor { return x.Sum() },
				"Mean": func() *tensor.Tensor { return x.Mean().MulScalar(float64(c.n)) },
				"SquaredError": func() *tensor.Tensor {
					sum, grad := tensorapi.Impl.SquaredError(x, zeros)
					if v, err := grad.Slice(0, c.n-1, c.n).Item(); v != 4 || err != nil {
						t.Errorf("%d elements: the last gradient is %v (err %v)", c.n, v, err)
					}
					return sum
				},
			} {
				want, launches := float64(c.n+1), c.launches
				switch name {
				case "SquaredError":
					want = float64(c.n + 3)
				case "Mean":
					launches++ // to multiply
				}
				before := d.Stats().Launches
				y := f()
				if n := d.Stats().Launches - before; n != launches {
					t.Errorf("%s of %d elements: %d launches, want %d", name, c.n, n, launches)
				}
				if v, err := y.Item(); err != nil || v-want > 1e-6*want || want-v > 1e-6*want {
					t.Errorf("%s of %d elements: %v, want %v (err %v)", name, c.n, v, want, err)
				}
			}
			x.Free()
			zeros.Free()
		}
	})
}

// TestProductsOfViews: a product reads transposed matrices, and rows and columns of wider ones,
// where they are. It copies one where neither rows nor columns are contiguous.
func TestProductsOfViews(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		big := rng.Uniform(d, -1, 1, 12, 12)
		part := func(m, n int) *tensor.Tensor { return big.Slice(0, 5, 5+m).Slice(1, 2, 2+n) }
		for _, c := range []struct {
			name     string
			a, b     *tensor.Tensor
			launches int64
		}{
			{"parts", part(4, 3), part(3, 5), 1},
			{"transposed parts by parts", part(3, 4).T(), part(3, 5), 1},
			{"parts by transposed parts", part(4, 3), part(5, 3).T(), 1},
			{"both transposed", part(3, 4).T(), part(5, 3).T(), 1},
			{"one row", part(1, 3), part(3, 5), 1},
			{"one row, transposed column", part(3, 1).T(), part(3, 5), 1},
			{"one column", part(4, 1), part(1, 5), 1},
			{"to one column", part(4, 3), part(3, 1), 1},
			{"to one column, a transposed row", part(4, 3), part(1, 3).T(), 1},
			{"one element", part(1, 1), part(1, 1), 1},
			{"a repeated row", part(1, 3).Expand(4, 3), part(3, 5), 2},
			{"a repeated column", part(4, 1).Expand(4, 3), part(3, 5), 2},
			{"by a repeated row", part(4, 3), part(1, 5).Expand(3, 5), 2},
			{"by a repeated column", part(4, 3), part(3, 1).Expand(3, 5), 2},
			{"a column, transposed and repeated", part(3, 1).T().Expand(4, 3), part(3, 5), 2},
			{"a row, transposed and repeated", part(1, 4).T().Expand(4, 3), part(3, 5), 2},
			{"by a column, transposed and repeated", part(4, 3), part(5, 1).T().Expand(3, 5), 2},
			{"by a row, transposed and repeated", part(4, 3), part(1, 3).T().Expand(3, 5), 2},
			{"repeated and transposed", part(1, 4).Expand(3, 4).T(), part(5, 3).T(), 2},
			{"transposed by repeated", part(3, 4).T(), part(3, 1).Expand(3, 5), 2},
		} {
			m, k, n := c.a.Shape()[0], c.a.Shape()[1], c.b.Shape()[1]
			a, err := c.a.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.b.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			want := array{[]int{m, n}, make([]float64, m*n)}
			each([]int{m, n, k}, func(i []int) { want.data[i[0]*n+i[1]] += a[i[0]*k+i[2]] * b[i[2]*n+i[1]] })
			before := d.Stats().Launches
			y := c.a.MatMul(c.b)
			if got := d.Stats().Launches - before; got != c.launches {
				t.Errorf("%s: %d launches, want %d", c.name, got, c.launches)
			}
			expect(t, fmt.Sprint(c.name, c.a.Shape(), c.b.Shape()), y, want, 1e-6)
		}
	})
}

// TestSumRowsInto: the leading axes of any tensor that ends in the shape of the destination are
// summed into it, or onto it; one row is its own sum.
func TestSumRowsInto(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			dst, x []int
			ok     bool
		}{
			{[]int{3}, []int{2, 3}, true}, {[]int{3}, []int{3}, true}, {[]int{2, 3}, []int{4, 2, 3}, true}, {[]int{2, 3}, []int{2, 3}, true},
			{[]int{1, 3}, []int{2, 3}, true}, {[]int{}, []int{5}, true}, {[]int{}, []int{}, true}, {[]int{3}, []int{0, 3}, true},
			{[]int{2}, []int{2, 3}, false}, {[]int{2, 1}, []int{2, 3}, false}, {[]int{2, 3}, []int{3}, false}, {[]int{0}, []int{3, 0}, false},
		} {
			x := tensor.NewRNG(1).Uniform(d, 0, 1, c.x...)
			for _, accumulate := range []bool{false, true} {
				dst := tensor.Full(d, 7, c.dst...)
				err := tensor.Try(func() { tensorapi.Impl.SumRowsInto(dst, x, accumulate) })
				if !c.ok {
					failsWith(t, err, tensor.ErrShape)
					continue
				}
				if err != nil {
					t.Errorf("%v into %v: %v", c.x, c.dst, err)
					continue
				}
				data, err := x.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				want := array{c.dst, make([]float64, size(c.dst))}
				for i := range want.data {
					if accumulate {
						want.data[i] = 7
					}
					for j := i; j < len(data); j += len(want.data) {
						want.data[i] += data[j]
					}
				}
				expect(t, fmt.Sprint(c.x, " into ", c.dst), dst, want, 1e-6)
			}
		}
	})
}
