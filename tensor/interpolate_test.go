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

// TestInterpolateOperands: views and other types are interpolated as what they are copies of, to
// more and to fewer positions.
func TestInterpolateOperands(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := count(d, 3, 8, 2).Transpose(2, 0, 1).Step(-1, 2) // [2 3 4]
		for _, o := range []tensor.InterpolateOptions{{}, {Linear: true}, {Linear: true, AlignCorners: true}} {
			whole := x.Copy().Interpolate([]int{2, 7}, o)
			for what, other := range map[string]*tensor.Tensor{"view": x, "Int32": x.To(tensor.Int32), "Int16": x.To(tensor.Int16), "Float16": x.To(tensor.Float16)} {
				y := other.Interpolate([]int{2, 7}, o)
				if got, want := devtest.Float64s(t, y), devtest.Float64s(t, whole.To(y.Type())); !slices.Equal(got, want) {
					t.Errorf("%+v of a %s: %v, want %v", o, what, got, want)
				}
			}
			if got, same := devtest.Float64s(t, x.Interpolate([]int{3, 4}, o)), devtest.Float64s(t, x); !slices.Equal(got, same) {
				t.Errorf("%+v to its own size: %v, want %v", o, got, same)
			}
		}
		if got := devtest.Float64s(t, devtest.New(d, []float64{0, 30}).Interpolate([]int{4}, tensor.InterpolateOptions{Linear: true, AlignCorners: true})); !slices.Equal(got, []float64{0, 10, 20, 30}) {
			t.Errorf("a vector: %v", got)
		}
		if y := tensor.Zeros(d, 0, 5).Interpolate([]int{2}); fmt.Sprint(y.Shape()) != "[0 2]" {
			t.Errorf("of none: %v", y.Shape())
		}
		n := 1_000_003 // whose products with its positions are beyond 32 bits, and quotients beyond float32
		if got, err := count(d, n).Interpolate([]int{n - 1}).Slice(0, -1, tensor.End).To(tensor.Int32).Int32s(); err != nil || got[0] != int32(n-1) {
			t.Errorf("the last of many: %v, %v", got, err)
		}
	})
}

// TestInterpolateInfinities: what has weight 0 is not read, in any row, plane or column.
func TestInterpolateInfinities(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		data := slices.Repeat([]float64{1}, 27)
		data[13] = math.Inf(1) // the middle of a cube
		y := devtest.Float64s(t, devtest.New(d, data, 3, 3, 3).Interpolate([]int{5, 5, 5}, tensor.InterpolateOptions{Linear: true, AlignCorners: true}))
		for i, v := range y {
			inside := func(q int) bool { return q > 0 && q < 4 }
			if near := inside(i/25) && inside(i/5%5) && inside(i%5); near != math.IsInf(v, 1) || !near && v != 1 {
				t.Errorf("element %d is %v", i, v)
			}
		}
	})
}

// TestInterpolateMisuse: what is wrong is said.
func TestInterpolateMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 2, 5)
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"no size":         {tensor.ErrShape, func() { x.Interpolate(nil) }},
		"more axes":       {tensor.ErrShape, func() { x.Interpolate([]int{1, 2, 3}) }},
		"to none":         {tensor.ErrValue, func() { x.Interpolate([]int{0}) }},
		"of none":         {tensor.ErrShape, func() { x.Slice(1, 2, 2).Interpolate([]int{3}) }},
		"nearest corners": {tensor.ErrValue, func() { x.Interpolate([]int{3}, tensor.InterpolateOptions{AlignCorners: true}) }},
		"too large":       {tensor.ErrShape, func() { x.Interpolate([]int{1 << 28, 1 << 20}) }},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
	}
}
