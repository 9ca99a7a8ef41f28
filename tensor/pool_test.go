package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPoolOperands: non-contiguous views and other types than floats are pooled as what they are
// copies of, and axes before the pooled ones, of any number, are kept.
func TestPoolOperands(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := count(d, 3, 5, 2, 4).Transpose(2, 0, 3, 1).Step(-1, 2) // [2 3 4 3]
		for name, pool := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
			"max": func(x *tensor.Tensor) *tensor.Tensor {
				return x.MaxPool([]int{2, 2}, tensor.MaxPoolOptions{Stride: []int{1}})
			},
			"index": func(x *tensor.Tensor) *tensor.Tensor {
				_, i := x.MaxPoolWithIndex([]int{3})
				return i.To(d.DefaultType())
			},
			"avg": func(x *tensor.Tensor) *tensor.Tensor {
				return x.AvgPool([]int{2, 2, 3}, tensor.AvgPoolOptions{Padding: []int{1}})
			},
			"adaptive": func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool([]int{2, 2}) },
			"whole":    func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool([]int{1, 1}) },
		} {
			whole := pool(x.Copy())
			for what, other := range map[string]*tensor.Tensor{"view": x, "Int32": x.To(tensor.Int32), "Uint8": x.To(tensor.Uint8), "Float16": x.To(tensor.Float16)} {
				y := pool(other)
				if got, want := devtest.Float64s(t, y), devtest.Float64s(t, whole.To(y.Type())); !slices.Equal(got, want) {
					t.Errorf("%s of a %s: %v, want %v", name, what, got, want)
				}
			}
		}
		line := count(d, 6)
		if got := devtest.Float64s(t, line.MaxPool([]int{4}, tensor.MaxPoolOptions{Stride: []int{5}, Ceil: true})); !slices.Equal(got, []float64{4, 6}) {
			t.Errorf("a vector: %v", got)
		}
		if y := tensor.Zeros(d, 0, 5).AvgPool([]int{2}); fmt.Sprint(y.Shape()) != "[0 2]" {
			t.Errorf("of none: %v", y.Shape())
		}
		if y := count(d, 2, 5).AdaptiveMaxPool([]int{0}); fmt.Sprint(y.Shape()) != "[2 0]" {
			t.Errorf("to none: %v", y.Shape())
		}
	})
}

// TestPoolMisuse: what is wrong is said.
func TestPoolMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 2, 5, 6)
	bigger := math.MaxInt32 // below 0 where an int has 32 bits, which is no divisor either
	bigger++
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"no window":        {tensor.ErrShape, func() { x.MaxPool(nil) }},
		"four axes":        {tensor.ErrShape, func() { tensor.Zeros(d, 1, 1, 1, 1, 1).AvgPool([]int{1, 1, 1, 1}) }},
		"more than it has": {tensor.ErrShape, func() { tensor.Zeros(d, 3).MaxPool([]int{1, 1}) }},
		"window 0":         {tensor.ErrValue, func() { x.MaxPool([]int{2, 0}) }},
		"stride 0":         {tensor.ErrValue, func() { x.AvgPool([]int{2}, tensor.AvgPoolOptions{Stride: []int{0}}) }},
		"too large":        {tensor.ErrShape, func() { x.MaxPool([]int{6, 1}) }},
		"huge":             {tensor.ErrValue, func() { x.MaxPool([]int{math.MaxInt32}) }},
		"padding":          {tensor.ErrValue, func() { x.MaxPool([]int{3}, tensor.MaxPoolOptions{Padding: []int{2}}) }},
		"window of nothing": {tensor.ErrShape, func() {
			x.Slice(-1, 0, 2).MaxPool([]int{2}, tensor.MaxPoolOptions{Padding: []int{1}, Dilation: []int{3}})
		}},
		"divisor":         {tensor.ErrValue, func() { x.AvgPool([]int{2}, tensor.AvgPoolOptions{Divisor: -1}) }},
		"huge divisor":    {tensor.ErrValue, func() { x.AvgPool([]int{2}, tensor.AvgPoolOptions{Divisor: bigger}) }},
		"of nothing":      {tensor.ErrShape, func() { tensor.Zeros(d, 2, 0).MaxPool([]int{1}) }},
		"to below 0":      {tensor.ErrValue, func() { x.AdaptiveMaxPool([]int{-1}) }},
		"adaptive, empty": {tensor.ErrShape, func() { tensor.Zeros(d, 2, 0).AdaptiveAvgPool([]int{1}) }},
		"options twice":   {tensor.ErrValue, func() { x.MaxPool([]int{1}, tensor.MaxPoolOptions{}, tensor.MaxPoolOptions{}) }},
		"freed":           {tensor.ErrFreed, func() { y := x.Copy(); y.Free(); y.AdaptiveMaxPool([]int{1}) }},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
	}
}

// TestGlobalAvgPool: a window that is the whole axes has the mean of them, to the bit.
func TestGlobalAvgPool(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		x := tensor.NewRNG(2).Uniform(d, 0, 1, 3, 150, 170)
		mean := devtest.Float64s(t, x.Mean(1, 2))
		if got := devtest.Float64s(t, x.AvgPool([]int{150, 170})); !slices.Equal(got, mean) {
			t.Errorf("AvgPool %v, Mean %v", got, mean)
		}
		if got := devtest.Float64s(t, x.AdaptiveAvgPool([]int{1, 1})); !slices.Equal(got, mean) {
			t.Errorf("AdaptiveAvgPool %v, Mean %v", got, mean)
		}
		sum := devtest.Float64s(t, x.Sum(1, 2))
		for i, v := range devtest.Float64s(t, x.AvgPool([]int{150, 170}, tensor.AvgPoolOptions{Divisor: 1})) {
			if v != sum[i] {
				t.Errorf("with divisor 1 element %d is %v, the sum %v", i, v, sum[i])
			}
		}
	})
}
