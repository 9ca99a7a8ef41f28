package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// TestOperatorGradients compares gradients of operators by all inputs of floats with central differences.
func TestOperatorGradients(t *testing.T) {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	type shape = []int // of a ramp
	window := attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}, "pads": []int{0, 1, 1, 1}}
	for i, c := range []struct {
		op     string
		opset  int
		attrs  attrs
		inputs []any
	}{
		{"PRelu", 9, nil, []any{shape{1, 2, 3}, shape{2, 1}}},
		{"Softmax", 11, nil, []any{shape{2, 2, 2}}},
		{"Conv", 11, attrs{"pads": []int{1, -1, 0, 1}}, []any{shape{1, 2, 3, 4}, shape{2, 2, 2, 2}, shape{2}}},
		{"ConvTranspose", 11, attrs{"strides": []int{2}, "auto_pad": "SAME_UPPER"}, []any{shape{1, 2, 3}, shape{2, 1, 3},
			shape{1}}},
		{"MaxPool", 12, window, []any{shape{1, 1, 3, 4}}},
		{"AveragePool", 11, window, []any{shape{1, 1, 3, 4}}},
		{"LpPool", 18, window, []any{shape{1, 1, 3, 4}}},
		{"MaxUnpool", 9, attrs{"kernel_shape": []int{2}}, []any{shape{1, 1, 2}, tensor.New(d, []int64{0, 2}, 1, 1, 2)}},
		{"BatchNormalization", 9, nil, []any{shape{2, 2, 2}, shape{2}, shape{2}, []float64{0, 1}, []float64{1, 2}}},
		{"GroupNormalization", 18, attrs{"num_groups": 2}, []any{shape{1, 4, 2}, shape{2}, shape{2}}},
		{"LayerNormalization", 17, attrs{"axis": 1}, []any{shape{2, 2, 2}, shape{2}, shape{2, 1}}},
		{"RMSNormalization", 23, nil, []any{shape{2, 3}, shape{3}}},
		{"LRN", 13, attrs{"size": 3, "alpha": 0.5}, []any{shape{1, 4, 2}}},
		{"MeanVarianceNormalization", 13, attrs{"axes": []int{1}}, []any{shape{2, 3}}},
		{"Resize", 13, attrs{"mode": "cubic"}, []any{shape{2, 3}, nil, nil, []int64{3, 2}}},
		{"Resize", 18, attrs{"mode": "linear", "antialias": 1}, []any{shape{12}, nil, nil, []int64{2}}},
		{"GridSample", 20, attrs{"mode": "cubic", "padding_mode": "border"}, []any{shape{1, 2, 3, 3}, tensor.New(d,
			[]float64{.1, -.2, .7, .3}, 1, 1, 2, 2)}},
		{"GridSample", 20, attrs{"padding_mode": "reflection"}, []any{shape{1, 2, 3, 3}, tensor.New(d, []float64{.1, -1.3,
			1.6, .3}, 1, 1, 2, 2)}},
		{"AffineGrid", 20, nil, []any{shape{1, 2, 3}, []int64{1, 1, 2, 2}}},
		{"DeformConv", 19, nil, []any{shape{1, 1, 3, 3}, shape{1, 1, 2, 2},
			tensor.Full(d, .3, 1, 8, 2, 2), shape{1}, shape{1, 4, 2, 2}}},
		{"Col2Im", 18, nil, []any{shape{1, 4, 4}, []int64{3, 3}, []int64{2, 2}}},
		{"RoiAlign", 16, attrs{"output_height": 2}, []any{shape{1, 2, 4, 4}, tensor.New(d, []int64{0, 0, 3, 3}, 1, 4),
			[]int64{0}}},
		{"RNN", 14, nil, []any{shape{2, 1, 2}, shape{1, 2, 2}, shape{1, 2, 2}, shape{1, 4}}},
		{"GRU", 14, nil, []any{shape{2, 1, 2}, shape{1, 6, 2}, shape{1, 6, 2}, shape{1, 12}, []int32{1}}},
		{"LSTM", 14, nil, []any{shape{2, 1, 2}, shape{1, 8, 2}, shape{1, 8, 2}, nil, nil, shape{1, 1, 2}, shape{1, 1, 2},
			shape{1, 6}}},
		{"SoftmaxCrossEntropyLoss", 13, nil, []any{shape{2, 3}, []int64{0, 2}, []float64{1, 2, 3}}},
	} {
		t.Run(fmt.Sprintf("%d %s", i, c.op), func(t *testing.T) {
			present := make([]bool, len(c.inputs))
			var nodes, params []*autograd.Node
			for k, in := range c.inputs {
				if in == nil {
					continue
				}
				present[k] = true
				var x *tensor.Tensor
				trained := false
				if s, ok := in.(shape); ok {
					x, trained = ramp(s...)(d).To(tensor.Float64), true
				} else {
					x = testValue(d, in).Tensor()
					trained = x.Type().Float() && c.op != "BatchNormalization" && c.op != "SoftmaxCrossEntropyLoss"
				}
				n := autograd.Const(x)
				if trained {
					n = autograd.Param(x, fmt.Sprintf("in%d", k))
					params = append(params, n)
				}
				nodes = append(nodes, n)
			}
			s, err := nodeModel(c.op, "", c.opset, c.attrs, present, 1).Load(d, Options{Training: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.SetTraining(false)
			loss := func() *autograd.Node {
				y := s.Forward(nodes...)[0]
				return y.Mul(autograd.Const(ramp(y.Len())(d).To(tensor.Float64).Reshape(y.Shape()...).AddScalar(.1))).Sum()
			}
			if err := loss().Backward(); err != nil {
				t.Fatal(err)
			}
			for _, p := range params {
				differences(t, p, func() float64 {
					y, err := loss().Item()
					if err != nil {
						t.Fatal(err)
					}
					return y
				})
			}
		})
	}
}

// differences compares the gradient of a parameter with central differences of a loss.
func differences(t *testing.T, p *autograd.Node, loss func() float64) {
	t.Helper()
	w, err := p.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, len(w))
	if g := p.Grad(); g != nil {
		if grad, err = g.Float64s(); err != nil {
			t.Fatal(err)
		}
	}
	const h = 1e-6
	for i := range w {
		moved := append([]float64(nil), w...)
		moved[i] = w[i] + h
		tensor.Upload(p.Value(), moved)
		above := loss()
		moved[i] = w[i] - h
		tensor.Upload(p.Value(), moved)
		want := (above - loss()) / (2 * h)
		tensor.Upload(p.Value(), w)
		if math.Abs(grad[i]-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("%s[%d]: the gradient is %v, and differences say %v", p.Name(), i, grad[i], want)
			return
		}
	}
}
