package onnx

import (
	"math"
	"testing"
)

// TestShapes: what the specification says of each operator and version.
func TestShapes(t *testing.T) {
	x, words := count(2, 3), FromStrings([]string{"a", "b", "c", "d", "e", "f"}, 2, 3)
	checkNodes(t, []nodeCase{
		{"Shape", 1, nil, []any{x}, []any{[]int64{2, 3}}, ""},
		{"Shape", 13, nil, []any{count()}, []any{[]int64{}}, ""},
		{"Shape", 15, attrs{"start": -1}, []any{x}, []any{[]int64{3}}, ""},
		{"Shape", 15, attrs{"start": 1, "end": -9}, []any{x}, []any{[]int64{}}, ""},
		{"Shape", 25, attrs{"end": 9}, []any{words}, []any{[]int64{2, 3}}, ""},
		{"Size", 1, nil, []any{x}, []any{of([]int64{6})}, ""},
		{"Size", 13, nil, []any{count(0, 3)}, []any{of([]int64{0})}, ""},

		{"Reshape", 1, attrs{"shape": []int{3, -1}}, []any{x}, []any{count(3, 2)}, ""},
		{"Reshape", 5, nil, []any{x, []int64{0, 1, -1}}, []any{count(2, 1, 3)}, ""},
		{"Reshape", 13, nil, []any{words, []int64{6}}, []any{FromStrings([]string{"a", "b", "c", "d", "e", "f"})}, ""},
		{"Reshape", 14, attrs{"allowzero": 1}, []any{count(0, 3), []int64{3, 0}}, []any{count(3, 0)}, ""},
		{"Reshape", 14, nil, []any{of([]float32{7}, 1), []int64{}}, []any{of([]float32{7})}, ""},
		{"Reshape", 14, nil, []any{x, []int64{-1, -1}}, nil, "more than one"},
		{"Reshape", 14, nil, []any{x, []int64{4, -1}}, nil, "for the elements"},
		{"Reshape", 14, nil, []any{x, []int64{0, 0, 0}}, nil, "no dimension 2"},
		{"Reshape", 14, nil, []any{count(0, 3), []int64{0, -1}}, nil, "for the elements"},
		{"Reshape", 14, nil, []any{x, []int64{1 << 40, 1 << 40}}, nil, "too many"},
		{"Reshape", 14, nil, []any{x, []int64{-2, 3}}, nil, "shape"},
		{"Reshape", 14, nil, []any{x}, nil, "input 1 is missing"},

		{"Transpose", 1, nil, []any{x}, []any{of([]float32{0, 3, 1, 4, 2, 5}, 3, 2)}, ""},
		{"Transpose", 13, attrs{"perm": []int{1, 0}}, []any{words},
			[]any{FromStrings([]string{"a", "d", "b", "e", "c", "f"}, 3, 2)}, ""},
		{"Transpose", 13, nil, []any{FromStrings([]string{"a"}, []int{}...)},
			[]any{FromStrings([]string{"a"}, []int{}...)}, ""},
		{"Transpose", 13, attrs{"perm": []int{0, 0}}, []any{x}, nil, "Transpose"},

		{"Squeeze", 1, attrs{"axes": []int{0}}, []any{count(1, 2, 1)}, []any{count(2, 1)}, ""},
		{"Squeeze", 11, attrs{"axes": []int{-1}}, []any{count(1, 2, 1)}, []any{count(1, 2)}, ""},
		{"Squeeze", 13, nil, []any{count(1, 2, 1)}, []any{count(2)}, ""},
		{"Squeeze", 13, nil, []any{count(1, 2, 1), []int64{-3, 2}}, []any{count(2)}, ""},
		{"Squeeze", 13, nil, []any{x, []int64{0}}, nil, "not of dimension 1"},
		{"Squeeze", 13, nil, []any{count(1, 1), []int64{0, -2}}, nil, "named twice"},
		{"Unsqueeze", 1, attrs{"axes": []int{0, 3}}, []any{x}, []any{count(1, 2, 3, 1)}, ""},
		{"Unsqueeze", 11, attrs{"axes": []int{-1}}, []any{x}, []any{count(2, 3, 1)}, ""},
		{"Unsqueeze", 13, nil, []any{words, []int64{2, 0}},
			[]any{FromStrings([]string{"a", "b", "c", "d", "e", "f"}, 1, 2, 1, 3)}, ""},
		{"Unsqueeze", 13, nil, []any{count(), []int64{-1}}, []any{count(1)}, ""},
		{"Unsqueeze", 13, nil, []any{x, []int64{4}}, nil, "axis 4"},
		{"Unsqueeze", 13, nil, []any{x, []int64{0, 0}}, nil, "named twice"},

		{"Flatten", 1, nil, []any{count(2, 3, 4)}, []any{count(2, 12)}, ""},
		{"Flatten", 11, attrs{"axis": -1}, []any{count(2, 3, 4)}, []any{count(6, 4)}, ""},
		{"Flatten", 13, attrs{"axis": 0}, []any{count()}, []any{count(1, 1)}, ""},
		{"Flatten", 13, attrs{"axis": 3}, []any{x}, nil, "axis 3"},

		{"Expand", 8, nil, []any{of([]float32{1, 2}, 2, 1), []int64{3, 1, 2}},
			[]any{of([]float32{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}, 3, 2, 2)}, ""},
		{"Expand", 13, nil, []any{x, []int64{1}}, []any{x}, ""},
		{"Expand", 13, nil, []any{of([]int64{1}, 1), []int64{0}}, []any{[]int64{}}, ""},
		{"Expand", 13, nil, []any{x, []int64{4}}, nil, "do not broadcast"},
		{"Expand", 13, nil, []any{of([]int64{1}), []int64{math.MaxInt64, 4}}, nil, "too many"},
	})
}
