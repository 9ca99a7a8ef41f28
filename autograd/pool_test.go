package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPoolOfPadding: a window that is nearly all padding has more positions than an int counts. (A GPU goes through them one by
// one, for some seconds.)
func TestPoolOfPadding(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		if !d.Limits().CPU {
			t.Skip("a GPU takes seconds for this")
		}
		const half = 1 << 16
		options := tensor.AvgPoolOptions{Padding: []int{half}}
		x := autograd.Param(tensor.Full(d, 4*half*half, 1, 1), "x")
		y := x.AvgPool([]int{2 * half, 2 * half}, options).Keep()
		if v, err := y.Item(); err != nil || v != 1 {
			t.Errorf("the mean is %v, want 1 (err %v)", v, err)
		}
		if err := y.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		if g, err := x.Grad().Item(); err != nil || g != 1.0/(4*half*half) {
			t.Errorf("the gradient is %v, want 2⁻³⁴ (err %v)", g, err)
		}
	})
}
