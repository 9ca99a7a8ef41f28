package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestReduce(t *testing.T) {
	inf, x := math.Inf(1), of([]float32{1, 2, 3, -4, 5, -6}, 2, 3)
	half := func(x ...float64) testTensor { return as(tensor.Float16, x, len(x)) }
	checkNodes(t, []nodeCase{
		{"ReduceSum", 1, attrs{"axes": []int{1}}, []any{x}, []any{of([]float32{6, -5}, 2, 1)}, ""},
		{"ReduceSum", 11, attrs{"axes": []int{-2}, "keepdims": 0}, []any{x}, []any{[]float32{-3, 7, -3}}, ""},
		{"ReduceSum", 13, nil, []any{x}, []any{of([]float32{1}, 1, 1)}, ""},
		{"ReduceSum", 13, attrs{"keepdims": 0}, []any{x, []int64{0, 1}}, []any{of([]float32{1})}, ""},
		{"ReduceSum", 13, nil, []any{x, []int64{}}, []any{of([]float32{1}, 1, 1)}, ""},
		{"ReduceSum", 13, attrs{"noop_with_empty_axes": 1}, []any{x, []int64{}}, []any{x}, ""},
		{"ReduceSum", 13, attrs{"noop_with_empty_axes": 1}, []any{x}, []any{x}, ""},
		{"ReduceSum", 13, nil, []any{of([]float32{7})}, []any{of([]float32{7})}, ""},
		{"ReduceSum", 13, nil, []any{of([]int32{math.MaxInt32, 1}, 2)}, []any{[]int32{math.MinInt32}}, ""},
		{"ReduceSum", 13, nil, []any{[]uint64{math.MaxUint64, 3}}, []any{[]uint64{2}}, ""},
		{"ReduceSum", 13, nil, []any{half(60000, 60000, -60000)}, []any{half(60000)}, ""},
		{"ReduceSum", 13, nil, []any{count(2, 0), []int64{1}}, []any{of([]float32{0, 0}, 2, 1)}, ""},
		{"ReduceSum", 13, nil, []any{x, []int64{2}}, nil, "axis 2"},
		{"ReduceSum", 13, nil, []any{x, []int64{0, -2}}, nil, "named twice"},

		{"ReduceMax", 12, nil, []any{[]int8{-3, -128}}, []any{[]int8{-3}}, ""},
		{"ReduceMax", 18, attrs{"keepdims": 0}, []any{[]float32{1, float32(math.NaN())}},
			[]any{of([]float32{float32(math.NaN())})}, ""},
		{"ReduceMax", 20, nil, []any{of([]bool{true, false, false, false}, 2, 2), []int64{1}},
			[]any{of([]bool{true, false}, 2, 1)}, ""},
		{"ReduceMin", 20, nil, []any{of([]bool{true, false, true, true}, 2, 2), []int64{1}},
			[]any{of([]bool{false, true}, 2, 1)}, ""},
		{"ReduceMax", 18, nil, []any{count(2, 0, 1), []int64{1}},
			[]any{as(tensor.Float32, []float64{-inf, -inf}, 2, 1, 1)}, ""},
		{"ReduceMin", 18, nil, []any{as(tensor.Float16, nil, 0)}, []any{half(inf)}, ""},
		{"ReduceMax", 18, nil, []any{[]int64{}}, []any{[]int64{math.MinInt64}}, ""},
		{"ReduceMin", 18, nil, []any{[]int64{}}, []any{[]int64{math.MaxInt64}}, ""},
		{"ReduceMin", 18, nil, []any{[]uint64{}}, []any{[]uint64{math.MaxUint64}}, ""},
		{"ReduceMax", 18, nil, []any{[]uint8{}}, []any{[]uint8{0}}, ""},
		{"ReduceMin", 20, nil, []any{[]bool{}}, []any{[]bool{true}}, ""},
		{"ReduceMax", 18, nil, []any{count(0, 3), []int64{1}}, []any{count(0, 1)}, ""},

		{"ReduceMean", 1, nil, []any{x}, []any{as(tensor.Float32, []float64{1.0 / 6}, 1, 1)}, ""},
		{"ReduceMean", 13, nil, []any{[]int32{-3, -4}}, []any{[]int32{-3}}, ""},
		{"ReduceMean", 18, attrs{"noop_with_empty_axes": 1}, []any{x}, []any{x}, ""},
		{"ReduceProd", 13, attrs{"axes": []int{0}}, []any{x}, []any{of([]float32{-4, 10, -18}, 1, 3)}, ""},
		{"ReduceProd", 18, nil, []any{[]int64{}}, []any{[]int64{1}}, ""},
		{"ReduceProd", 18, nil, []any{[]int32{-7, 3}}, []any{[]int32{-21}}, ""},
		{"ReduceL1", 11, attrs{"axes": []int{1}}, []any{x}, []any{of([]float32{6, 15}, 2, 1)}, ""},
		{"ReduceL1", 18, attrs{"noop_with_empty_axes": 1}, []any{[]float32{-2}}, []any{[]float32{2}}, ""},
		{"ReduceL2", 13, nil, []any{[]float32{3, -4}}, []any{[]float32{5}}, ""},
		{"ReduceL2", 18, nil, []any{[]int32{3, 5}}, []any{[]int32{5}}, ""},
		{"ReduceL2", 18, nil, []any{half(300, -400)}, []any{half(500)}, ""},
		{"ReduceL2", 18, attrs{"noop_with_empty_axes": 1}, []any{[]float32{-2}}, []any{[]float32{2}}, ""},
		{"ReduceSumSquare", 18, nil, []any{x, []int64{1}}, []any{of([]float32{14, 77}, 2, 1)}, ""},
		{"ReduceSumSquare", 18, attrs{"noop_with_empty_axes": 1}, []any{[]int32{-3}}, []any{[]int32{9}}, ""},
		{"ReduceSumSquare", 18, nil, []any{half(200, 200)}, []any{half(inf)}, ""},
		{"ReduceLogSum", 18, nil, []any{[]float32{1, math.E - 1}}, []any{[]float32{1}}, ""},
		{"ReduceLogSum", 18, nil, []any{[]float32{}}, []any{as(tensor.Float32, []float64{-inf}, 1)}, ""},
		{"ReduceLogSum", 18, attrs{"noop_with_empty_axes": 1}, []any{[]float32{1}}, []any{[]float32{0}}, ""},
		{"ReduceLogSumExp", 18, nil, []any{[]float32{1000, 1000}}, []any{[]float32{1000 + math.Ln2}}, ""},
		{"ReduceLogSumExp", 18, nil, []any{[]float64{}}, []any{[]float64{-inf}}, ""},
		{"ReduceLogSumExp", 18, attrs{"noop_with_empty_axes": 1}, []any{[]float32{-2}}, []any{[]float32{-2}}, ""},
		{"ReduceLogSumExp", 13, nil, []any{[]int32{3, 5}}, []any{[]int32{5}}, ""},
	})
}

