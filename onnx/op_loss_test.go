package onnx

import "testing"

func TestLosses(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"NegativeLogLikelihoodLoss", 13, attrs{"reduction": "none", "ignore_index": -1}, []any{ramp(2, 3, 2), of([]int64{0,
			2, 1, -1}, 2, 2), []float32{1, 2, 4}}, []any{rounded([]float64{1.25, 3, 2, 0}, 2, 2)}, ""},
		{"NegativeLogLikelihoodLoss", 13, attrs{"reduction": "sum", "ignore_index": -1}, []any{ramp(2, 3, 2), of([]int64{0,
			2, 1, -1}, 2, 2), []float32{1, 2, 4}}, []any{rounded([]float64{6.25})}, ""},
		{"NegativeLogLikelihoodLoss", 13, attrs{"reduction": "mean", "ignore_index": -1}, []any{ramp(2, 3, 2), of([]int64{0,
			2, 1, -1}, 2, 2), []float32{1, 2, 4}}, []any{rounded([]float64{0.89286})}, ""},
		{"NegativeLogLikelihoodLoss", 12, nil, []any{ramp(2, 3), []int32{2, 0}}, []any{rounded([]float64{-0.375})}, ""},
		{"SoftmaxCrossEntropyLoss", 13, attrs{"reduction": "none", "ignore_index": -1}, []any{ramp(2, 3, 2), of([]int64{0,
			2, 1, -1}, 2, 2), []float32{1, 2, 4}}, []any{rounded([]float64{2.028, 9.8992, 4.7039, 0}, 2, 2)}, ""},
		{"SoftmaxCrossEntropyLoss", 13, attrs{"reduction": "sum", "ignore_index": -1}, []any{ramp(2, 3, 2), of([]int64{0, 2,
			1, -1}, 2, 2), []float32{1, 2, 4}}, []any{rounded([]float64{16.631})}, ""},
		{"SoftmaxCrossEntropyLoss", 13, attrs{"reduction": "mean", "ignore_index": -1}, []any{ramp(2, 3, 2), of([]int64{0,
			2, 1, -1}, 2, 2), []float32{1, 2, 4}}, []any{rounded([]float64{2.3759})}, ""},
		{"SoftmaxCrossEntropyLoss", 12, nil, []any{ramp(2, 3), []int32{2, 0}}, []any{rounded([]float64{0.92023})}, ""},
		{"SoftmaxCrossEntropyLoss", 13, attrs{"reduction": "sum"}, []any{ramp(2, 3, 2), of([]int64{0, 2, 1, 1}, 2, 2)},
			[]any{rounded([]float64{7.3295}), rounded([]float64{-2.028, -1.2248, -1.278, -0.47481, -0.52798, -2.4748, -0.35195,
				-1.2248, -2.352, -0.47481, -1.602, -2.4748}, 2, 3, 2)}, ""},
	})
}

func TestLossErrors(t *testing.T) {
	x := ramp(2, 3)
	checkNodes(t, []nodeCase{
		{"NegativeLogLikelihoodLoss", 13, nil, []any{x, []int64{0, 3}}, nil, "3"},
		{"NegativeLogLikelihoodLoss", 13, nil, []any{x, []int64{0, -100}}, nil, "-100"},
		{"NegativeLogLikelihoodLoss", 13, nil, []any{[]float32{1}, []int64{0}}, nil, "classes"},
		{"SoftmaxCrossEntropyLoss", 13, nil, []any{x, []int64{0}}, nil, "shape"},
		{"SoftmaxCrossEntropyLoss", 13, attrs{"reduction": "max"}, []any{x, []int64{0, 1}}, nil, "reduction"},
		{"SoftmaxCrossEntropyLoss", 13, nil, []any{x, []int64{0, 1}, []float32{1}}, nil, "shape"},
	})
}
