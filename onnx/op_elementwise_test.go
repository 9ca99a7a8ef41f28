package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestElementwiseEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	half := func(x ...float64) testTensor { return as(tensor.Float16, x, len(x)) }
	brain := func(x ...float64) testTensor { return as(tensor.BFloat16, x, len(x)) }
	words := FromStrings([]string{"a", "b", "a", ""}, 2, 2)
	checkNodes(t, []nodeCase{
		{"Div", 7, nil, []any{[]int32{math.MinInt32, -7}, []int32{-1, 2}}, []any{[]int32{math.MinInt32, -3}}, ""},
		{"Div", 14, nil, []any{[]int8{-128, 127, -7}, []int8{3, -2, 2}}, []any{[]int8{-42, -63, -3}}, ""},
		{"Div", 14, nil, []any{[]int16{-7}, []int16{2}}, []any{[]int16{-3}}, ""},
		{"Div", 14, nil, []any{[]uint16{65535}, []uint16{2}}, []any{[]uint16{32767}}, ""},
		{"Div", 14, nil, []any{[]uint64{math.MaxUint64}, []uint64{2}}, []any{[]uint64{math.MaxInt64}}, ""},
		{"Div", 14, nil, []any{[]int64{math.MinInt64, math.MaxInt64}, []int64{2, -10}},
			[]any{[]int64{math.MinInt64 / 2, -922337203685477580}}, ""},
		{"Div", 14, nil, []any{[]float32{1, -1, 0}, []float32{0, 0, 0}}, []any{[]float32{inf, -inf, nan}}, ""},
		{"Div", 14, nil, []any{half(1), half(3)}, []any{half(0.333251953125)}, ""},

		{"Mod", 10, nil, []any{[]int8{-7, 7, -128}, []int8{3, -3, -1}}, []any{[]int8{2, -2, 0}}, ""},
		{"Mod", 13, nil, []any{[]uint64{math.MaxUint64}, []uint64{10}}, []any{[]uint64{5}}, ""},
		{"Mod", 13, nil, []any{[]int64{math.MinInt64, math.MaxInt64}, []int64{10, 10}}, []any{[]int64{2, 7}}, ""},
		{"Mod", 13, attrs{"fmod": 1}, []any{[]int64{math.MinInt64}, []int64{10}}, []any{[]int64{-8}}, ""},
		{"Mod", 13, attrs{"fmod": 1}, []any{[]float32{-4.3, 5, inf, 5, 5, nan}, []float32{2, 8, 2, inf, 0, 1}},
			[]any{[]float32{-0.3, 5, nan, 5, nan, nan}}, ""},
		{"Mod", 28, nil, []any{[]float32{-4.5, 5, -5, inf, 5}, []float32{2, inf, inf, 2, 0}},
			[]any{[]float32{1.5, 5, inf, nan, nan}}, ""},
		{"Mod", 13, attrs{"fmod": 1}, []any{half(7.5), half(2)}, []any{half(1.5)}, ""},

		{"Pow", 1, attrs{"axis": 0, "broadcast": 1}, []any{count(2, 2), []float32{1, 2}},
			[]any{of([]float32{0, 1, 4, 9}, 2, 2)}, ""},
		{"Pow", 7, nil, []any{[]float32{2, 3, -2}, of([]float32{3})}, []any{[]float32{8, 27, -8}}, ""},
		{"Pow", 12, nil, []any{[]int32{3, -2, 7, 2}, []float32{5, 3, 0, 1.5}}, []any{[]int32{243, -8, 1, 2}}, ""},
		{"Pow", 12, nil, []any{[]int64{3, 2, -1, 2}, []int64{30, 52, 7, -1}},
			[]any{[]int64{205891132094649, 1 << 52, -1, 0}}, ""},
		{"Pow", 15, nil, []any{[]float32{2, 4}, []int64{-1, 3}}, []any{[]float32{0.5, 64}}, ""},
		{"Pow", 15, nil, []any{brain(2), []float64{0.5}}, []any{brain(1.4140625)}, ""},
		{"Pow", 15, nil, []any{half(1), []int32{4000}}, []any{half(1)}, ""},
		{"Pow", 15, nil, []any{of([]float32{2}), []uint8{1, 2}}, []any{[]float32{2, 4}}, ""},

		{"Clip", 1, attrs{"max": 1.0}, []any{[]float32{-9, 9, nan}}, []any{[]float32{-9, 1, nan}}, ""},
		{"Clip", 6, nil, []any{[]float32{-inf, 9}}, []any{[]float32{-inf, 9}}, ""},
		{"Clip", 11, nil, []any{[]float32{-9, 0, 9}, of([]float32{-1}), of([]float32{2})},
			[]any{[]float32{-1, 0, 2}}, ""},
		{"Clip", 11, nil, []any{[]float32{-9, 0, 9}, nil, of([]float32{2})}, []any{[]float32{-9, 0, 2}}, ""},
		{"Clip", 12, nil, []any{[]int8{1, 5, 9}, of([]int8{6}), of([]int8{3})}, []any{[]int8{3, 3, 3}}, ""},
		{"Clip", 13, nil, []any{[]float32{1, 5, nan}, of([]float32{6}), of([]float32{3})},
			[]any{[]float32{3, 3, nan}}, ""},
		{"Clip", 12, nil, []any{[]uint64{1, math.MaxUint64}, of([]uint64{2})}, []any{[]uint64{2, math.MaxUint64}}, ""},
		{"Clip", 13, nil, []any{brain(1, 5), as(tensor.BFloat16, []float64{2})}, []any{brain(2, 5)}, ""},

		{"Max", 8, nil, []any{[]float32{1, nan, 3}, []float32{2, 1, nan}, of([]float32{0})},
			[]any{[]float32{2, nan, nan}}, ""},
		{"Max", 13, nil, []any{[]uint64{1 << 63, 1}, []uint64{1, math.MaxUint64}},
			[]any{[]uint64{1 << 63, math.MaxUint64}}, ""},
		{"Min", 12, nil, []any{[]int16{-3, 3}, []int16{2, -2}}, []any{[]int16{-3, -2}}, ""},
		{"Min", 6, nil, []any{count(2)}, []any{count(2)}, ""},
		{"Min", 13, nil, []any{half(1, 2), half(2, 1)}, []any{half(1, 1)}, ""},

		{"Equal", 1, attrs{"axis": 0, "broadcast": 1}, []any{of([]int32{1, 2, 3, 4}, 2, 2), []int32{1, 4}},
			[]any{of([]bool{true, false, false, true}, 2, 2)}, ""},
		{"Equal", 7, nil, []any{[]bool{true, false}, of([]bool{false})}, []any{[]bool{false, true}}, ""},
		{"Equal", 11, nil, []any{[]int64{math.MaxInt64}, []int64{math.MaxInt64 - 1}}, []any{[]bool{false}}, ""},
		{"Equal", 13, nil, []any{[]float32{nan, 0}, []float32{nan, float32(math.Copysign(0, -1))}},
			[]any{[]bool{false, true}}, ""},
		{"Equal", 19, nil, []any{words, []string{"a", ""}}, []any{of([]bool{true, false, true, true}, 2, 2)}, ""},
		{"Equal", 19, nil, []any{words, []int64{1, 2}}, nil, "do not mix"},
		{"And", 1, attrs{"axis": 0, "broadcast": 1},
			[]any{of([]bool{true, true, false, true}, 2, 2), []bool{true, false}},
			[]any{of([]bool{true, true, false, false}, 2, 2)}, ""},
		{"Or", 7, nil, []any{[]bool{true, false}, of([]bool{false})}, []any{[]bool{true, false}}, ""},
		{"Xor", 7, nil, []any{[]bool{true, false}, of([]bool{true})}, []any{[]bool{false, true}}, ""},
		{"Where", 9, nil, []any{[]bool{true, false}, of([]int64{1}), []int64{2, math.MaxInt64}},
			[]any{[]int64{1, math.MaxInt64}}, ""},
		{"Where", 16, nil, []any{of([]bool{true, false}, 2, 1), words, []string{"c", "a"}},
			[]any{FromStrings([]string{"a", "b", "c", "a"}, 2, 2)}, ""},
		{"Where", 16, nil, []any{[]bool{true}, words, []int64{1}}, nil, "do not mix"},
	})
}
