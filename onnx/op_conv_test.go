package onnx

import (
	"math"
	"testing"
)

func TestConvolutions(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"Conv", 11, attrs{"pads": []int{2, 1}, "strides": []int{2}}, []any{ramp(1, 1, 6), ramp(2, 1, 3), []float32{1, -1}},
			[]any{rounded([]float64{1.625, 3.0625, 2.125, 0.3125, -0.0625, -2.0625, -1.5, -0.875}, 1, 2, 4)}, ""},
		{"Conv", 1, attrs{"auto_pad": "SAME_LOWER", "strides": []int{2, 2}}, []any{ramp(1, 2, 4, 4), ramp(2, 2, 3, 3)},
			[]any{rounded([]float64{0.875, -0.5625, 1.375, 3.0625, 1.625, 1.4375, 1.875, -2.4375}, 1, 2, 2, 2)}, ""},
		{"Conv", 11, attrs{"auto_pad": "SAME_UPPER"}, []any{ramp(1, 2, 4, 4), ramp(2, 2, 2, 2)},
			[]any{rounded([]float64{0.5625, 0.75, 0.25, -1.3125, 0.625, 2.875, -3.125, 0, 0.6875, 0.875, -1, 2, -0.625, 2,
				-2.25, -0.125, 2.5, -2.0625, 0.25, -1.125, -1.3125, 3.75, -0.125, -0.375, 2.4375, -2.125, -1.875, 1.75, -0.375,
				1.9375, -1.9375, 0.125}, 1, 2, 4, 4)}, ""},
		{"Conv", 22, attrs{"group": 2, "dilations": []int{2, 3}, "auto_pad": "VALID"}, []any{ramp(1, 2, 5, 5), ramp(4, 1, 2,
			2)}, []any{rounded([]float64{1.6875, 1.6875, 0.3125, -1.75, 0.3125, 1.6875, -1.5, -1.3125, 0.8125, -1.0625, 1.0625,
			-1.5, 0.5625, -1.8125, 0.375, 1.4375, -0.5, 0.5625, -0.6875, 1.9375, 0.0625, -1.4375, 0.8125, -0.6875}, 1, 4, 3,
			2)}, ""},
		{"Conv", 11, attrs{"strides": []int{1, 2, 1}, "pads": []int{0, 1, 0, 0, 0, 1}, "kernel_shape": []int{2, 2, 2}},
			[]any{ramp(1, 1, 3, 3, 3), ramp(1, 1, 2, 2, 2)}, []any{rounded([]float64{2, -1.125, -1, -1.1875, -3.75, 2.75,
				-0.6875, -2.4375, 1.375, -1.5625, 3.4375, -1.6875}, 1, 1, 2, 2, 3)}, ""},
		{"ConvTranspose", 11, attrs{"strides": []int{2}, "pads": []int{0, 1}, "output_padding": []int{1}}, []any{ramp(1, 1,
			3), ramp(1, 2, 3), []float32{1, -1}}, []any{rounded([]float64{2.5625, 0.375, 1, 1.25, 1.375, 0.75, 1.25, -2.5625,
			-1.3125, 0.5625, -0.875, -2, -1.125, -0.625}, 1, 2, 7)}, ""},
		{"ConvTranspose", 11, attrs{"group": 2, "strides": []int{2, 2}, "dilations": []int{2, 1}}, []any{ramp(1, 2, 2, 2),
			ramp(2, 1, 2, 2)}, []any{rounded([]float64{1.5625, -0.625, -0.625, 0.25, 0, 0, 0, 0, 1.25, -1.8125, -1.8125, 1.25,
			0, 0, 0, 0, 0.25, -0.625, -0.625, 1.5625, 0.0625, -0.1875, -0.1875, 0.5625, 0, 0, 0, 0, 0.5, -0.75, -0.75, 0, 0, 0,
			0, 0, 1, 0, 0, 0}, 1, 2, 5, 4)}, ""},
		{"ConvTranspose", 11, attrs{"strides": []int{2, 2}, "output_shape": []int{4, 4}}, []any{ramp(1, 1, 2, 2), ramp(1, 1,
			3, 3)}, []any{rounded([]float64{-0.3125, 1.5625, 0.125, -0.375, -0.25, 0.4375, 0.625, -1.125, -0.125, 1.9375,
			0.3125, -0.9375, 0, 1.75, 0, -1.25}, 1, 1, 4, 4)}, ""},
		{"ConvTranspose", 11, attrs{"strides": []int{2, 2}, "output_shape": []int{4, 4}, "auto_pad": "SAME_UPPER"},
			[]any{ramp(1, 1, 2, 2), ramp(1, 1, 3, 3)}, []any{rounded([]float64{1.5625, -0.625, 0, 0.25, -1.5625, -0.3125,
				1.5625, 0.125, -0.625, -0.25, 0.4375, 0.625, -0.625, -0.125, 1.9375, 0.3125}, 1, 1, 4, 4)}, ""},
		{"ConvTranspose", 11, attrs{"strides": []int{2}, "auto_pad": "SAME_LOWER"}, []any{ramp(1, 1, 3), ramp(1, 1, 3)},
			[]any{rounded([]float64{-0.625, 0, 0.25, 0.375, -0.25, 0.25}, 1, 1, 6)}, ""},
		{"ConvTranspose", 1, attrs{"strides": []int{2}, "output_shape": []int{6}}, []any{ramp(1, 1, 3), ramp(1, 1, 3)},
			[]any{rounded([]float64{1.5625, -0.625, 0, 0.25, 0.375, -0.25}, 1, 1, 6)}, ""},
		{"ConvTranspose", 11, attrs{"strides": []int{2}, "output_shape": []int{6}}, []any{ramp(1, 1, 3), ramp(1, 1, 3)},
			[]any{rounded([]float64{-0.625, 0, 0.25, 0.375, -0.25, 0.25}, 1, 1, 6)}, ""},
		{"ConvTranspose", 11, attrs{"pads": []int{0, 0, 1, 0, 0, 0}}, []any{ramp(1, 1, 1, 2, 2), ramp(1, 1, 1, 2, 2)},
			[]any{rounded([]float64{-1.25, 0.25, -3.625, 1.25, -1.25, 1.5625}, 1, 1, 1, 3, 2)}, ""},
	})
}

