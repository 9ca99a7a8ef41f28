package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestGather(t *testing.T) {
	x, cube := count(2, 3), count(2, 2, 2)
	words := []string{"a", "b", "c"}
	checkNodes(t, []nodeCase{
		{"Gather", 1, nil, []any{x, of([]int32{1, 0, 1, 1}, 2, 2)},
			[]any{of([]float32{3, 4, 5, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 2, 2, 3)}, ""},
		{"Gather", 11, attrs{"axis": -1}, []any{x, of([]int64{-1})}, []any{[]float32{2, 5}}, ""},
		{"Gather", 13, nil, []any{words, []int64{2, -3}}, []any{[]string{"c", "a"}}, ""},
		{"Gather", 13, nil, []any{x, of([]int64{}, 0, 2)}, []any{count(0, 2, 3)}, ""},
		{"Gather", 13, nil, []any{x, []int64{2}}, nil, "index out of range"},
		{"Gather", 13, nil, []any{x, []int64{-3}}, nil, "index out of range"},
		{"Gather", 13, attrs{"axis": 2}, []any{x, []int64{0}}, nil, "axis 2"},
		{"Gather", 13, nil, []any{of([]float32{1}), []int64{0}}, nil, "axis 0"},
		{"Gather", 13, nil, []any{x, []float32{0}}, nil, "type"},

		{"GatherElements", 11, attrs{"axis": 1}, []any{of([]float32{1, 2, 3, 4}, 2, 2), of([]int64{0, 0, 1, 0}, 2, 2)},
			[]any{of([]float32{1, 1, 4, 3}, 2, 2)}, ""},
		{"GatherElements", 13, nil,
			[]any{of([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3), of([]int32{-2, -1, -3, -1, -3, -3}, 2, 3)},
			[]any{of([]float32{4, 8, 3, 7, 2, 3}, 2, 3)}, ""},
		{"GatherElements", 13, nil, []any{words, []int64{-1, 0}}, []any{[]string{"c", "a"}}, ""},
		{"GatherElements", 13, nil, []any{x, []int64{0}}, nil, "indices of shape [1]"},
		{"GatherElements", 13, nil, []any{x, of([]int64{2}, 1, 1)}, nil, "index out of range"},
		{"GatherElements", 13, nil, []any{x, of([]int64{0, 0, 0, 0}, 1, 4)}, nil, "index out of range"},

		{"GatherND", 11, nil, []any{of([]float32{0, 1, 2, 3}, 2, 2), of([]int64{0, 0, 1, 1}, 2, 2)},
			[]any{[]float32{0, 3}}, ""},
		{"GatherND", 11, nil, []any{of([]float32{0, 1, 2, 3}, 2, 2), of([]int64{-1, 0}, 2, 1)},
			[]any{of([]float32{2, 3, 0, 1}, 2, 2)}, ""},
		{"GatherND", 12, nil, []any{cube, of([]int64{0, 1, 1, 0}, 2, 1, 2)},
			[]any{of([]float32{2, 3, 4, 5}, 2, 1, 2)}, ""},
		{"GatherND", 13, attrs{"batch_dims": 1}, []any{cube, of([]int64{1, 0}, 2, 1)},
			[]any{of([]float32{2, 3, 4, 5}, 2, 2)}, ""},
		{"GatherND", 13, nil, []any{words, of([]int64{2}, 1)}, []any{FromStrings([]string{"c"}, []int{}...)}, ""},
		{"GatherND", 13, nil, []any{cube, of([]int64{0, 0, 0, 0}, 4)}, nil, "indices of shape [4]"},
		{"GatherND", 13, attrs{"batch_dims": 2}, []any{cube, of([]int64{1, 0}, 2, 1)}, nil, "2 batch axes"},
		{"GatherND", 13, nil, []any{cube, of([]int64{2}, 1)}, nil, "index out of range"},

		{"Compress", 9, attrs{"axis": 0}, []any{of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), []bool{false, true, true}},
			[]any{of([]float32{3, 4, 5, 6}, 2, 2)}, ""},
		{"Compress", 11, attrs{"axis": -1}, []any{x, []bool{false, true}}, []any{of([]float32{1, 4}, 2, 1)}, ""},
		{"Compress", 11, nil, []any{x, []bool{false, true, false, false, true}}, []any{[]float32{1, 4}}, ""},
		{"Compress", 11, nil, []any{words, []bool{true, false, true}}, []any{[]string{"a", "c"}}, ""},
		{"Compress", 11, attrs{"axis": 0}, []any{x, []bool{false, false, true}}, nil, "index out of range"},
		{"Compress", 11, attrs{"axis": 0}, []any{x, of([]bool{true}, 1, 1)}, nil, "should be a list"},

		{"NonZero", 9, nil, []any{of([]bool{true, false, true, true}, 2, 2)},
			[]any{of([]int64{0, 1, 1, 0, 0, 1}, 2, 3)}, ""},
		{"NonZero", 13, nil, []any{[]float32{0, float32(math.NaN()), -1}}, []any{of([]int64{1, 2}, 1, 2)}, ""},
		{"NonZero", 13, nil, []any{of([]float32{5})}, []any{of([]int64{}, 0, 1)}, ""},
		{"NonZero", 13, nil, []any{count(0, 2)}, []any{of([]int64{}, 2, 0)}, ""},
		{"NonZero", 13, nil, []any{[]string{"", "a"}}, []any{of([]int64{1}, 1, 1)}, ""},
	})
}

func TestScatter(t *testing.T) {
	zeros := of(make([]float32, 9), 3, 3)
	index := of([]int64{1, 0, 2, 0, 2, 1}, 2, 3)
	updates := of([]float32{1, 1.1, 1.2, 2, 2.1, 2.2}, 2, 3)
	scattered := of([]float32{2, 1.1, 0, 1, 0, 2.2, 0, 2.1, 1.2}, 3, 3)
	row := of([]float32{1, 2, 3, 4, 5}, 1, 5)
	two, pairs := of([]int64{1, 1}, 1, 2), of([]float32{1.1, 2.1}, 1, 2)
	column := of([]int64{0, 2, 0}, 3, 1)
	cache := of(make([]float32, 6), 2, 3, 1)
	checkNodes(t, []nodeCase{
		{"Scatter", 9, nil, []any{zeros, index, updates}, []any{scattered}, ""},
		{"Scatter", 11, attrs{"axis": 1}, []any{row, of([]int32{1, -2}, 1, 2), pairs},
			[]any{of([]float32{1, 1.1, 3, 2.1, 5}, 1, 5)}, ""},
		{"ScatterElements", 11, nil, []any{zeros, index, updates}, []any{scattered}, ""},
		{"ScatterElements", 13, nil, []any{[]string{"a", "b"}, []int64{-1}, []string{"c"}},
			[]any{[]string{"a", "c"}}, ""},
		{"ScatterElements", 16, attrs{"axis": 1, "reduction": "add"}, []any{row, two, pairs},
			[]any{of([]float32{1, 5.2, 3, 4, 5}, 1, 5)}, ""},
		{"ScatterElements", 16, attrs{"axis": -1, "reduction": "mul"}, []any{row, of([]int64{-4, 1}, 1, 2), pairs},
			[]any{of([]float32{1, 4.62, 3, 4, 5}, 1, 5)}, ""},
		{"ScatterElements", 18, attrs{"axis": 1, "reduction": "max"}, []any{row, two, pairs},
			[]any{of([]float32{1, 2.1, 3, 4, 5}, 1, 5)}, ""},
		{"ScatterElements", 18, attrs{"axis": 1, "reduction": "min"}, []any{row, two, pairs},
			[]any{of([]float32{1, 1.1, 3, 4, 5}, 1, 5)}, ""},
		{"ScatterElements", 18, attrs{"reduction": "max"},
			[]any{[]uint64{1, math.MaxUint64}, []int64{0, 1}, []uint64{1 << 63, 2}},
			[]any{[]uint64{1 << 63, math.MaxUint64}}, ""},
		{"ScatterElements", 18, attrs{"reduction": "add"},
			[]any{[]bool{false, true}, []int64{0, 1}, []bool{true, false}},
			[]any{[]bool{true, true}}, ""},
		{"ScatterElements", 18, attrs{"reduction": "mul"}, []any{[]bool{true, true}, []int64{0}, []bool{false}},
			[]any{[]bool{false, true}}, ""},
		{"ScatterElements", 18, attrs{"reduction": "add"}, []any{[]uint8{250}, []int64{0}, []uint8{10}},
			[]any{[]uint8{4}}, ""},
		{"ScatterElements", 18, attrs{"reduction": "add"}, []any{[]string{"a"}, []int64{0}, []string{"b"}},
			nil, "not reduced"},
		{"ScatterElements", 18, attrs{"reduction": "mean"}, []any{row, two, pairs}, nil, "reduction"},
		{"ScatterElements", 18, attrs{"axis": 1}, []any{row, of([]int64{5, 0}, 1, 2), pairs},
			nil, "index out of range"},
		{"ScatterElements", 18, attrs{"axis": 1, "reduction": "max"}, []any{row, of([]int64{-6, 0}, 1, 2), pairs},
			nil, "index out of range"},
		{"ScatterElements", 18, nil, []any{row, two, []float32{1, 2}}, nil, "updates of shape [2]"},

		{"ScatterND", 11, nil, []any{count(8), of([]int64{4, 3, 1, -1}, 4, 1), []float32{9, 10, 11, 12}},
			[]any{[]float32{0, 11, 2, 10, 9, 5, 6, 12}}, ""},
		{"ScatterND", 13, nil, []any{[]string{"a", "b"}, of([]int64{0}, 1, 1), []string{"c"}},
			[]any{[]string{"c", "b"}}, ""},
		{"ScatterND", 16, attrs{"reduction": "add"}, []any{count(3, 2), column, of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)},
			[]any{of([]float32{6, 9, 2, 3, 7, 9}, 3, 2)}, ""},
		{"ScatterND", 16, attrs{"reduction": "mul"}, []any{count(3, 2), column, of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)},
			[]any{of([]float32{0, 12, 2, 3, 12, 20}, 3, 2)}, ""},
		{"ScatterND", 18, attrs{"reduction": "max"}, []any{count(3, 2), column, of([]float32{1, 2, 3, 4, 5, -6}, 3, 2)},
			[]any{of([]float32{5, 2, 2, 3, 4, 5}, 3, 2)}, ""},
		{"ScatterND", 18, attrs{"reduction": "min"}, []any{count(3, 2), of([]int64{1, -1}, 1, 2), []float32{-4}},
			[]any{of([]float32{0, 1, 2, -4, 4, 5}, 3, 2)}, ""},
		{"ScatterND", 18, nil, []any{count(3, 2), column, []float32{1, 2, 3}}, nil, "[3 2] is wanted"},
		{"ScatterND", 18, nil, []any{count(3), of([]int64{}, 2, 0), count(2, 3)}, nil, "indices of shape [2 0]"},
		{"ScatterND", 18, nil, []any{count(3), of([]int64{3}, 1, 1), []float32{1}}, nil, "index out of range"},

		{"TensorScatter", 24, nil, []any{cache, of([]float32{1, 2}, 2, 1, 1), []int64{2, 0}},
			[]any{of([]float32{0, 0, 1, 2, 0, 0}, 2, 3, 1)}, ""},
		{"TensorScatter", 24, attrs{"axis": 1}, []any{cache, of([]float32{1, 2, 3, 4}, 2, 2, 1)},
			[]any{of([]float32{1, 2, 0, 3, 4, 0}, 2, 3, 1)}, ""},
		{"TensorScatter", 24, attrs{"mode": "circular"},
			[]any{cache, of([]float32{1, 2, 3, 4}, 2, 2, 1), []int64{2, 4}},
			[]any{of([]float32{2, 0, 1, 0, 3, 4}, 2, 3, 1)}, ""},
		{"TensorScatter", 24, nil, []any{cache, of([]float32{1, 2, 3, 4}, 2, 2, 1), []int64{2, 0}},
			nil, "2 steps at 2"},
		{"TensorScatter", 24, attrs{"axis": 0}, []any{cache, cache}, nil, "axis 0"},
		{"TensorScatter", 24, nil, []any{cache, count(2, 1, 2)}, nil, "updates of shape [2 1 2]"},
	})
}

