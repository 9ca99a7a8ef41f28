package onnx

import "testing"

func TestDeformedAndFolded(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"DeformConv", 19, nil, []any{ramp(1, 1, 3, 3), ramp(1, 1, 2, 2), ramp(1, 8, 2, 2)},
			[]any{rounded([]float64{-0.86719, -1.2734, 0.21094, -0.26953}, 1, 1, 2, 2)}, ""},
		{"DeformConv", 19, attrs{"group": 2, "offset_group": 2, "strides": []int{2, 2}, "pads": []int{1, 0, 0, 1},
			"dilations": []int{1, 2}}, []any{ramp(1, 2, 4, 4), ramp(2, 1, 2, 2), ramp(1, 16, 2, 2), []float32{1, -1}, ramp(1,
			8, 2, 2)}, []any{rounded([]float64{1.3984, 0.53516, 1.7227, 1.1172, -1, -1.2344, -0.46094, -1.5469}, 1, 2, 2, 2)},
			""},
		{"Col2Im", 18, nil, []any{ramp(1, 4, 4), []int64{3, 3}, []int64{2, 2}}, []any{rounded([]float64{-1.25, 0.75, -0.75,
			-1.5, 3.5, -0.5, -0.25, 0, 0.25}, 1, 1, 3, 3)}, ""},
		{"Col2Im", 18, attrs{"strides": []int{2, 3}, "pads": []int{0, 1, 0, 0}, "dilations": []int{1, 2}}, []any{ramp(1, 4,
			2), []int64{4, 3}, []int64{2, 2}}, []any{rounded([]float64{0, -0.5, 0, 0, 1, 0, 0, 1.25, 0, 0, 0, 0}, 1, 1, 4, 3)},
			""},
		{"Col2Im", 18, nil, []any{of([]int32{1, 2, 3, 4, 5, 6}, 1, 2, 3), []int64{4}, []int64{2}}, []any{of([]int32{1, 6, 8,
			6}, 1, 1, 4)}, ""},
	})
}

func TestDeformedAndFoldedErrors(t *testing.T) {
	x, w := ramp(1, 2, 3, 3), ramp(2, 2, 2, 2)
	checkNodes(t, []nodeCase{
		{"DeformConv", 19, nil, []any{x, w, ramp(1, 4, 2, 2)}, nil, "offsets"},
		{"DeformConv", 19, attrs{"offset_group": 3}, []any{x, w, ramp(1, 24, 2, 2)}, nil, "groups"},
		{"DeformConv", 19, nil, []any{x, ramp(2, 2, 4, 4), ramp(1, 32, 1, 1)}, nil, "reach over"},
		{"DeformConv", 19, nil, []any{x, w, ramp(1, 8, 2, 2), nil, ramp(1, 3, 2, 2)}, nil, "shape"},
		{"Col2Im", 18, nil, []any{ramp(1, 4, 3), []int64{3, 3}, []int64{2, 2}}, nil, "blocks"},
		{"Col2Im", 18, nil, []any{ramp(1, 3, 4), []int64{3, 3}, []int64{2, 2}}, nil, "blocks"},
		{"Col2Im", 18, nil, []any{ramp(1, 4, 4), []int64{3}, []int64{2, 2}}, nil, "blocks"},
		{"Col2Im", 18, nil, []any{ramp(1, 4, 4), []int64{1 << 40, 1 << 40}, []int64{2, 2}}, nil, "image"},
	})
}
