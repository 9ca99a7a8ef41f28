package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestActivations(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"LeakyRelu", 16, attrs{"alpha": 0.5}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-1.5,
			-0.5, -0.125, 0, 0.25, 1, 3}, 7)}, ""},
		{"LeakyRelu", 6, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.03, -0.01, -0.0025,
			0, 0.25, 1, 3}, 7)}, ""},
		{"Elu", 6, attrs{"alpha": 0.5}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.47511,
			-0.31606, -0.1106, 0, 0.25, 1, 3}, 7)}, ""},
		{"Selu", 6, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-1.6706, -1.1113, -0.38889,
			0, 0.26268, 1.0507, 3.1521}, 7)}, ""},
		{"Selu", 6, attrs{"alpha": 0.5, "gamma": 2.0}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}},
			[]any{rounded([]float64{-0.95021, -0.63212, -0.2212, 0, 0.5, 2, 6}, 7)}, ""},
		{"Celu", 12, attrs{"alpha": 0.5}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.49876,
			-0.43233, -0.19673, 0, 0.25, 1, 3}, 7)}, ""},
		{"ThresholdedRelu", 10, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{0, 0, 0, 0, 0,
			0, 3}, 7)}, ""},
		{"HardSigmoid", 6, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{0, 0.3, 0.45, 0.5,
			0.55, 0.7, 1}, 7)}, ""},
		{"HardSigmoid", 6, attrs{"alpha": 0.5, "beta": 0.25}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}},
			[]any{rounded([]float64{0, 0, 0.125, 0.25, 0.375, 0.75, 1}, 7)}, ""},
		{"HardSwish", 14, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{0, -0.33333,
			-0.11458, 0, 0.13542, 0.66667, 3}, 7)}, ""},
		{"Softplus", 1, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{0.048587, 0.31326,
			0.57594, 0.69315, 0.82594, 1.3133, 3.0486}, 7)}, ""},
		{"Softsign", 1, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.75, -0.5, -0.2, 0,
			0.2, 0.5, 0.75}, 7)}, ""},
		{"Gelu", 20, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.0040497, -0.15866,
			-0.10032, 0, 0.14968, 0.84134, 2.996}, 7)}, ""},
		{"Gelu", 20, attrs{"approximate": "tanh"}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}},
			[]any{rounded([]float64{-0.0036375, -0.15881, -0.10032, 0, 0.14968, 0.84119, 2.9964}, 7)}, ""},
		{"Mish", 18, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.14565, -0.3034,
			-0.12993, 0, 0.16957, 0.8651, 2.9865}, 7)}, ""},
		{"Swish", 24, attrs{"alpha": 0.5}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-0.54728,
			-0.37754, -0.1172, 0, 0.1328, 0.62246, 2.4527}, 7)}, ""},
		{"Shrink", 9, attrs{"bias": 0.25, "lambd": 0.5}, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}},
			[]any{rounded([]float64{-2.75, -0.75, 0, 0, 0, 0.75, 2.75}, 7)}, ""},
		{"Selu", 1, nil, []any{[]float32{-3, -1, -0.25, 0, 0.25, 1, 3}}, []any{rounded([]float64{-1.6705, -1.1113, -0.38888,
			0, 0.26267, 1.0507, 3.1521}, 7)}, ""},
		{"Shrink", 9, attrs{"bias": 1.5, "lambd": 2.0}, []any{[]int8{-4, -3, -2, 0, 2, 3, 4}}, []any{of([]int8{-2, -1, 0, 0,
			0, 1, 2}, 7)}, ""},
		{"Shrink", 9, attrs{"bias": 1.0, "lambd": 2.0}, []any{[]uint8{0, 2, 3, 200}}, []any{of([]uint8{0, 0, 2, 199}, 4)},
			""},
		{"PRelu", 9, nil, []any{ramp(1, 2, 3), of([]float32{0.5, 2}, 2, 1)}, []any{rounded([]float64{-0.625, 0.5, -0.25,
			1.25, 0.25, -1.5}, 1, 2, 3)}, ""},
		{"PRelu", 7, nil, []any{ramp(1, 2, 3), []float32{0.5, 1, 2}}, []any{rounded([]float64{-0.625, 0.5, -1, 1.25, 0.25,
			-1.5}, 1, 2, 3)}, ""},
		{"PRelu", 6, nil, []any{ramp(1, 2, 3), []float32{0.5, 2}}, []any{rounded([]float64{-0.625, 0.5, -0.25, 1.25, 0.25,
			-1.5}, 1, 2, 3)}, ""},
		{"PRelu", 9, nil, []any{[]int32{-4, 0, 4}, []int32{3}}, []any{of([]int32{-12, 0, 4}, 3)}, ""},
		{"Softmax", 13, nil, []any{ramp(2, 2, 2)}, []any{rounded([]float64{0.14805, 0.85195, 0.14805, 0.85195, 0.73106,
			0.26894, 0.73106, 0.26894}, 2, 2, 2)}, ""},
		{"Softmax", 13, attrs{"axis": 0}, []any{ramp(2, 2, 2)}, []any{rounded([]float64{0.18243, 0.7773, 0.18243, 0.7773,
			0.81757, 0.2227, 0.81757, 0.2227}, 2, 2, 2)}, ""},
		{"Softmax", 11, nil, []any{ramp(2, 2, 2)}, []any{rounded([]float64{0.047497, 0.27332, 0.10055, 0.57863, 0.23454,
			0.086282, 0.49652, 0.18266}, 2, 2, 2)}, ""},
		{"Softmax", 11, attrs{"axis": -1}, []any{ramp(2, 2, 2)}, []any{rounded([]float64{0.14805, 0.85195, 0.14805, 0.85195,
			0.73106, 0.26894, 0.73106, 0.26894}, 2, 2, 2)}, ""},
		{"Softmax", 1, attrs{"axis": 0}, []any{ramp(2, 2, 2)}, []any{rounded([]float64{0.024899, 0.14328, 0.052711, 0.30333,
			0.11159, 0.041051, 0.23623, 0.086905}, 2, 2, 2)}, ""},
		{"LogSoftmax", 13, nil, []any{ramp(2, 2, 2)}, []any{rounded([]float64{-1.9102, -0.16022, -1.9102, -0.16022,
			-0.31326, -1.3133, -0.31326, -1.3133}, 2, 2, 2)}, ""},
		{"LogSoftmax", 13, attrs{"axis": 0}, []any{ramp(2, 2, 2)}, []any{rounded([]float64{-1.7014, -0.25193, -1.7014,
			-0.25193, -0.20141, -1.5019, -0.20141, -1.5019}, 2, 2, 2)}, ""},
		{"LogSoftmax", 11, nil, []any{ramp(2, 2, 2)}, []any{rounded([]float64{-3.0471, -1.2971, -2.2971, -0.5471, -1.4501,
			-2.4501, -0.70013, -1.7001}, 2, 2, 2)}, ""},
		{"LogSoftmax", 11, attrs{"axis": -1}, []any{ramp(2, 2, 2)}, []any{rounded([]float64{-1.9102, -0.16022, -1.9102,
			-0.16022, -0.31326, -1.3133, -0.31326, -1.3133}, 2, 2, 2)}, ""},
		{"LogSoftmax", 1, attrs{"axis": 0}, []any{ramp(2, 2, 2)}, []any{rounded([]float64{-3.6929, -1.9429, -2.9429,
			-1.1929, -2.1929, -3.1929, -1.4429, -2.4429}, 2, 2, 2)}, ""},
	})
}

