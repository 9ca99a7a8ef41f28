package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

func TestMake(t *testing.T) {
	one := &onnxpb.Tensor{Dims: []int64{1}, Type: onnxpb.Int8, Raw: []byte{0xf9}, HasRaw: true} // −7
	two := &onnxpb.Tensor{Dims: []int64{2}, Type: onnxpb.Int8, Raw: []byte{1, 2}, HasRaw: true}
	half := func(x ...float64) testTensor { return as(tensor.Float16, x, len(x)) }
	scalar := func(typ tensor.Type, x float64) testTensor { return as(typ, []float64{x}) }
	checkNodes(t, []nodeCase{
		{"ConstantOfShape", 9, nil, []any{[]int64{2, 1}}, []any{of([]float32{0, 0}, 2, 1)}, ""},
		{"ConstantOfShape", 20, attrs{"value": one}, []any{[]int64{2}}, []any{[]int8{-7, -7}}, ""},
		{"ConstantOfShape", 9, attrs{"value": one}, []any{[]int64{}}, []any{of([]int8{-7})}, ""},
		{"ConstantOfShape", 9, nil, []any{[]int64{0, 3}}, []any{count(0, 3)}, ""},
		{"ConstantOfShape", 9, nil, []any{[]int64{-1}}, nil, "shape [-1]"},
		{"ConstantOfShape", 9, nil, []any{[]int64{1 << 20, 1 << 20}}, nil, "too many"},
		{"ConstantOfShape", 9, attrs{"value": two}, []any{[]int64{1}}, nil, "one element"},
		{"ConstantOfShape", 9, nil, []any{of([]int64{1, 1}, 1, 2)}, nil, "should be a list"},

		{"Range", 11, nil, []any{of([]int64{3}), of([]int64{9}), of([]int64{3})}, []any{[]int64{3, 6}}, ""},
		{"Range", 11, nil, []any{of([]int32{10}), of([]int32{4}), of([]int32{-2})}, []any{[]int32{10, 8, 6}}, ""},
		{"Range", 11, nil, []any{of([]int16{1}), of([]int16{1}), of([]int16{1})}, []any{[]int16{}}, ""},
		{"Range", 11, nil, []any{of([]int64{math.MinInt64}), of([]int64{math.MaxInt64}), of([]int64{math.MaxInt64})},
			[]any{[]int64{math.MinInt64, -1, math.MaxInt64 - 1}}, ""},
		{"Range", 11, nil, []any{of([]float32{1}), of([]float32{2}), of([]float32{0.4})},
			[]any{[]float32{1, 1.4, 1.8}}, ""},
		{"Range", 11, nil, []any{of([]float64{0}), of([]float64{-1}), of([]float64{-0.5})},
			[]any{[]float64{0, -0.5}}, ""},
		{"Range", 27, nil, []any{scalar(tensor.Float16, 2048), scalar(tensor.Float16, 2052), scalar(tensor.Float16, 1)},
			[]any{half(2048, 2048, 2050, 2052)}, ""},
		{"Range", 11, nil, []any{of([]int64{1}), of([]int64{math.MaxInt64}), of([]int64{1})}, nil, "too many"},
		{"Range", 11, nil, []any{of([]int64{1}), of([]int64{2}), of([]int64{0})}, nil, "a step of 0"},
		{"Range", 11, nil, []any{of([]float32{1}), of([]float32{2}), of([]float32{0})}, nil, "steps of 0"},
		{"Range", 11, nil, []any{of([]float32{1}), of([]float32{float32(math.Inf(1))}), of([]float32{1})}, nil, "+Inf"},

		{"EyeLike", 9, nil, []any{of([]int32{5, 5, 5, 5, 5, 5}, 2, 3)}, []any{of([]int32{1, 0, 0, 0, 1, 0}, 2, 3)}, ""},
		{"EyeLike", 9, attrs{"k": 1, "dtype": int(onnxpb.Float)}, []any{of([]int32{5, 5, 5, 5, 5, 5}, 2, 3)},
			[]any{of([]float32{0, 1, 0, 0, 0, 1}, 2, 3)}, ""},
		{"EyeLike", 22, attrs{"k": -1, "dtype": int(onnxpb.BFloat16)}, []any{count(2, 2)},
			[]any{as(tensor.BFloat16, []float64{0, 0, 1, 0}, 2, 2)}, ""},
		{"EyeLike", 9, attrs{"k": math.MaxInt}, []any{count(1, 1)}, []any{of([]float32{0}, 1, 1)}, ""},
		{"EyeLike", 9, nil, []any{count(2)}, nil, "should be a matrix"},

		{"OneHot", 9, nil, []any{[]int64{0, 2, -1, 3, -4}, of([]int64{3}), []float32{-1, 5}},
			[]any{of([]float32{5, -1, -1, -1, -1, 5, -1, -1, 5, -1, -1, -1, -1, -1, -1}, 5, 3)}, ""},
		{"OneHot", 11, attrs{"axis": 0}, []any{[]float32{1, 0}, []float32{2}, []bool{false, true}},
			[]any{of([]bool{false, true, true, false}, 2, 2)}, ""},
		{"OneHot", 11, attrs{"axis": -2}, []any{[]uint8{1, 0}, []int32{2}, []string{"no", "yes"}},
			[]any{FromStrings([]string{"no", "yes", "yes", "no"}, 2, 2)}, ""},
		{"OneHot", 11, nil, []any{of([]int64{1}), of([]int64{2}), []int64{0, 1}}, []any{[]int64{0, 1}}, ""},
		{"OneHot", 11, nil, []any{[]int64{1}, of([]int64{-1}), []int64{0, 1}}, nil, "a depth of -1"},
		{"OneHot", 11, nil, []any{[]int64{1}, of([]int64{math.MaxInt64}), []int64{0, 1}}, nil, "too many"},
		{"OneHot", 11, nil, []any{[]int64{1}, of([]int64{2}), []int64{0, 1, 2}}, nil, "values"},
	})
}
