package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestOverlapCopies: an in-place operation copies its operand where the two share elements, and
// only there: each is one launch, or two with the copy.
func TestOverlapCopies(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			name     string
			f        func(x *tensor.Tensor) // x is 0, 1, … 15 in rows of 4
			want     string                 // of x
			launches int64
		}{
			{"itself", func(x *tensor.Tensor) { x.MapInPlace(fn.Add, nil, x) }, "[0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30]", 1},
			{"a view of itself", func(x *tensor.Tensor) { x.MapInPlace(fn.Add, nil, x.Reshape(1, 16).Reshape(4, 4)) }, "[0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30]", 1},
			{"its transpose", func(x *tensor.Tensor) { x.SetInPlace(x.T()) }, "[0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15]", 2},
			{"the rows before", func(x *tensor.Tensor) { x.Slice(0, 2, 4).SetInPlace(x.Slice(0, 0, 2)) }, "[0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7]", 1},
			{"the rows behind", func(x *tensor.Tensor) { x.Slice(0, 0, 2).SetInPlace(x.Slice(0, 2, 4)) }, "[8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15]", 1},
			{"a row before and its own", func(x *tensor.Tensor) { x.Slice(0, 1, 3).SetInPlace(x.Slice(0, 0, 2)) }, "[0 1 2 3 0 1 2 3 4 5 6 7 12 13 14 15]", 2},
			{"its own and a row behind", func(x *tensor.Tensor) { x.Slice(0, 1, 3).SetInPlace(x.Slice(0, 2, 4)) }, "[0 1 2 3 8 9 10 11 12 13 14 15 12 13 14 15]", 2},
			{"itself, over its transpose", func(x *tensor.Tensor) { x.T().SetInPlace(x) }, "[0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15]", 2},
			{"its first half, over every second", func(x *tensor.Tensor) {
				v := x.Reshape(16)
				v.Step(0, 2).SetInPlace(v.Slice(0, 0, 8))
			}, "[0 1 1 3 2 5 3 7 4 9 5 11 6 13 7 15]", 2},
			{"none of it", func(x *tensor.Tensor) {
				tensorapi.Impl.MatMulInto(x, x.Slice(1, 1, 3).Slice(1, 0, 0), x.Slice(0, 1, 3).Slice(0, 0, 0), false)
			}, "[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]", 1},
			{"its first row", func(x *tensor.Tensor) { x.MapInPlace(fn.Sub, nil, x.Slice(0, 0, 1)) }, "[0 0 0 0 4 4 4 4 8 8 8 8 12 12 12 12]", 2},
			{"its last element", func(x *tensor.Tensor) { x.MapInPlace(fn.Sub, nil, x.Slice(0, 3, 4).Slice(1, 3, 4)) }, "[-15 -14 -13 -12 -11 -10 -9 -8 -7 -6 -5 -4 -3 -2 -1 0]", 2},
			{"another tensor", func(x *tensor.Tensor) { x.MapInPlace(fn.Sub, nil, tensorapi.Impl.One(x.Device())) }, "[-1 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14]", 1},
			{"a product of the rows before", func(x *tensor.Tensor) {
				tensorapi.Impl.MatMulInto(x.Slice(0, 2, 4), x.Slice(0, 0, 2), tensor.Zeros(x.Device(), 4, 4), false)
			}, "[0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0]", 2}, // with Zeros
			{"a product of the rows behind", func(x *tensor.Tensor) {
				tensorapi.Impl.MatMulInto(x.Slice(0, 0, 2), x.Slice(0, 2, 4), tensor.Zeros(x.Device(), 4, 4), false)
			}, "[0 0 0 0 0 0 0 0 8 9 10 11 12 13 14 15]", 2},
		} {
			data := make([]float64, 16)
			for i := range data {
				data[i] = float64(i)
			}
			x := devtest.New(d, data, 4, 4)
			before := d.Stats().Launches
			c.f(x)
			if n := d.Stats().Launches - before; n != c.launches {
				t.Errorf("%s: %d launches, want %d", c.name, n, c.launches)
			}
			if v, err := x.Float64s(); err != nil || fmt.Sprint(v) != c.want {
				t.Errorf("%s: %v, want %v (err %v)", c.name, v, c.want, err)
			}
		}
	})
}
