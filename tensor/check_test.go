package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestCheckError: the error names the node, if one asked for the launch.
func TestCheckError(t *testing.T) {
	e := tensor.CheckError{Device: "dev", Kernel: "k_f", Param: "Y", Sizes: []int{4, 4}, Index: 2, Got: 1.5, Want: 2, ULP: 7}
	const text = "tensor: check: k_f on dev%s, buffers of [4 4] elements: Y[2] is 1.5, its host kernel has 2 (7 ULP apart)"
	if got, want := e.Error(), fmt.Sprintf(text, ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	e.Node = "loss [3]"
	if got, want := e.Error(), fmt.Sprintf(text, " for node loss [3]"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCheckNeighbours: check mode checks what lies in the gaps of a result, and another of the
// same launch wrote, against the bound of that.
func TestCheckNeighbours(t *testing.T) {
	turns := &kernels.FusedElementwise{Name: "turns", Functions: []*kernels.Function{
		{Name: "sine", Value: expr.Input(0).SinPi(), Domains: [][2]float64{{-1, 1}}}, {Name: "cosine", Value: expr.Input(0).CosPi(), Domains: [][2]float64{{-1, 1}}}}}
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d := devtest.Open(t, sel, tensor.Options{Check: true})
		const n = 1 << 15
		y := tensor.Zeros(d, n, 2)
		tensor.MapInto(turns, nil, []*tensor.Tensor{y.Slice(1, 0, 1), y.Slice(1, 1, 2)}, tensor.NewRNG(1).Uniform(d, -1, 1, n, 1))
		if err := d.Sync(); err != nil {
			t.Errorf("%s: %v", sel, err)
		}
	}
}

// TestLinearGradShares: the gradient of a bias comes in one share for each run of rows, all of them
// written.
func TestLinearGradShares(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, rows := range []int{0, 1, 15, 16, 17, 31, 32, 33, 100, 1000, 4096, 5001} {
			dirt := tensor.Full(d, 1e9, 3*(rows+64)) // what memory that is used again held
			dirt.Free()
			y := tensor.Full(d, 0.5, rows, 3)
			dz, shares := tensorapi.Impl.LinearGrad(fn.Tanh.Gradient(0), nil, nil, y, tensor.Full(d, 2, rows, 3))
			run := ops.LinearGradRun(rows, d.Target())
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
