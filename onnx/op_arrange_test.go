package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestArrange(t *testing.T) {
	x, words := count(2, 3), FromStrings([]string{"a", "b", "c", "d", "e", "f"}, 2, 3)
	grid := of([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	checkNodes(t, []nodeCase{
		{"Concat", 1, nil, []any{x, x}, []any{of([]float32{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 2, 6)}, ""},
		{"Concat", 4, attrs{"axis": 0}, []any{x, count(0, 3), x},
			[]any{of([]float32{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, 4, 3)}, ""},
		{"Concat", 13, attrs{"axis": -1}, []any{[]string{"a"}, []string{"b", "a"}}, []any{[]string{"a", "b", "a"}}, ""},
		{"Concat", 13, nil, []any{x}, nil, "axis is missing"},
		{"Concat", 13, attrs{"axis": 0}, []any{x, count(2, 2)}, nil, "Concat"},
		{"Concat", 13, attrs{"axis": 0}, []any{words, x}, nil, "do not mix"},

		{"Split", 1, attrs{"axis": 1, "split": []int{1, 2}}, []any{x},
			[]any{of([]float32{0, 3}, 2, 1), of([]float32{1, 2, 4, 5}, 2, 2)}, ""},
		{"Split", 1, nil, []any{count(3), []float32{1, 2}}, []any{of([]float32{0}, 1), of([]float32{1, 2}, 2)}, ""},
		{"Split", 2, nil, []any{count(4)}, []any{[]float32{0, 1}, []float32{2, 3}}, ""},
		{"Split", 11, attrs{"axis": -1}, []any{count(3)}, []any{count(2), count(1)}, "equal parts"},
		{"Split", 13, nil, []any{[]string{"a", "b", "c"}, []int64{0, 3}},
			[]any{[]string{}, []string{"a", "b", "c"}}, ""},
		{"Split", 18, attrs{"num_outputs": 3}, []any{count(7)},
			[]any{[]float32{0, 1, 2}, []float32{3, 4, 5}, []float32{6}}, ""},
		{"Split", 18, attrs{"num_outputs": 4}, []any{count(5)},
			[]any{[]float32{0, 1}, []float32{2, 3}, []float32{4}, []float32{}}, ""},
		{"Split", 13, nil, []any{count(4), []int64{3, 2}}, nil, "parts of [3 2]"},
		{"Split", 13, nil, []any{count(4), []int64{5, -1}}, nil, "parts of [5 -1]"},

		{"Slice", 1, attrs{"starts": []int{0, 1}, "ends": []int{-1, 1000}}, []any{grid},
			[]any{of([]float32{2, 3, 4}, 1, 3)}, ""},
		{"Slice", 10, nil, []any{grid, []int64{1, 0}, []int64{2, 3}, []int64{0, 1}, []int64{1, 2}},
			[]any{of([]float32{5, 7}, 1, 2)}, ""},
		{"Slice", 11, nil, []any{count(5), []int32{-1}, []int32{math.MinInt32}, []int32{-1}, []int32{-2}},
			[]any{[]float32{4, 2, 0}}, ""},
		{"Slice", 13, nil, []any{words, []int64{5}, []int64{0}, []int64{1}, []int64{-1}},
			[]any{FromStrings([]string{"c", "b", "f", "e"}, 2, 2)}, ""},
		{"Slice", 13, nil, []any{count(5), []int64{3}, []int64{1}}, []any{[]float32{}}, ""},
		{"Slice", 13, nil, []any{count(0), []int64{-1}, []int64{math.MinInt64}, nil, []int64{-1}},
			[]any{[]float32{}}, ""},
		{"Slice", 13, nil, []any{count(5), []int64{1}, []int64{math.MaxInt64}, nil, []int64{math.MaxInt64}},
			[]any{[]float32{1}}, ""},
		{"Slice", 13, nil, []any{count(5), []int64{1}, []int64{2}, nil, []int64{0}}, nil, "a step of 0"},
		{"Slice", 13, nil, []any{count(5), []int64{1, 2}, []int64{2}}, nil, "2 starts, 1 ends"},
		{"Slice", 13, nil, []any{count(5), []int64{1}, []int64{2}, []int64{1}}, nil, "axis 1"},

		{"Tile", 1, nil, []any{x, of([]float32{2}), of([]float32{1})},
			[]any{of([]float32{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 2, 6)}, ""},
		{"Tile", 6, nil, []any{count(2, 1), []int64{1, 2}}, []any{of([]float32{0, 0, 1, 1}, 2, 2)}, ""},
		{"Tile", 13, nil, []any{[]string{"a", "b"}, []int64{2}}, []any{[]string{"a", "b", "a", "b"}}, ""},
		{"Tile", 13, nil, []any{count(2), []int64{0}}, []any{[]float32{}}, ""},
		{"Tile", 13, nil, []any{count(2), []int64{1, 2}}, nil, "2 repeats"},
		{"Tile", 13, nil, []any{count(2), []int64{-1}}, nil, "repeats"},
		{"Tile", 13, nil, []any{count(2), []int64{math.MaxInt64}}, nil, "repeats"},

		{"DepthToSpace", 1, attrs{"blocksize": 2}, []any{count(1, 4, 1, 2)},
			[]any{of([]float32{0, 2, 1, 3, 4, 6, 5, 7}, 1, 1, 2, 4)}, ""},
		{"DepthToSpace", 11, attrs{"blocksize": 2, "mode": "CRD"}, []any{count(1, 8, 1, 1)},
			[]any{count(1, 2, 2, 2)}, ""},
		{"DepthToSpace", 13, attrs{"blocksize": 2, "mode": "DCR"}, []any{count(1, 8, 1, 1)},
			[]any{of([]float32{0, 2, 4, 6, 1, 3, 5, 7}, 1, 2, 2, 2)}, ""},
		{"DepthToSpace", 13, attrs{"blocksize": 3}, []any{count(1, 8, 1, 1)}, nil, "8 channels"},
		{"DepthToSpace", 13, attrs{"blocksize": 0}, []any{count(1, 8, 1, 1)}, nil, "blocksize"},
		{"DepthToSpace", 13, attrs{"blocksize": 2}, []any{count(8)}, nil, "rank 1"},
		{"SpaceToDepth", 1, attrs{"blocksize": 2}, []any{count(1, 2, 2, 2)},
			[]any{of([]float32{0, 4, 1, 5, 2, 6, 3, 7}, 1, 8, 1, 1)}, ""},
		{"SpaceToDepth", 28, attrs{"blocksize": 2, "mode": "CRD"}, []any{count(1, 2, 2, 2)},
			[]any{count(1, 8, 1, 1)}, ""},
		{"SpaceToDepth", 13, attrs{"blocksize": 2}, []any{count(1, 1, 3, 2)}, nil, "3×2 pixels"},

		{"ReverseSequence", 10, attrs{"time_axis": 0, "batch_axis": 1},
			[]any{of([]float32{0, 4, 8, 1, 5, 9, 2, 6, 10}, 3, 3), []int64{3, 2, 0}},
			[]any{of([]float32{2, 5, 8, 1, 4, 9, 0, 6, 10}, 3, 3)}, ""},
		{"ReverseSequence", 10, attrs{"time_axis": 1, "batch_axis": 0}, []any{words, []int64{1, 2}},
			[]any{FromStrings([]string{"a", "b", "c", "e", "d", "f"}, 2, 3)}, ""},
		{"ReverseSequence", 10, nil, []any{x, []int64{1, 3, 1}}, nil, "a length of 3"},
		{"ReverseSequence", 10, attrs{"time_axis": 1}, []any{x, []int64{1, 1}}, nil, "batch_axis 1"},

		{"Trilu", 14, nil, []any{x}, []any{of([]float32{0, 1, 2, 0, 4, 5}, 2, 3)}, ""},
		{"Trilu", 14, attrs{"upper": 0}, []any{x, of([]int64{-1})}, []any{of([]float32{0, 0, 0, 3, 0, 0}, 2, 3)}, ""},
		{"Trilu", 14, nil, []any{of([]bool{true, true, true, true}, 2, 2), of([]int64{math.MinInt64})},
			[]any{of([]bool{true, true, true, true}, 2, 2)}, ""},
		{"Trilu", 14, nil, []any{words, of([]int64{2})},
			[]any{FromStrings([]string{"", "", "c", "", "", ""}, 2, 3)}, ""},
		{"Trilu", 14, nil, []any{count(3)}, nil, "no matrices"},
	})
}

func TestPad(t *testing.T) {
	three, inf := []float32{1, 2, 3}, float32(math.Inf(1))
	checkNodes(t, []nodeCase{
		{"Pad", 1, attrs{"paddings": []int{1, 0}, "value": 7.0}, []any{three}, []any{[]float32{7, 1, 2, 3}}, ""},
		{"Pad", 2, attrs{"pads": []int{0, 1, 0, 2}}, []any{count(1, 2)}, []any{of([]float32{0, 0, 1, 0, 0}, 1, 5)}, ""},
		{"Pad", 2, attrs{"pads": []int{2, 1}, "mode": "reflect"}, []any{three}, []any{[]float32{3, 2, 1, 2, 3, 2}}, ""},
		{"Pad", 11, attrs{"mode": "edge"}, []any{three, []int64{2, 1}}, []any{[]float32{1, 1, 1, 2, 3, 3}}, ""},
		{"Pad", 11, attrs{"mode": "edge"}, []any{three, []int64{-1, 1}}, []any{[]float32{2, 3, 3}}, ""},
		{"Pad", 13, nil, []any{three, []int64{-1, 1}, of([]float32{-inf})}, []any{[]float32{2, 3, -inf}}, ""},
		{"Pad", 13, attrs{"mode": "reflect"}, []any{[]float32{0, 1, 2, 3}, []int64{-1, 2}},
			[]any{[]float32{1, 2, 3, 2, 1}}, ""},
		{"Pad", 13, attrs{"mode": "reflect"}, []any{three, []int64{5, 4}},
			[]any{[]float32{2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}}, ""},
		{"Pad", 13, attrs{"mode": "reflect"}, []any{[]float32{1}, []int64{1, 2}}, []any{[]float32{1, 1, 1, 1}}, ""},
		{"Pad", 13, nil, []any{[]int64{5}, []int64{0, 1}, of([]int64{math.MaxInt64})},
			[]any{[]int64{5, math.MaxInt64}}, ""},
		{"Pad", 13, nil, []any{[]bool{false}, []int64{1, 0}, of([]bool{true})}, []any{[]bool{true, false}}, ""},
		{"Pad", 13, nil, []any{as(tensor.Float16, []float64{1}, 1), []int64{0, 1}},
			[]any{as(tensor.Float16, []float64{1, 0}, 2)}, ""},
		{"Pad", 18, nil, []any{count(1, 2), []int64{1, 0}, nil, []int64{-2}},
			[]any{of([]float32{0, 0, 0, 1}, 2, 2)}, ""},
		{"Pad", 18, nil, []any{[]string{"a"}, []int64{1, 1}, []string{"b"}}, []any{[]string{"b", "a", "b"}}, ""},
		{"Pad", 18, nil, []any{[]string{"a"}, []int64{1, 1}}, []any{[]string{"", "a", ""}}, ""},
		{"Pad", 19, attrs{"mode": "wrap"}, []any{three, []int64{1, 2}}, []any{[]float32{3, 1, 2, 3, 1, 2}}, ""},
		{"Pad", 19, attrs{"mode": "wrap"}, []any{three, []int64{4, 3}},
			[]any{[]float32{3, 1, 2, 3, 1, 2, 3, 1, 2, 3}}, ""},
		{"Pad", 19, attrs{"mode": "wrap"}, []any{[]float32{0, 1, 2, 3}, []int64{2, -1}},
			[]any{[]float32{1, 2, 0, 1, 2}}, ""},
		{"Pad", 19, attrs{"mode": "wrap"}, []any{count(0), []int64{1, 0}}, nil, "nothing to pad with"},
		{"Pad", 13, nil, []any{three, []int64{1}}, nil, "1 pads"},
		{"Pad", 13, nil, []any{three, []int64{-2, -2}}, nil, "pads [-2 -2]"},
		{"Pad", 13, nil, []any{three, []int64{math.MinInt64, math.MinInt64}}, nil, "pads"},
		{"Pad", 13, nil, []any{three, []int64{1 << 40, 0}}, nil, "too many"},
		{"Pad", 13, attrs{"mode": "other"}, []any{three, []int64{1, 1}}, nil, "mode"},

		{"CenterCropPad", 18, nil, []any{three, []int64{6}}, []any{[]float32{0, 1, 2, 3, 0, 0}}, ""},
		{"CenterCropPad", 18, nil, []any{count(6), []int32{3}}, []any{[]float32{1, 2, 3}}, ""},
		{"CenterCropPad", 18, attrs{"axes": []int{-1}}, []any{count(2, 3), []int64{1}},
			[]any{of([]float32{1, 4}, 2, 1)}, ""},
		{"CenterCropPad", 18, nil, []any{[]string{"a"}, []int64{2}}, []any{[]string{"a", ""}}, ""},
		{"CenterCropPad", 18, nil, []any{three, []int64{-1}}, nil, "shape"},
		{"CenterCropPad", 18, nil, []any{three, []int64{1, 2}}, nil, "2 dimensions"},
	})
}
