package onnx

import "testing"

// TestNonMaxSuppression: boxes as in the specification's examples, [y1, x1, y2, x2] and by their centres.
func TestNonMaxSuppression(t *testing.T) {
	boxes := of([]float32{
		0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101,
	}, 1, 6, 4)
	flipped := of([]float32{
		1, 1, 0, 0, 0, 0.1, 1, 1.1, 0, 0.9, 1, -0.1, 0, 10, 1, 11, 1, 10.1, 0, 11.1, 1, 101, 0, 100,
	}, 1, 6, 4)
	centres := of([]float32{
		0.5, 0.5, 1, 1, 0.5, 0.6, 1, 1, 0.5, 0.4, 1, 1, 0.5, 10.5, 1, 1, 0.5, 10.6, 1, 1, 0.5, 100.5, 1, 1,
	}, 1, 6, 4)
	scores := of([]float32{0.9, 0.75, 0.6, 0.95, 0.5, 0.3}, 1, 1, 6)
	three, half, none := of([]int64{3}, 1), of([]float32{0.5}, 1), of([]float32{0}, 1)
	selected := of([]int64{0, 0, 3, 0, 0, 0, 0, 0, 5}, 3, 3)
	// Boxes of unit size beside each other, half of each in the next: their overlap is a third.
	row := of([]float32{0, 0, 1, 1, 0, 0.5, 1, 1.5, 0, 1, 1, 2}, 1, 3, 4)
	equal := of([]float32{1, 1, 1}, 1, 1, 3)
	checkNodes(t, []nodeCase{
		{"NonMaxSuppression", 10, nil, []any{boxes, scores, three, half, none}, []any{selected}, ""},
		{"NonMaxSuppression", 11, nil, []any{flipped, scores, three, half, none}, []any{selected}, ""},
		{"NonMaxSuppression", 11, attrs{"center_point_box": 1}, []any{centres, scores, three, half, none},
			[]any{selected}, ""},
		{"NonMaxSuppression", 11, nil, []any{boxes, scores, of([]int64{2}), half, of([]float32{0.4})},
			[]any{of([]int64{0, 0, 3, 0, 0, 0}, 2, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{boxes, scores, three, half, of([]float32{0.95})},
			[]any{of([]int64{}, 0, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{boxes, scores}, []any{of([]int64{}, 0, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{row, equal, three}, []any{of([]int64{0, 0, 0, 0, 0, 2}, 2, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{row, equal, three, of([]float32{0.25})},
			[]any{of([]int64{0, 0, 0, 0, 0, 2}, 2, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{row, equal, three, of([]float32{float32(0.5) / float32(1.5)})},
			[]any{of([]int64{0, 0, 0, 0, 0, 1, 0, 0, 2}, 3, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{of(make([]float32, 16), 2, 2, 4), count(2, 2, 2), of([]int64{1})},
			[]any{of([]int64{0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1}, 4, 3)}, ""},
		{"NonMaxSuppression", 11, nil, []any{boxes, count(1, 1, 5), three}, nil, "boxes of shape"},
		{"NonMaxSuppression", 11, attrs{"center_point_box": 2}, []any{boxes, scores, three}, nil, "center_point_box"},
	})
}
