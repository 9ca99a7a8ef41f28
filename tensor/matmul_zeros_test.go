package tensor_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestMatMulZeroTimesInfinity: 0·∞ and 0·NaN are NaN in every form of a product, alone, in a batch
// and in a convolution, and with the infinity on either side. Other elements know nothing of it.
func TestMatMulZeroTimesInfinity(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, wild := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
			for _, s := range [][3]int{{3, 2, 2}, {9, 17, 33}, {130, 12, 70}} { // m, n, k
				m, n, k := s[0], s[1], s[2]
				zero, other := ones(m*k), ones(k*n)
				zero[1*k+1], other[1*n+1] = 0, wild // row 1 of A has a zero where column 1 of B is wild
				for form, swap := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
					x, y := laid(d, zero, m, k, swap[0]), laid(d, other, k, n, swap[1])
					check := func(what string, got *tensor.Tensor) {
						t.Helper()
						for i, v := range devtest.Float64s(t, got) {
							r, c := i/n%m, i%n
							switch {
							case r == 1 && c == 1 && !math.IsNaN(v),
								r != 1 && c == 1 && math.IsNaN(v) != math.IsNaN(wild),
								c != 1 && math.IsNaN(v):
								t.Fatalf("%s, form %d, %v, %v: element [%d %d] is %v", what, form, s, wild, r, c, v)
							}
						}
					}
					check("alone", x.MatMul(y))
					check("in a batch", tensor.Stack(0, x, x).MatMul(tensor.Stack(0, y, y)))
				}
				// A convolution of 1×1 taps is the product of its weights [m, k] and its image [k,
				// n].
				conv := devtest.New(d, other, 1, k, n).Conv(devtest.New(d, zero, m, k, 1), nil)
				for i, v := range devtest.Float64s(t, conv) {
					if r, c := i/n, i%n; math.IsNaN(v) != (c == 1 && (r == 1 || math.IsNaN(wild))) {
						t.Fatalf("convolution, %v, %v: element [%d %d] is %v", s, wild, r, c, v)
					}
				}
			}
		}
	})
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// laid returns a matrix that lies as it is or, if swapped, as its transpose.
func laid(d tensor.Device, x []float64, rows, cols int, swapped bool) *tensor.Tensor {
	t := devtest.New(d, x, rows, cols)
	if swapped {
		return t.T().Copy().T()
	}
	return t
}
