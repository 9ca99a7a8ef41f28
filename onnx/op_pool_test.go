package onnx

import (
	"math"
	"testing"
)

func TestPoolings(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"MaxPool", 12, attrs{"kernel_shape": []int{2}, "strides": []int{2}, "pads": []int{1, 0}}, []any{ramp(1, 2, 5)},
			[]any{rounded([]float64{-1.25, 0.5, 1.25, -0.75, 1, 0.75}, 1, 2, 3), of([]int64{0, 1, 3, 5, 6, 9}, 1, 2, 3)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{3, 3}, "strides": []int{2, 2}, "ceil_mode": 1}, []any{ramp(1, 1, 4, 4)},
			[]any{rounded([]float64{1, 1.25, 1.25, 1.25}, 1, 1, 2, 2), of([]int64{6, 3, 14, 14}, 1, 1, 2, 2)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}, "storage_order": 1}, []any{ramp(1, 1, 4,
			4)}, []any{rounded([]float64{0.5, 1.25, 0.75, 1.25}, 1, 1, 2, 2), of([]int64{4, 12, 6, 11}, 1, 1, 2, 2)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{2, 2}, "dilations": []int{2, 2}, "pads": []int{1, 0, 0, 1},
			"storage_order": 1}, []any{ramp(1, 1, 4, 5)}, []any{rounded([]float64{0, 1, 0.75, -1, 0.5, 1.25, 1.25, 1.25, 1, 1,
			1, 0}, 1, 1, 3, 4), of([]int64{9, 5, 17, 13, 10, 12, 18, 12, 11, 5, 11, 15}, 1, 1, 3, 4)}, ""},
		{"MaxPool", 8, attrs{"kernel_shape": []int{2, 2}, "auto_pad": "SAME_UPPER", "strides": []int{2, 2}}, []any{ramp(1,
			1, 3, 4)}, []any{rounded([]float64{0.5, 1.25, 0.75, -0.25}, 1, 1, 2, 2)}, ""},
		{"MaxPool", 1, attrs{"kernel_shape": []int{2, 2}, "auto_pad": "SAME_LOWER", "strides": []int{2, 2}}, []any{ramp(1,
			1, 3, 4)}, []any{rounded([]float64{0.5, 1.25, 0.75, 1}, 1, 1, 2, 2)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{2}, "strides": []int{2}}, []any{of([]int8{-5, 7, -128, 127, 0, 1}, 1, 1,
			6)}, []any{of([]int8{7, 127, 1}, 1, 1, 3)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{3}, "pads": []int{1, 1}, "strides": []int{3}}, []any{of([]uint8{5, 7,
			128, 255, 0, 1}, 1, 1, 6)}, []any{of([]uint8{7, 255}, 1, 1, 2)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{2, 2, 2}}, []any{ramp(1, 1, 2, 3, 3)}, []any{rounded([]float64{1.25,
			1.25, 1.25, 1.25}, 1, 1, 1, 2, 2), of([]int64{3, 14, 3, 14}, 1, 1, 1, 2, 2)}, ""},
		{"AveragePool", 7, attrs{"kernel_shape": []int{3, 3}, "pads": []int{1, 1, 1, 1}, "strides": []int{2, 2}},
			[]any{ramp(1, 1, 4, 4)}, []any{rounded([]float64{-0.3125, 0.25, -0.125, 0.055556}, 1, 1, 2, 2)}, ""},
		{"AveragePool", 7, attrs{"kernel_shape": []int{3, 3}, "pads": []int{1, 1, 1, 1}, "strides": []int{2, 2},
			"count_include_pad": 1}, []any{ramp(1, 1, 4, 4)}, []any{rounded([]float64{-0.13889, 0.16667, -0.083333, 0.055556},
			1, 1, 2, 2)}, ""},
		{"AveragePool", 19, attrs{"kernel_shape": []int{3}, "pads": []int{2, 0}, "ceil_mode": 1, "strides": []int{2},
			"count_include_pad": 1}, []any{ramp(1, 1, 6)}, []any{rounded([]float64{-0.41667, -0.41667, 0.33333, -0.25}, 1, 1,
			4)}, ""},
		{"AveragePool", 19, attrs{"kernel_shape": []int{3}, "pads": []int{2, 0}, "ceil_mode": 1, "strides": []int{2}},
			[]any{ramp(1, 1, 6)}, []any{rounded([]float64{-1.25, -0.41667, 0.33333, -0.25}, 1, 1, 4)}, ""},
		{"AveragePool", 19, attrs{"kernel_shape": []int{2, 2}, "dilations": []int{2, 2}, "pads": []int{1, 1, 0, 0},
			"strides": []int{2, 2}}, []any{ramp(1, 1, 5, 5)}, []any{rounded([]float64{1, 0, 0.125, -0.1875}, 1, 1, 2, 2)}, ""},
		{"AveragePool", 11, attrs{"kernel_shape": []int{2, 2}, "auto_pad": "SAME_UPPER"}, []any{ramp(1, 1, 3, 4)},
			[]any{rounded([]float64{-0.3125, 0.0625, 0.4375, 0.625, -0.1875, 0.1875, -0.125, -0.625, -0.125, 0.25, -0.75,
				-1.25}, 1, 1, 3, 4)}, ""},
		{"AveragePool", 1, attrs{"kernel_shape": []int{3}, "pads": []int{1, 1}}, []any{ramp(1, 1, 5)},
			[]any{rounded([]float64{-0.375, -0.41667, 0.41667, 0.33333, 0.75}, 1, 1, 5)}, ""},
		{"LpPool", 18, attrs{"kernel_shape": []int{2}, "p": 3, "pads": []int{0, 1}}, []any{ramp(1, 1, 5)},
			[]any{rounded([]float64{1.2761, 0.62996, 1.2761, 1.2533, 0.25}, 1, 1, 5)}, ""},
		{"LpPool", 2, attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}}, []any{ramp(1, 1, 4, 4)},
			[]any{rounded([]float64{1.5612, 1.6771, 1.4361, 1.8028}, 1, 1, 2, 2)}, ""},
		{"LpPool", 18, attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}, "dilations": []int{3, 1}, "p": 1},
			[]any{ramp(1, 1, 5, 5)}, []any{rounded([]float64{2.75, 2.75}, 1, 1, 1, 2)}, ""},
		{"LpPool", 1, attrs{"kernel_shape": []int{2}, "strides": []int{2}, "p": 3.0}, []any{ramp(1, 1, 4)},
			[]any{rounded([]float64{1.2761, 1.2761}, 1, 1, 2)}, ""},
		{"GlobalAveragePool", 1, nil, []any{ramp(1, 2, 3, 2)}, []any{rounded([]float64{-0.083333, -0.125}, 1, 2, 1, 1)}, ""},
		{"GlobalMaxPool", 1, nil, []any{ramp(1, 2, 3, 2)}, []any{rounded([]float64{1.25, 1}, 1, 2, 1, 1)}, ""},
		{"GlobalLpPool", 2, nil, []any{ramp(1, 2, 3, 2)}, []any{rounded([]float64{2.0616, 2.0463}, 1, 2, 1, 1)}, ""},
		{"GlobalLpPool", 2, attrs{"p": 1}, []any{ramp(1, 2, 3, 2)}, []any{rounded([]float64{4.5, 4.25}, 1, 2, 1, 1)}, ""},
		{"MaxUnpool", 9, attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}}, []any{of([]float32{1, 2, 3, 4}, 1, 1,
			2, 2), of([]int64{5, 7, 8, 10}, 1, 1, 2, 2)}, []any{rounded([]float64{0, 0, 0, 0, 0, 1, 0, 2, 3, 0, 4, 0, 0, 0, 0,
			0}, 1, 1, 4, 4)}, ""},
		{"MaxUnpool", 11, attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}}, []any{of([]float32{1, 2, 3, 4}, 1, 1,
			2, 2), of([]int64{5, 7, 13, 15}, 1, 1, 2, 2), []int64{1, 1, 5, 5}}, []any{rounded([]float64{0, 0, 0, 0, 0, 0, 1, 0,
			2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0}, 1, 1, 5, 5)}, ""},
	})
}