func TestUnique(t *testing.T) {
	nan := float32(math.NaN())
	rows := of([]float32{1, 0, 0, 1, 0, 0, 2, 3, 4}, 3, 3)
	deep := of([]float32{1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1}, 2, 4, 2)
	checkNodes(t, []nodeCase{
		{"Unique", 11, attrs{"sorted": 0}, []any{[]float32{2, 1, 1, 3, 4, 3}},
			[]any{[]float32{2, 1, 3, 4}, []int64{0, 1, 3, 4}, []int64{0, 1, 1, 2, 3, 2}, []int64{1, 2, 2, 1}}, ""},
		{"Unique", 11, nil, []any{of([]float32{1, 3, 2, 3}, 2, 2)},
			[]any{[]float32{1, 2, 3}, []int64{0, 2, 1}, []int64{0, 2, 1, 2}, []int64{1, 1, 2}}, ""},
		{"Unique", 11, attrs{"axis": 0}, []any{rows},
			[]any{of([]float32{1, 0, 0, 2, 3, 4}, 2, 3), []int64{0, 2}, []int64{0, 0, 1}, []int64{2, 1}}, ""},
		{"Unique", 11, attrs{"axis": -2}, []any{deep},
			[]any{of([]float32{0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1}, 2, 3, 2),
				[]int64{1, 0, 2}, []int64{1, 0, 2, 0}, []int64{2, 1, 1}}, ""},
		{"Unique", 11, nil, []any{[]float32{2, nan, 1, nan}},
			[]any{[]float32{1, 2, nan}, []int64{2, 0, 1}, []int64{1, 2, 0, 2}, []int64{1, 1, 2}}, ""},
		{"Unique", 11, nil, []any{[]string{"b", "a", "", "b"}},
			[]any{[]string{"", "a", "b"}, []int64{2, 1, 0}, []int64{2, 1, 0, 2}, []int64{1, 1, 2}}, ""},
		{"Unique", 11, nil, []any{[]uint64{math.MaxUint64, 1}}, []any{[]uint64{1, math.MaxUint64}}, ""},
		{"Unique", 11, nil, []any{[]int64{math.MaxInt64, math.MaxInt64 - 1}},
			[]any{[]int64{math.MaxInt64 - 1, math.MaxInt64}}, ""},
		{"Unique", 28, nil, []any{as(tensor.BFloat16, []float64{2, 1, 2}, 3)},
			[]any{as(tensor.BFloat16, []float64{1, 2}, 2)}, ""},
		{"Unique", 11, nil, []any{count(0)}, []any{[]float32{}, []int64{}, []int64{}, []int64{}}, ""},
		{"Unique", 11, nil, []any{of([]int32{7})}, []any{[]int32{7}, []int64{0}, []int64{0}, []int64{1}}, ""},
		{"Unique", 11, attrs{"axis": 1}, []any{count(3)}, nil, "axis 1"},
	})
}
