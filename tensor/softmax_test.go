package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// softmaxOf is the definition: of each line of [outer, n, inner], of sign·a.
func softmaxOf(a array, outer, n, inner int, sign float64, logarithm bool) array {
	y := array{a.shape, make([]float64, len(a.data))}
	for o := range outer {
		for i := range inner {
			at := func(k int) int { return (o*n+k)*inner + i }
			most, sum := math.Inf(-1), 0.0
			for k := range n {
				most = math.Max(most, sign*a.data[at(k)])
			}
			for k := range n {
				sum += math.Exp(sign*a.data[at(k)] - most)
			}
			for k := range n {
				d := sign*a.data[at(k)] - most
				if y.data[at(k)] = math.Exp(d) / sum; logarithm {
					y.data[at(k)] = d - math.Log(sum)
				}
			}
		}
	}
	return y
}

// TestSoftmax compares the three functions with their definition: rows, columns and axes between,
// non-contiguous views, and lines longer than a work-group keeps in registers.
func TestSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			shape           []int
			axis            int
			outer, n, inner int
		}{
			{[]int{}, 0, 1, 1, 1}, {[]int{}, -1, 1, 1, 1}, {[]int{5}, 0, 1, 5, 1}, {[]int{3, 17}, -1, 3, 17, 1}, {[]int{3, 17}, 0, 1, 3, 17},
			{[]int{2, 3, 4}, 1, 2, 3, 4}, {[]int{1, 5003}, 1, 1, 5003, 1}, {[]int{4100, 2}, -2, 1, 4100, 2}, {[]int{0, 3}, 0, 1, 0, 3},
			{[]int{3, 0}, 0, 1, 3, 0}, {[]int{2, 1, 2, 1, 3, 1, 2, 2}, -4, 4, 3, 4},
		} {
			a := random(r, c.shape...)
			x := on(d, a)
			name := fmt.Sprint(c.shape, " axis ", c.axis)
			expect(t, "Softmax "+name, x.Softmax(c.axis), softmaxOf(a, c.outer, c.n, c.inner, 1, false), 1e-5)
			expect(t, "LogSoftmax "+name, x.LogSoftmax(c.axis), softmaxOf(a, c.outer, c.n, c.inner, 1, true), 1e-5)
			expect(t, "Softmin "+name, x.Softmin(c.axis), softmaxOf(a, c.outer, c.n, c.inner, -1, false), 1e-5)
		}
		a := random(r, 6, 8)
		view := on(d, a).T().Step(0, 3).Slice(1, 1, 5) // [3, 4]
		v, err := view.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "Softmax of a view", view.Softmax(0), softmaxOf(array{[]int{3, 4}, v}, 1, 3, 4, 1, false), 1e-5)
		ints := devtest.New(d, []int32{1, 2, 3, -400}, 2, 2)
		expect(t, "Softmax of ints", ints.Softmax(1), softmaxOf(array{[]int{2, 2}, []float64{1, 2, 3, -400}}, 2, 2, 1, 1, false), 1e-6)
		expect(t, "LogSoftmax of halves", ints.To(tensor.Float16).LogSoftmax(1), softmaxOf(array{[]int{2, 2}, []float64{1, 2, 3, -400}}, 2, 2, 1, 1, true), 1e-6)
	})
}

// TestSoftmaxSpecial: what lines with infinities, NaN and large numbers become, as rows and as
// columns.
func TestSoftmaxSpecial(t *testing.T) {
	inf, nan, ln2 := math.Inf(1), math.NaN(), math.Ln2
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct{ x, y, log []float64 }{
			{[]float64{-inf, 0, 0}, []float64{0, 0.5, 0.5}, []float64{-inf, -ln2, -ln2}},
			{[]float64{-inf, -inf, -inf}, []float64{nan, nan, nan}, []float64{nan, nan, nan}},
			{[]float64{nan, 1, 2}, []float64{nan, nan, nan}, []float64{nan, nan, nan}},
			{[]float64{inf, 1, 2}, []float64{nan, nan, nan}, []float64{nan, nan, nan}},
			{[]float64{3e38, 3e38, 1e38}, []float64{0.5, 0.5, 0}, []float64{-ln2, -ln2, -2e38}},
			{[]float64{1000, 0, 1000}, []float64{0.5, 0, 0.5}, []float64{-ln2, -1000 - ln2, -ln2}},
			{[]float64{-1e30, -1e30, -1e30}, []float64{1. / 3, 1. / 3, 1. / 3}, []float64{-math.Log(3), -math.Log(3), -math.Log(3)}},
		} {
			row := devtest.New(d, c.x, 1, 3)
			columns := row.Expand(2, 3).T()
			for name, got := range map[string]*tensor.Tensor{"row": row.Softmax(1), "column": columns.Softmax(0).Select(1, 1)} {
				expectNumbers(t, fmt.Sprint("Softmax of ", c.x, " as a ", name), devtest.Float64s(t, got), c.y)
			}
			for name, got := range map[string]*tensor.Tensor{"row": row.LogSoftmax(1), "column": columns.LogSoftmax(0).Select(1, 1)} {
				expectNumbers(t, fmt.Sprint("LogSoftmax of ", c.x, " as a ", name), devtest.Float64s(t, got), c.log)
			}
		}
		x := tensor.Zeros(d, 2, 3)
		for _, axis := range []int{-3, 2, tensor.Keepdims} {
			fails(t, func() { x.Softmax(axis) }, tensor.ErrAxis)
			fails(t, func() { x.LogSoftmax(axis) }, tensor.ErrAxis)
			fails(t, func() { x.Softmin(axis) }, tensor.ErrAxis)
		}
		fails(t, func() { tensor.Scalar(d, 1).Softmax(1) }, tensor.ErrAxis)
	})
}

// expectNumbers compares numbers to six places; NaN and infinities are what they are.
func expectNumbers(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; g != w && !(math.Abs(g-w) <= 1e-6*math.Max(1, math.Abs(w))) && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Errorf("%s: element %d is %v, want %v", what, i, g, w)
		}
	}
}