func TestAlongAxis(t *testing.T) {
	nan := float32(math.NaN())
	x := of([]float32{2, 1, 2, 3, 10, 10}, 2, 3)
	checkNodes(t, []nodeCase{
		{"ArgMax", 1, nil, []any{x}, []any{of([]int64{1, 1, 1}, 1, 3)}, ""},
		{"ArgMax", 11, attrs{"axis": -1, "keepdims": 0}, []any{x}, []any{[]int64{0, 1}}, ""},
		{"ArgMax", 12, attrs{"axis": 1, "select_last_index": 1}, []any{x}, []any{of([]int64{2, 2}, 2, 1)}, ""},
		{"ArgMin", 13, attrs{"axis": 1, "keepdims": 0}, []any{as(tensor.BFloat16, []float64{2, 1, 2, 1}, 2, 2)},
			[]any{[]int64{1, 1}}, ""},
		{"ArgMin", 13, attrs{"select_last_index": 1}, []any{[]uint8{3, 1, 1}}, []any{[]int64{2}}, ""},
		{"ArgMax", 13, nil, []any{count(0)}, nil, "there is none"},
		{"ArgMax", 13, attrs{"axis": 2}, []any{x}, nil, "axis 2"},

		{"TopK", 1, attrs{"k": 2}, []any{x},
			[]any{of([]float32{2, 2, 10, 10}, 2, 2), of([]int64{0, 2, 1, 2}, 2, 2)}, ""},
		{"TopK", 10, attrs{"axis": 0}, []any{x, []int64{1}},
			[]any{of([]float32{3, 10, 10}, 1, 3), of([]int64{1, 1, 1}, 1, 3)}, ""},
		{"TopK", 11, attrs{"largest": 0, "sorted": 1}, []any{x, []int64{2}},
			[]any{of([]float32{1, 2, 3, 10}, 2, 2), of([]int64{1, 0, 0, 1}, 2, 2)}, ""},
		{"TopK", 11, nil, []any{[]float32{1, nan, 3, 2}, []int64{3}},
			[]any{[]float32{nan, 3, 2}, []int64{1, 2, 3}}, ""},
		{"TopK", 11, nil, []any{[]int64{math.MaxInt64 - 1, math.MaxInt64}, []int64{1}},
			[]any{[]int64{math.MaxInt64}, []int64{1}}, ""},
		{"TopK", 24, nil, []any{[]uint64{5, math.MaxUint64}, []int64{0}}, []any{[]uint64{}, []int64{}}, ""},
		{"TopK", 11, nil, []any{x, []int64{4}}, nil, "4 elements"},
		{"TopK", 11, nil, []any{x, []int64{-1}}, nil, "-1 elements"},

		{"CumSum", 11, nil, []any{[]float32{1, 2, 3}, of([]int32{0})}, []any{[]float32{1, 3, 6}}, ""},
		{"CumSum", 14, attrs{"exclusive": 1}, []any{[]float32{1, 2, 3}, of([]int64{-1})},
			[]any{[]float32{0, 1, 3}}, ""},
		{"CumSum", 14, attrs{"reverse": 1}, []any{[]int32{1, 2, 3}, of([]int32{0})}, []any{[]int32{6, 5, 3}}, ""},
		{"CumSum", 14, attrs{"reverse": 1, "exclusive": 1}, []any{[]uint64{1, 2, 3}, of([]int32{0})},
			[]any{[]uint64{5, 3, 0}}, ""},
		{"CumSum", 14, attrs{"exclusive": 1}, []any{count(0), of([]int32{0})}, []any{count(0)}, ""},
		{"CumSum", 14, nil, []any{x, of([]int32{2})}, nil, "axis 2"},
		{"CumProd", 26, nil, []any{[]float32{1, 2, 3}, of([]int64{0})}, []any{[]float32{1, 2, 6}}, ""},
		{"CumProd", 26, attrs{"exclusive": 1}, []any{[]int32{1, 2, 3}, of([]int64{0})}, []any{[]int32{1, 1, 2}}, ""},
		{"CumProd", 26, attrs{"reverse": 1}, []any{[]float32{1, 2, 3}, of([]int64{0})}, []any{[]float32{6, 6, 3}}, ""},
		{"CumProd", 26, attrs{"reverse": 1, "exclusive": 1}, []any{x, of([]int64{1})},
			[]any{of([]float32{2, 2, 1, 100, 10, 1}, 2, 3)}, ""},

		{"Hardmax", 1, nil, []any{of([]float32{0, 3, 3, 1}, 1, 2, 2)}, []any{of([]float32{0, 1, 0, 0}, 1, 2, 2)}, ""},
		{"Hardmax", 11, attrs{"axis": -1}, []any{x}, []any{of([]float32{1, 0, 0, 0, 1, 0}, 2, 3)}, ""},
		{"Hardmax", 13, nil, []any{x}, []any{of([]float32{1, 0, 0, 0, 1, 0}, 2, 3)}, ""},
		{"Hardmax", 13, attrs{"axis": 0}, []any{x}, []any{of([]float32{0, 0, 0, 1, 1, 1}, 2, 3)}, ""},
		{"Hardmax", 13, nil, []any{count(0, 2)}, []any{count(0, 2)}, ""},
		{"Hardmax", 13, attrs{"axis": -3}, []any{x}, nil, "axis -3"},
	})
}
