package data_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// TestTo: elements become the nearest of the other type, without a digit lost in between.
func TestTo(t *testing.T) {
	const most = math.MaxInt32
	bytes, ints := data.New([]uint8{0, 9, 255}), data.New([]int32{-1, most, 300})
	halves := data.New([]float16.Float16{float16.Fromfloat32(1.5), float16.Inf(1), float16.NaN()})
	singles, doubles := data.New([]float32{-1.5, 2.75, float32(math.NaN())}), data.New([]float64{most - 0.5, 1e300, math.Inf(-1)})
	for _, c := range []struct {
		from data.Array
		to   tensor.Type
		got  func(data.Array) any
		want string
	}{
		{bytes, tensor.Int32, elements[int32], "[0 9 255]"},
		{bytes, tensor.Float32, elements[float32], "[0 9 255]"},
		{bytes, tensor.Uint8, elements[uint8], "[0 9 255]"},
		{ints, tensor.Uint8, elements[uint8], "[255 255 44]"},
		{ints, tensor.Float64, elements[float64], "[-1 2.147483647e+09 300]"},
		{halves, tensor.Float32, elements[float32], "[1.5 +Inf NaN]"},
		{halves, tensor.Int32, elements[int32], "[1 2147483647 0]"},
		{singles, tensor.Int32, elements[int32], "[-1 2 0]"},
		{singles, tensor.Float32, elements[float32], "[-1.5 2.75 NaN]"},
		{doubles, tensor.Int32, elements[int32], "[2147483646 2147483647 -2147483648]"},
		{doubles, tensor.Float64, elements[float64], "[2.1474836465e+09 1e+300 -Inf]"},
		{data.New([]uint8{}, 0, 8), tensor.Int32, elements[int32], "[]"},
	} {
		if to := c.from.To(c.to); fmt.Sprint(c.got(to)) != c.want || !slices.Equal(to.Shape(), c.from.Shape()) {
			t.Errorf("%v: %v of shape %v, want %s", c.to, c.got(to), to.Shape(), c.want)
		}
	}
}

func elements[T uint8 | int32 | float32 | float64](a data.Array) any { return data.Elements[T](a) }

// TestElements: they are those of a slice, shared with whom the array shares them.
func TestElements(t *testing.T) {
	numbers := []int32{0, 1, 2, 3, 4, 5}
	part := data.Elements[int32](data.New(numbers, 3, 2).Slice(1, 3))
	numbers[2] = 20
	if fmt.Sprint(part) != "[20 3 4 5]" {
		t.Error(part)
	}
}

// TestConvertMisuse: what is no array, or of another type, is refused by name.
func TestConvertMisuse(t *testing.T) {
	for name, c := range map[string]struct {
		call func()
		kind error
		text string
	}{
		"zero":   {func() { data.Array{}.To(tensor.Float32) }, tensor.ErrValue, "data: To: "},
		"none":   {func() { data.Elements[int32](data.Array{}) }, tensor.ErrValue, "data: Elements: "},
		"other":  {func() { data.Elements[int32](data.New([]uint8{1})) }, tensor.ErrType, "uint8, not int32"},
		"single": {func() { data.Elements[float64](data.New([]float32{1})) }, tensor.ErrType, "float32, not float64"},
	} {
		if err := tensor.Try(c.call); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
