package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// hessian returns the gradients by x, and by row the gradients of each of them, of the sum of f(x).
func hessian(t *testing.T, d tensor.Device, f func(x *node) *node, v []float64) (first []float64, second [][]float64) {
	t.Helper()
	x := param(d, v...)
	g := grad(t, f(x).Sum(), []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
	for i := range v {
		row := grad(t, g.Slice(0, i, i+1).Sum(), []*node{x}, autograd.GradOptions{Retain: true})[0]
		second = append(second, values(t, row.Value()))
	}
	return values(t, g.Value()), second
}

// TestSecondGradientsAtInfinity: the gradients of gradients beside infinities are finite where
// PyTorch's are: those of norms of negative powers, of which an infinity is no part. A share of 1
// between equal infinities is a constant.
func TestSecondGradientsAtInfinity(t *testing.T) {
	norm := func(p float64) func(x *node) *node { return func(x *node) *node { return x.Norm(p) } }
	sum := func(x *node) *node { return x.LogSumExp() }
	running := func(x *node) *node { return x.LogCumSumExp(0) }
	none := func(n int) (rows [][]float64) {
		for range n {
			rows = append(rows, make([]float64, n))
		}
		return rows
	}
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			name   string
			f      func(x *node) *node
			x      []float64
			first  []float64
			second [][]float64
		}{
			{"Norm(-1)", norm(-1), []float64{2, inf, 1}, []float64{1. / 9, 0, 4. / 9}, [][]float64{{-2. / 27, 0, 4. / 27}, {0, 0, 0}, {4. / 27, 0, -8. / 27}}},
			{"Norm(-1)", norm(-1), []float64{2, -inf, -1}, []float64{1. / 9, 0, -4. / 9}, [][]float64{{-2. / 27, 0, -4. / 27}, {0, 0, 0}, {-4. / 27, 0, -8. / 27}}},
			{"Norm(-2)", norm(-2), []float64{2, inf, 1}, []float64{0.0894427191, 0, 0.71554175279},
				[][]float64{{-0.1073312629, 0, 0.2146625258}, {0, 0, 0}, {0.2146625258, 0, -0.4293250517}}},
			{"Norm(-0.5)", norm(-0.5), []float64{2, inf, 1}, []float64{0.07106781187, 0, 0.20101012678},
				[][]float64{{-0.0312229203, 0, 0.0624458405}, {0, 0, 0}, {0.0624458405, 0, -0.1248916810}}},
			{"Norm(-1)", norm(-1), []float64{inf, 0, 1}, []float64{0, 0, 0}, none(3)},
			{"Norm(0.5)", norm(0.5), []float64{2, 0, 3}, []float64{2.22474487139, 0, 1.81649658093},
				[][]float64{{-0.30618621785, 0, 0.20412414523}, {0, 0, 0}, {0.20412414523, 0, -0.13608276349}}},
			{"Norm(3)", norm(3), []float64{2, -1}, []float64{0.9244816991, -0.2311204248}, [][]float64{{0.1027201888, 0.2054403776}, {0.2054403776, 0.4108807552}}},
			{"LogSumExp", sum, []float64{-inf, -inf}, []float64{1, 1}, none(2)},
			{"LogSumExp", sum, []float64{inf, 1, inf}, []float64{1, 0, 1}, none(3)},
			{"LogSumExp", sum, []float64{-inf, 1}, []float64{0, 1}, none(2)},
			{"LogSumExp", sum, []float64{5}, []float64{1}, none(1)},
			{"LogCumSumExp", running, []float64{-inf, -inf}, []float64{2, 1}, none(2)},
			{"LogCumSumExp", running, []float64{-inf, 1}, []float64{1, 1}, none(2)},
			{"LogCumSumExp", running, []float64{inf, 1}, []float64{2, 0}, none(2)},
			{"LogCumSumExp", running, []float64{1, 1}, []float64{1.5, 0.5}, [][]float64{{0.25, -0.25}, {-0.25, 0.25}}},
		} {
			what := fmt.Sprint(c.name, " of ", c.x)
			first, second := hessian(t, d, c.f, c.x)
			if !within(first, c.first, 1e-5) {
				t.Errorf("%s: gradient %v, want %v", what, first, c.first)
			}
			for i, row := range second {
				if !within(row, c.second[i], 1e-5) {
					t.Errorf("%s: gradient of gradient %d: %v, want %v", what, i, row, c.second[i])
				}
			}
		}
	})
}

func within(got, want []float64, off float64) bool {
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= off) {
			return false
		}
	}
	return len(got) == len(want)
}

// TestProductGradientsAtInfinity: gradients of running products beside infinities and NaN are those
// of the formula on every device: Σ g·Π x of the other elements, in which 0·∞ alone is NaN.
func TestProductGradientsAtInfinity(t *testing.T) {
	long := func(special map[int]float64) []float64 {
		v := make([]float64, 5000)
		for i := range v {
			v[i] = 1
		}
		for i, x := range special {
			v[i] = x
		}
		return v
	}
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, v := range [][]float64{{2, inf, 3}, {inf, 0, 3}, {0, inf, 3}, {2, nan, 3}, {nan, 0, 2}, {inf, inf, 1}, {0, 2, inf}, {3, 0, 0, 2, inf}, {2, -inf, 3}, {inf},
			long(map[int]float64{2500: inf}), long(map[int]float64{0: inf}), long(map[int]float64{4999: inf}), long(map[int]float64{17: -inf, 18: -inf}),
			long(map[int]float64{4990: inf, 4000: 0}), long(map[int]float64{4000: inf, 4990: 0}), long(map[int]float64{3000: nan}), long(map[int]float64{100: 0, 3: 0})} {
			n := len(v)
			want, r, before := make([]float64, n), 0.0, 1.0
			for i := n - 1; i >= 0; i-- { // of one to every product
				if i < n-1 {
					r *= v[i+1]
				}
				r++
				want[i] = r
			}
			for i, x := range v {
				want[i] *= before
				before *= x
			}
			for inner := range 2 { // as a row, and as each of two columns
				x := param(d, v...)
				y := x.CumProd(0)
				if inner == 1 {
					y = x.Reshape(n, 1).Expand(n, 2).CumProd(0).MulScalar(0.5)
				}
				for _, opt := range []autograd.GradOptions{{Retain: true}, {CreateGraph: true}} {
					got := values(t, grad(t, y.Sum(), []*node{x}, opt)[0].Value())
					for i, w := range want {
						if got[i] != w && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
							t.Errorf("CumProd of %v…, columns %v, %v: gradient %d is %v, want %v", v[:min(n, 5)], inner == 1, opt, i, got[i], w)
							break
						}
					}
				}
			}
		}
		running := func(x *node) *node { return x.CumProd(0) }
		for _, v := range [][]float64{{inf, 0, 3}, {2, inf, 3}, {0, inf, 3}, {2, 0, nan}} {
			_, want := hessian(t, devtest.CPU(t), running, v)
			_, got := hessian(t, d, running, v)
			for i := range v {
				if !equal(got[i], want[i]) {
					t.Errorf("CumProd of %v: gradient of gradient %d is %v, in Go %v", v, i, got[i], want[i])
				}
			}
		}
	})
}
