package onnx

import (
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestConvInteger: numbers are those of the definition, Σ (x − zx)·(w − zw), worked out by hand.
func TestConvInteger(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []uint8{2, 3, 4, 5, 6, 7, 8, 9, 10}, 1, 1, 3, 3)
	ones := tensor.New(d, []uint8{1, 1, 1, 1}, 1, 1, 2, 2)
	two := tensor.New(d, []int8{3, 3, 3, 3, 0, 1, 0, 0}, 2, 1, 2, 2)
	for _, c := range []struct {
		name   string
		attrs  attrs
		inputs []any
		shape  []int
		want   []float64
	}{
		{"zero point of x", nil, []any{x, ones, []uint8{1}}, []int{1, 1, 2, 2}, []float64{12, 16, 24, 28}},
		{"padding is the zero point", attrs{"pads": []int{1, 1, 1, 1}}, []any{x, ones, []uint8{1}}, []int{1, 1, 4, 4},
			[]float64{1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}},
		{"a zero point for each channel", nil, []any{x, two, []uint8{1}, []int8{2, 0}}, []int{1, 2, 2, 2}, []float64{12, 16, 24, 28, 2, 3, 5, 6}},
		{"no zero points", attrs{"strides": []int{2, 2}}, []any{x, ones}, []int{1, 1, 1, 1}, []float64{16}},
	} {
		out, err := runNode(t, d, "ConvInteger", 10, c.attrs, 1, c.inputs...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Run(c.name, func(t *testing.T) { wantTensor(t, out[0], tensor.Int32, c.shape, c.want, 0) })
	}
	// (12 16 24 28)·0.5·0.5/0.25 + bias 4·0.5·0.5/0.25 + 10, and the second channel with a scale of 2.
	scalar := func(v float32) any { return tensor.New(d, []float32{v}).Reshape() }
	out, err := runNode(t, d, "QLinearConv", 10, nil, 1, x, scalar(0.5), tensor.New(d, []uint8{1}).Reshape(), two, []float32{0.5, 2}, []int8{2, 0},
		scalar(0.25), tensor.New(d, []uint8{10}).Reshape(), []int32{4, -1})
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Uint8, []int{1, 2, 2, 2}, []float64{26, 30, 38, 42, 14, 18, 26, 30}, 0)
	for _, bad := range [][]any{{x, ones.Reshape(1, 4)}, {tensor.New(d, []uint8{1}), ones}, {x, tensor.New(d, []uint8{1, 1}, 1, 2, 1, 1)}} {
		if _, err := runNode(t, d, "ConvInteger", 10, nil, 1, bad...); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
