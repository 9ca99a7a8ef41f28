package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestDiag: integers keep their type, a view is what it is a copy of, and what is no vector or matrix, or too large, is
// refused.
func TestDiag(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []int64{7, 0, 9, 0}).Step(0, 2)
		for offset, want := range map[int]string{0: "[7 0 0 9]", 1: "[0 7 0 0 0 9 0 0 0]", -1: "[0 0 0 7 0 0 0 9 0]"} {
			if v, err := x.Diag(offset).Int64s(); err != nil || fmt.Sprint(v) != want {
				t.Errorf("Diag(%d) is %v, want %v (%v)", offset, v, want, err)
			}
		}
		if v, err := x.Diag(0).Diag(0).Int64s(); err != nil || fmt.Sprint(v) != "[7 9]" {
			t.Errorf("the diagonal of the matrix is %v (%v)", v, err)
		}
		for _, f := range []func(){
			func() { tensor.Scalar(d, 1).Diag(0) }, func() { tensor.Zeros(d, 1, 1, 1).Diag(0) },
			func() { x.Diag(math.MaxInt) }, func() { x.Diag(math.MinInt) }, func() { tensor.Zeros(d, 46341).Diag(0) },
		} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrShape) {
				t.Errorf("got %v, want ErrShape", err)
			}
		}
	})
}