// TestActivationEdges: infinities, NaN, no elements, scalars, 16 bits and errors.
func TestActivationEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{-inf, inf, nan}
	checkNodes(t, []nodeCase{
		{"LeakyRelu", 16, nil, []any{x}, []any{x}, ""},
		{"Elu", 6, attrs{"alpha": 2.0}, []any{x}, []any{[]float64{-2, inf, nan}}, ""},
		{"Celu", 12, attrs{"alpha": -0.5}, []any{[]float32{-1, 0, 1}}, []any{rounded([]float64{-3.1945, 0, 1}, 3)}, ""},
		{"ThresholdedRelu", 10, nil, []any{x}, []any{[]float64{0, inf, 0}}, ""},
		{"HardSigmoid", 6, nil, []any{x}, []any{[]float64{0, 1, nan}}, ""},
		{"Softplus", 1, nil, []any{x}, []any{[]float64{0, inf, nan}}, ""},
		{"Softmax", 13, nil, []any{[]float64{-inf, 0, 0}}, []any{[]float64{0, 0.5, 0.5}}, ""},
		{"Elu", 6, nil, []any{[]float64{}}, []any{[]float64{}}, ""},
		{"Softmax", 11, attrs{"axis": 1}, []any{[]float64{5, 6}}, []any{[]float64{1, 1}}, ""},
		{"Mish", 18, nil, []any{of([]float64{0})}, []any{of([]float64{0})}, ""},
		{"Swish", 24, nil, []any{as(tensor.Float16, []float64{1, -1}, 2)},
			[]any{as(tensor.Float16, []float64{0.731, -0.269}, 2)}, ""},
		{"Elu", 6, nil, []any{[]int64{1}}, nil, "floats"},
		{"Softmax", 13, attrs{"axis": 1}, []any{[]float32{1}}, nil, "axis"},
		{"Softmax", 11, attrs{"axis": 3}, []any{[]float32{1}}, nil, "axis"},
		{"Gelu", 20, attrs{"approximate": "erf"}, []any{[]float32{1}}, nil, "approximate"},
		{"PRelu", 9, nil, []any{[]float32{1, 2}, []float32{1, 2, 3}}, nil, "shape"},
		{"PRelu", 9, nil, []any{[]float32{1, 2}}, nil, "missing"},
	})
}