func TestPoolingEdges(t *testing.T) {
	inf, nan := float32(math.Inf(-1)), float32(math.NaN())
	low, x, window := of([]float32{inf, inf, inf}, 1, 1, 3), ramp(1, 1, 4), attrs{"kernel_shape": []int{2}}
	checkNodes(t, []nodeCase{
		{"MaxPool", 12, attrs{"kernel_shape": []int{2}, "pads": []int{1, 0}}, []any{low},
			[]any{low, of([]int64{0, 0, 1}, 1, 1, 3)}, ""},
		{"MaxPool", 12, attrs{"kernel_shape": []int{1}}, []any{of([]float32{}, 0, 1, 4)},
			[]any{of([]float32{}, 0, 1, 4), of([]int64{}, 0, 1, 4)}, ""},
		{"GlobalMaxPool", 1, nil, []any{of([]float32{1, nan}, 1, 1, 2)}, []any{of([]float32{nan}, 1, 1, 1)}, ""},
		{"AveragePool", 11, attrs{"kernel_shape": []int{2}, "auto_pad": "SAME_UPPER", "count_include_pad": 1}, []any{x},
			[]any{rounded([]float64{-0.375, 0, 0.375, 0.625}, 1, 1, 4)}, ""},
		{"MaxPool", 12, nil, []any{x}, nil, "kernel_shape"},
		{"AveragePool", 11, window, []any{[]float32{1, 2}}, nil, "spatial"},
		{"AveragePool", 11, window, []any{ramp(1, 1, 2, 2)}, nil, "kernel_shape"},
		{"MaxPool", 12, attrs{"kernel_shape": []int{5}}, []any{x}, nil, "reach over 5"},
		{"LpPool", 18, attrs{"kernel_shape": []int{2}, "p": 0}, []any{x}, nil, "p is 0"},
		{"MaxPool", 12, attrs{"kernel_shape": []int{1, 1, 1, 1}}, []any{ramp(1, 1, 1, 1, 1, 1)}, nil, "4 spatial axes"},
		{"GlobalMaxPool", 1, nil, []any{ramp(2, 2)}, nil, "spatial"},
		{"MaxUnpool", 9, window, []any{x, of([]int64{0, 1, 2, 99}, 1, 1, 4)}, nil, "indices"},
		{"MaxUnpool", 9, window, []any{x, []int64{0}}, nil, "shape"},
		{"MaxUnpool", 9, attrs{"kernel_shape": []int{1}, "pads": []int{3, 3}}, []any{x, x}, nil, "size"},
	})
}