func TestConvolutionEdges(t *testing.T) {
	x, w := ramp(1, 2, 4), ramp(2, 2, 3)
	checkNodes(t, []nodeCase{
		{"Conv", 11, nil, []any{of([]float32{}, 0, 2, 4), w}, []any{of([]float32{}, 0, 2, 2)}, ""},
		{"Conv", 11, attrs{"pads": []int{-1, 0}}, []any{x, w}, []any{rounded([]float64{-2.1875, -1.5625}, 1, 2, 1)}, ""},
		// zeros around the whole result, and the bias
		{"ConvTranspose", 11, attrs{"output_shape": []int{5}},
			[]any{of([]float32{1, 2}, 1, 1, 2), of([]float32{1, 10}, 1, 1, 2), []float32{0.5}},
			[]any{of([]float32{0.5, 1.5, 12.5, 20.5, 0.5}, 1, 1, 5)}, ""},
		{"Conv", 11, nil, []any{x}, nil, "missing"},
		{"Conv", 11, nil, []any{x, ramp(2, 2, 5)}, nil, "reach over 5"},
		{"Conv", 11, nil, []any{x, ramp(2, 2, 3, 3)}, nil, "weights"},
		{"Conv", 11, nil, []any{[]float32{1}, w}, nil, "spatial"},
		{"Conv", 11, attrs{"group": 0}, []any{x, w}, nil, "group"},
		{"Conv", 11, attrs{"group": 2}, []any{x, w}, nil, "shape"},
		{"Conv", 11, attrs{"strides": []int{0}}, []any{x, w}, nil, "strides"},
		{"Conv", 11, attrs{"strides": []int{1, 1}}, []any{x, w}, nil, "strides"},
		{"Conv", 11, attrs{"pads": []int{1}}, []any{x, w}, nil, "pads"},
		{"Conv", 11, attrs{"pads": []int{math.MaxInt, 0}}, []any{x, w}, nil, "pads"},
		{"Conv", 11, attrs{"kernel_shape": []int{2}}, []any{x, w}, nil, "kernel_shape"},
		{"Conv", 11, attrs{"auto_pad": "SAME"}, []any{x, w}, nil, "auto_pad"},
		{"Conv", 11, nil, []any{ramp(1, 1, 2, 2, 2, 2), ramp(1, 1, 1, 1, 1, 1)}, nil, "4 spatial axes"},
		{"ConvTranspose", 11, attrs{"pads": []int{5, 5}}, []any{x, w}, nil, "shape"},
		{"ConvTranspose", 11, attrs{"output_shape": []int{1, 2}}, []any{x, w}, nil, "output_shape"},
		{"ConvTranspose", 11, attrs{"output_shape": []int{math.MaxInt}}, []any{x, w}, nil, "output_shape"},
	})
}
