package tensor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestMaxPoolOfIntegers: maxima of integers are exact, beyond what floats hold too, and the padding is none of them.
func TestMaxPoolOfIntegers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const big = 1 << 62
		x := devtest.New(d, []int64{big, big + 1, big - 1, math.MinInt64, math.MinInt64, -7}, 1, 1, 6)
		y, err := x.MaxPool([]int{2}, tensor.MaxPoolOptions{Padding: []int{1}}).Int64s()
		if want := fmt.Sprint([]int64{big, big + 1, math.MinInt64, -7}); err != nil || fmt.Sprint(y) != want {
			t.Errorf("maxima %v, want %v (%v)", y, want, err)
		}
		grid := devtest.New(d, []uint8{1, 9, 3, 4, 250, 6, 7, 8, 0}, 3, 3)
		small := grid.T().MaxPool([]int{2, 2}, tensor.MaxPoolOptions{Stride: []int{1}})
		if v, err := small.Uint8s(); err != nil || fmt.Sprint(v) != "[250 250 250 250]" {
			t.Errorf("maxima of a view %v (%v)", v, err)
		}
		if y := grid.Slice(0, 1, 1).Reshape(0, 1, 3).MaxPool([]int{2}); y.Len() != 0 || y.Type() != tensor.Uint8 {
			t.Errorf("maxima of nothing: %v of %v", y.Shape(), y.Type())
		}
	})
}

// TestInterpolateIntegers: the nearest inputs of integers are these themselves, and bytes are rounded.
func TestInterpolateIntegers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const big = 1 << 62
		x := devtest.New(d, []int64{big + 1, -big - 1}, 1, 2)
		for _, o := range []tensor.InterpolateOptions{{}, {Exact: true}} {
			y, err := x.Interpolate([]int{4}, o).Int64s()
			if want := fmt.Sprint([]int64{big + 1, big + 1, -big - 1, -big - 1}); err != nil || fmt.Sprint(y) != want {
				t.Errorf("%+v: %v, want %v (%v)", o, y, want, err)
			}
		}
		bytes := devtest.New(d, []uint8{0, 255, 1, 0}, 2, 2)
		y, err := bytes.Interpolate([]int{2, 4}, tensor.InterpolateOptions{Linear: true}).Uint8s()
		if err != nil || fmt.Sprint(y) != "[0 64 191 255 1 1 0 0]" {
			t.Errorf("bytes %v (%v)", y, err)
		}
		if y := bytes.Interpolate([]int{1, 1}, tensor.InterpolateOptions{Cubic: true}); y.Type() != tensor.Uint8 {
			t.Errorf("Cubic of bytes is of %v", y.Type())
		}
		if y := x.Interpolate([]int{3}, tensor.InterpolateOptions{Linear: true}); y.Type() != tensor.Float32 {
			t.Errorf("Linear of Int64 is of %v", y.Type())
		}
	})
}
