package tensor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestCompare: the first element that the tolerance does not accept is found. A scale that is no number is the largest
// finite magnitude of what was wanted.
func TestCompare(t *testing.T) {
	rel := &kernels.Kernel{Tol: kernels.Tolerance{Rel: 1}} // an epsilon of the scale
	eps := 0x1p-52
	inf := math.Inf(1)
	for i, c := range []struct {
		got, want []float64
		scale     float64
		index     int
	}{
		{nil, nil, 1, -1},
		{[]float64{1, 2}, []float64{1, 2}, 1, -1},
		{[]float64{1, 2}, []float64{1, 3}, 1, 1},
		{[]float64{0, 2, 0}, []float64{1, 3, 1}, 1, 0},
		{[]float64{1 + 8*eps, 2}, []float64{1, 2}, 8, -1},
		{[]float64{1 + 8*eps, 2}, []float64{1, 2}, 4, 0},
		{[]float64{1 + 8*eps, -8}, []float64{1, -8}, math.NaN(), -1},
		{[]float64{1 + 8*eps, -4}, []float64{1, -4}, math.NaN(), 0},
		{[]float64{1 + 8*eps, 8, 2}, []float64{1, 8, 2}, math.NaN(), -1},
		{[]float64{1 + 8*eps, inf, -inf}, []float64{1, inf, -inf}, math.NaN(), 0}, // an infinity is no scale
		{[]float64{1 + 8*eps, math.NaN(), 8}, []float64{1, math.NaN(), 8}, math.NaN(), -1},
	} {
		if got := tensor.Compare(rel, kernels.MemOf(c.got), kernels.MemOf(c.want), c.scale); got != c.index {
			t.Errorf("case %d: element %d, want %d", i, got, c.index)
		}
	}
}

// TestCheckError: the error names the node, if one asked for the launch.
func TestCheckError(t *testing.T) {
	e := tensor.CheckError{Device: "dev", Kernel: "k_f", Param: "Y", Sizes: []int{4, 4}, Index: 2, Got: 1.5, Want: 2, ULP: 7}
	const text = "tensor: check: k_f on dev%s, buffers of [4 4] elements: Y[2] is 1.5, its Go twin has 2 (7 ULP apart)"
	if got, want := e.Error(), fmt.Sprintf(text, ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	e.Node = "loss [3]"
	if got, want := e.Error(), fmt.Sprintf(text, " for node loss [3]"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLinearGradShares: the gradient of a bias comes in one share for each run of rows, all of them written.
func TestLinearGradShares(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, rows := range []int{0, 1, 15, 16, 17, 31, 32, 33, 100, 1000, 4096, 5001} {
			dirt := tensor.Full(d, 1e9, 3*(rows+64)) // what memory that is used again held
			dirt.Free()
			y := tensor.Full(d, 0.5, rows, 3)
			dz, shares := tensor.LinearGrad(tensor.Full(d, 2, rows, 3), y, kernels.ActTanh, 0)
			run := ops.LinearGradRun(rows, d.Limits())
			if want := []int{(rows + run - 1) / run, 3}; fmt.Sprint(shares.Shape()) != fmt.Sprint(want) {
				t.Errorf("%d rows: shares of shape %v, want %v", rows, shares.Shape(), want)
			}
			slope := 2 * (1 - 0.5*0.5)
			want := array{[]int{rows, 3}, make([]float64, rows*3)}
			for i := range want.data {
				want.data[i] = slope
			}
			expect(t, fmt.Sprint("dz of ", rows), dz, want, 1e-6)
			expect(t, fmt.Sprint("bias of ", rows), shares.Sum(0), array{[]int{3}, []float64{slope * float64(rows), slope * float64(rows), slope * float64(rows)}}, 1e-5)
		}
	})
}
