package onnx

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestRecurrent(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"RNN", 14, attrs{"hidden_size": 2}, []any{ramp(3, 2, 2), ramp(1, 2, 2), ramp(1, 2, 2), ramp(1, 4)},
			[]any{rounded([]float64{0.062419, 0.99505, -0.46212, 0.99839, -0.96528, 0.95625, -0.95818, 0.99151, 0.91537,
				0.99988, -0.35314, 0.96615}, 3, 1, 2, 2), rounded([]float64{0.91537, 0.99988, -0.35314, 0.96615}, 1, 2, 2)}, ""},
		{"RNN", 14, attrs{"hidden_size": 2, "direction": "bidirectional"}, []any{ramp(2, 2, 2), ramp(2, 2, 2), ramp(2, 2,
			2), ramp(2, 4), []int32{2, 1}, ramp(2, 2, 2)}, []any{rounded([]float64{0.95405, 0.99959, 0.63515, 0.99996, 0.75857,
			-0.76716, 0.41157, -0.24492, -0.99619, 0.89765, 0, 0, 0.98661, -0.24492, 0, 0}, 2, 2, 2, 2),
			rounded([]float64{-0.99619, 0.89765, 0.63515, 0.99996, 0.75857, -0.76716, 0.41157, -0.24492}, 2, 2, 2)}, ""},
		{"RNN", 7, attrs{"hidden_size": 2, "direction": "reverse"}, []any{ramp(3, 2, 2), ramp(1, 2, 2), ramp(1, 2, 2), nil,
			[]int32{3, 2}}, []any{rounded([]float64{0.99144, 0.83615, 0.96922, 0.93008, -0.88483, -0.38735, -0.84828, -0.46212,
			0.92535, 0.89319, 0, 0}, 3, 1, 2, 2), rounded([]float64{0.99144, 0.83615, 0.96922, 0.93008}, 1, 2, 2)}, ""},
		{"RNN", 14, attrs{"hidden_size": 2, "clip": 0.5}, []any{ramp(2, 1, 2), ramp(1, 2, 2), ramp(1, 2, 2), ramp(1, 4)},
			[]any{rounded([]float64{0.062419, 0.46212, -0.33368, 0.46212}, 2, 1, 1, 2), rounded([]float64{-0.33368, 0.46212},
				1, 1, 2)}, ""},
		{"GRU", 14, attrs{"hidden_size": 2}, []any{ramp(3, 2, 2), ramp(1, 6, 2), ramp(1, 6, 2), ramp(1, 12)},
			[]any{rounded([]float64{0.16035, -0.14517, 0.24022, -0.089907, -0.53817, -0.56517, -0.66577, -0.58287, -0.33126,
				-0.64039, -0.64716, 0.063339}, 3, 1, 2, 2), rounded([]float64{-0.33126, -0.64039, -0.64716, 0.063339}, 1, 2, 2)},
			""},
		{"GRU", 14, attrs{"hidden_size": 2, "direction": "bidirectional"}, []any{ramp(2, 2, 2), ramp(2, 6, 2), ramp(2, 6,
			2), ramp(2, 12), []int32{2, 1}, ramp(2, 2, 2)}, []any{rounded([]float64{-1.1772, 0.42946, -0.3596, 1.2142,
			-0.57746, 0.9479, 0.080042, 0.58384, -0.90899, -0.052876, 0, 0, 0.04401, 0.087458, 0, 0}, 2, 2, 2, 2),
			rounded([]float64{-0.90899, -0.052876, -0.3596, 1.2142, -0.57746, 0.9479, 0.080042, 0.58384}, 2, 2, 2)}, ""},
		{"GRU", 7, attrs{"hidden_size": 2, "direction": "reverse"}, []any{ramp(3, 2, 2), ramp(1, 6, 2), ramp(1, 6, 2), nil,
			[]int32{3, 2}}, []any{rounded([]float64{-0.40324, 0.45583, -0.39826, -0.24496, -0.4936, 0.54874, -0.59199,
			-0.15245, 0.15067, -0.11446, 0, 0}, 3, 1, 2, 2), rounded([]float64{-0.40324, 0.45583, -0.39826, -0.24496}, 1, 2,
			2)}, ""},
		{"GRU", 14, attrs{"hidden_size": 2, "clip": 0.5}, []any{ramp(2, 1, 2), ramp(1, 6, 2), ramp(1, 6, 2), ramp(1, 12)},
			[]any{rounded([]float64{0.17447, -0.17447, 0.28307, -0.28307}, 2, 1, 1, 2), rounded([]float64{0.28307, -0.28307},
				1, 1, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2}, []any{ramp(3, 2, 2), ramp(1, 8, 2), ramp(1, 8, 2), ramp(1, 16)},
			[]any{rounded([]float64{0.063741, -0.14366, 0.0326, -0.022486, 0.096589, -0.084604, 0.048957, 0.3955, 0.079522,
				-0.15225, 0.070478, 0.070995}, 3, 1, 2, 2), rounded([]float64{0.079522, -0.15225, 0.070478, 0.070995}, 1, 2, 2),
				rounded([]float64{0.45632, -0.58739, 0.15435, 0.15913}, 1, 2, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2, "direction": "bidirectional"}, []any{ramp(2, 2, 2), ramp(2, 8, 2), ramp(2, 8,
			2), ramp(2, 16), []int32{2, 1}, ramp(2, 2, 2)}, []any{rounded([]float64{0.037661, -0.056689, 0.01357, -0.091808,
			-0.15982, 0.33203, -0.21119, 0.087831, 0.10329, -0.11577, 0, 0, -0.02895, -0.014162, 0, 0}, 2, 2, 2, 2),
			rounded([]float64{0.10329, -0.11577, 0.01357, -0.091808, -0.15982, 0.33203, -0.21119, 0.087831}, 2, 2, 2),
			rounded([]float64{0.21779, -0.20544, 0.25979, -0.35564, -0.5854, 0.74974, -0.38345, 0.68268}, 2, 2, 2)}, ""},
		{"LSTM", 7, attrs{"hidden_size": 2, "direction": "reverse"}, []any{ramp(3, 2, 2), ramp(1, 8, 2), ramp(1, 8, 2), nil,
			[]int32{3, 2}}, []any{rounded([]float64{-0.19064, -0.15857, -0.10526, -0.044144, -0.013742, -0.24311, 0.057652,
			0.22644, -0.16245, -0.15112, 0, 0}, 3, 1, 2, 2), rounded([]float64{-0.19064, -0.15857, -0.10526, -0.044144}, 1, 2,
			2), rounded([]float64{-0.55958, -0.90697, -0.49867, -0.11333}, 1, 2, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2, "clip": 0.5}, []any{ramp(2, 1, 2), ramp(1, 8, 2), ramp(1, 8, 2), ramp(1, 16)},
			[]any{rounded([]float64{0.06771, -0.1057, 0.10559, -0.043613}, 2, 1, 1, 2), rounded([]float64{0.10559, -0.043613},
				1, 1, 2), rounded([]float64{0.28732, -0.11127}, 1, 1, 2)}, ""},
		{"GRU", 14, attrs{"hidden_size": 2, "linear_before_reset": 1}, []any{ramp(3, 2, 2), ramp(1, 6, 2), ramp(1, 6, 2),
			ramp(1, 12), nil, ramp(1, 2, 2)}, []any{rounded([]float64{-1.1769, 0.43222, -0.36292, 1.2142, -0.90232, 0.0014818,
			-0.49089, 0.87226, -0.76207, -0.079376, -0.40111, 0.24376}, 3, 1, 2, 2), rounded([]float64{-0.76207, -0.079376,
			-0.40111, 0.24376}, 1, 2, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2}, []any{ramp(3, 2, 2), ramp(1, 8, 2), ramp(1, 8, 2), ramp(1, 16), nil, ramp(1,
			2, 2), ramp(1, 2, 2), ramp(1, 6)}, []any{rounded([]float64{-0.097951, -0.018346, -0.0090883, -0.06446, -0.1077,
			-0.16601, -0.012569, 0.36814, 0.030678, -0.072356, 0.031404, 0.0021792}, 3, 1, 2, 2), rounded([]float64{0.030678,
			-0.072356, 0.031404, 0.0021792}, 1, 2, 2), rounded([]float64{0.1776, -0.77741, 0.069452, 0.0049951}, 1, 2, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2, "input_forget": 1}, []any{ramp(3, 2, 2), ramp(1, 8, 2), ramp(1, 8, 2), ramp(1,
			16), nil, ramp(1, 2, 2), ramp(1, 2, 2)}, []any{rounded([]float64{0.012383, -0.056301, 0.0021819, -0.089551,
			0.075641, -0.1445, 0.026533, 0.32049, 0.071524, -0.15421, 0.066564, 0.031438}, 3, 1, 2, 2),
			rounded([]float64{0.071524, -0.15421, 0.066564, 0.031438}, 1, 2, 2), rounded([]float64{0.3907, -0.60821, 0.14171,
				0.070867}, 1, 2, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2, "activations": []string{"HardSigmoid", "ScaledTanh", "Softsign"},
			"activation_alpha": []float64{0.3, 0.5}, "activation_beta": []float64{0.4, 2.0}}, []any{ramp(3, 2, 2), ramp(1, 8,
			2), ramp(1, 8, 2), ramp(1, 16)}, []any{rounded([]float64{0, -0.0082375, 0, -0.014634, 0.017537, 0.00026213,
			0.0039777, 0.16491, 0, -0.033134, 0.0028856, 0.0070243}, 3, 1, 2, 2), rounded([]float64{0, -0.033134, 0.0028856,
			0.0070243}, 1, 2, 2), rounded([]float64{0.15274, -0.45938, 0.0072539, 0.022008}, 1, 2, 2)}, ""},
		{"RNN", 14, attrs{"hidden_size": 2, "activations": []string{"Affine"}, "activation_alpha": []float64{0.5},
			"activation_beta": []float64{0.25}}, []any{ramp(3, 2, 2), ramp(1, 2, 2), ramp(1, 2, 2), ramp(1, 4)},
			[]any{rounded([]float64{0.28125, 1.75, 0, 2.0312, -0.70703, 1.6172, -0.74219, 2.1445, 1.0337, 3.0312, 0.21875,
				1.9321}, 3, 1, 2, 2), rounded([]float64{1.0337, 3.0312, 0.21875, 1.9321}, 1, 2, 2)}, ""},
		{"RNN", 14, attrs{"hidden_size": 2, "direction": "bidirectional", "activations": []string{"LeakyRelu", "Elu"},
			"activation_alpha": []float64{0.25, 0.5}}, []any{ramp(3, 2, 2), ramp(2, 2, 2), ramp(2, 2, 2), ramp(2, 4)},
			[]any{rounded([]float64{0.0625, 3, -0.125, 3.5625, 1.1588, 0.29421, -0.3209, 1.0183, -0.25391, 4.4062, -0.26562,
				5.7656, 2.2942, -0.030293, 2.2683, 2.375, 2.3955, 8.8223, 1.1523, 7.6523, 0.4375, -0.41311, 2.125, -0.31606}, 3, 2,
				2, 2), rounded([]float64{2.3955, 8.8223, 1.1523, 7.6523, 1.1588, 0.29421, -0.3209, 1.0183}, 2, 2, 2)}, ""},
		{"GRU", 14, attrs{"hidden_size": 2, "activations": []string{"Softplus", "ThresholdedRelu"},
			"activation_alpha": []float64{0.25}}, []any{ramp(3, 2, 2), ramp(1, 6, 2), ramp(1, 6, 2), ramp(1, 12)},
			[]any{rounded([]float64{-1.2233, 0, -0.45031, 0, -1.2626, 0, -0.14886, 0, -7.1005, 0, -0.077785, 0}, 3, 1, 2, 2),
				rounded([]float64{-7.1005, 0, -0.077785, 0}, 1, 2, 2)}, ""},
		{"RNN", 14, attrs{"hidden_size": 2, "layout": 1}, []any{ramp(1, 2, 2), ramp(1, 2, 2), ramp(1, 2, 2), ramp(1, 4)},
			[]any{rounded([]float64{0.062419, 0.99505, -0.080323, 0.99986}, 1, 2, 1, 2), rounded([]float64{-0.080323, 0.99986},
				1, 1, 2)}, ""},
		{"GRU", 14, attrs{"hidden_size": 2, "layout": 1}, []any{ramp(1, 2, 2), ramp(1, 6, 2), ramp(1, 6, 2), ramp(1, 12)},
			[]any{rounded([]float64{0.16035, -0.14517, 0.39158, -0.24228}, 1, 2, 1, 2), rounded([]float64{0.39158, -0.24228},
				1, 1, 2)}, ""},
		{"LSTM", 14, attrs{"hidden_size": 2, "layout": 1}, []any{ramp(1, 2, 2), ramp(1, 8, 2), ramp(1, 8, 2), ramp(1, 16)},
			[]any{rounded([]float64{0.063741, -0.14366, 0.074621, -0.029243}, 1, 2, 1, 2), rounded([]float64{0.074621,
				-0.029243}, 1, 1, 2)}, ""},
	})
}

func TestRecurrentEdges(t *testing.T) {
	x, w, r := ramp(2, 1, 2), ramp(1, 2, 2), ramp(1, 2, 2)
	checkNodes(t, []nodeCase{
		{"RNN", 14, nil, []any{of([]float32{}, 0, 1, 2), w, r, nil, nil, ramp(1, 1, 2)},
			[]any{of([]float32{}, 0, 1, 1, 2), ramp(1, 1, 2)}, ""},
		{"RNN", 14, nil, []any{x, w}, nil, "missing"},
		{"RNN", 14, nil, []any{[]float32{1}, w, r}, nil, "three axes"},
		{"RNN", 14, attrs{"hidden_size": 3}, []any{x, w, r}, nil, "W is"},
		{"RNN", 14, attrs{"direction": "bidirectional"}, []any{x, w, r}, nil, "W is"},
		{"RNN", 14, attrs{"direction": "sideways"}, []any{x, w, r}, nil, "direction"},
		{"RNN", 14, attrs{"activations": []string{"Tanh", "Tanh"}}, []any{x, w, r}, nil, "activations"},
		{"RNN", 14, attrs{"activations": []string{"Sin"}}, []any{x, w, r}, nil, "activations"},
		{"RNN", 14, nil, []any{x, w, r, []float32{1}}, nil, "B is"},
		{"RNN", 14, nil, []any{x, w, r, nil, []int32{1, 2}}, nil, "sequence_lens"},
		{"RNN", 14, nil, []any{x, w, r, nil, nil, ramp(1, 2, 2)}, nil, "initial state"},
		{"LSTM", 14, nil, []any{x, ramp(1, 8, 2), ramp(1, 8, 2), nil, nil, nil, nil, ramp(1, 2)}, nil, "P is"},
	})
}

// TestDynamicQuantizeLSTM: it is an LSTM of the weights that its integers stand for.
func TestDynamicQuantizeLSTM(t *testing.T) {
	d := cpu(t)
	const in, hidden = 3, 2
	a := attrs{"hidden_size": hidden, "direction": "bidirectional"}
	x, bias := normal(d, 1, 4, 2, in), normal(d, 2, 2, 8*hidden)
	weights := func(seed uint64, rows int) *tensor.Tensor {
		return tensor.NewRNG(seed).Ints(d, 256, 2, rows, 4*hidden).To(tensor.Uint8)
	}
	w, r := weights(3, in), weights(4, hidden)
	for _, scales := range [][]int{{2}, {2, 4 * hidden}} {
		scale := tensor.NewRNG(5).Uniform(d, 0.001, 0.01, scales...)
		zero := tensor.Full(d, 120, scales...).To(tensor.Uint8)
		floats := func(q *tensor.Tensor) *tensor.Tensor {
			return q.To(tensor.Float32).SubScalar(120).Mul(scale.Reshape(2, 1, -1)).Transpose(0, 2, 1)
		}
		want := mustRun(t, d, "", "LSTM", 14, a, 3, x, floats(w), floats(r), bias)
		got := mustRun(t, d, microsoft, "DynamicQuantizeLSTM", 1, a, 3, x, w, r, bias, nil, nil, nil, nil, scale, zero, scale, zero)
		for i := range want {
			wantSame(t, got[i], want[i].Tensor(), 1e-6)
		}
	}
	_, err := runNodeOf(t, d, microsoft, "DynamicQuantizeLSTM", 1, a, 3, x, w, r, bias, nil, nil, nil, nil,
		tensor.Full(d, 1, 3), nil, tensor.Full(d, 1, 2), nil)
	if err == nil || !strings.Contains(err.Error(), "for weights [2 3 8]") {
		t.Errorf("three scales of two directions: %v", err)
	}
}
