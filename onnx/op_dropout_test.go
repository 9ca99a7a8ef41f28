package onnx

import (
	bytes "encoding/binary"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

func TestDropoutForInference(t *testing.T) {
	x, ones, all := []float32{1, 2, 3}, []float32{1, 1, 1}, []bool{true, true, true}
	checkNodes(t, []nodeCase{
		{"Dropout", 1, attrs{"is_test": 1}, []any{x}, []any{x}, ""},
		{"Dropout", 6, attrs{"is_test": 1}, []any{x}, []any{x, ones}, ""},
		{"Dropout", 7, attrs{"ratio": 0.9}, []any{x}, []any{x, ones}, ""},
		{"Dropout", 10, attrs{"ratio": 0.9}, []any{x}, []any{x, all}, ""},
		{"Dropout", 13, nil, []any{x, []float32{0.9}}, []any{x, all}, ""},
		{"Dropout", 13, nil, []any{x, []float32{0.9}, []bool{false}}, []any{x, all}, ""},
		{"Dropout", 22, nil, []any{x, []float32{0}, []bool{true}}, []any{x, all}, ""},
		{"Dropout", 22, nil, []any{x, []float32{2}, []bool{true}}, nil, "ratio"},
		{"Dropout", 22, nil, []any{[]int64{1}}, nil, "floats"},
	})
}

// TestDropout: about a part of the ratio becomes 0, the mask says which, and the rest is scaled.
func TestDropout(t *testing.T) {
	d := cpu(t)
	x := make([]float32, 10000)
	for i := range x {
		x[i] = 3
	}
	for _, c := range []struct {
		opset  int
		attrs  attrs
		inputs []any
	}{
		{13, attrs{"seed": 7}, []any{x, []float32{0.25}, []bool{true}}},
		{6, attrs{"ratio": 0.25}, []any{x}},
	} {
		out, err := runNode(t, d, "Dropout", c.opset, c.attrs, 2, c.inputs...)
		if err != nil {
			t.Fatal(err)
		}
		y, err := out[0].Tensor().Float32s()
		if err != nil {
			t.Fatal(err)
		}
		mask, err := out[1].Tensor().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		zeros := 0
		for i, v := range y {
			if v != float32(mask[i])*4 {
				t.Fatalf("opset %d: element %d is %v, and the mask %v", c.opset, i, v, mask[i])
			}
			if v == 0 {
				zeros++
			}
		}
		if zeros < 2300 || zeros > 2700 {
			t.Errorf("opset %d: %d of 10000 are 0", c.opset, zeros)
		}
	}
}

// TestBatchNormTrains: a session in training normalizes by the batch, and writes the running statistics, but where the
// scale is frozen. An optimizer has no part in them.
func TestBatchNormTrains(t *testing.T) {
	d := cpu(t)
	node := &onnxpb.Node{Op: "BatchNormalization", Inputs: []string{"x", "w", "b", "mean", "var"},
		Outputs:    []string{"y"},
		Attributes: attrs{"momentum": 0.75}.protos()}
	g := &onnxpb.Graph{Nodes: []*onnxpb.Node{node}, Inputs: []*onnxpb.ValueInfo{{Name: "x"}},
		Outputs: []*onnxpb.ValueInfo{{Name: "y"}}}
	for name, v := range map[string]float32{"w": 1, "b": 0, "mean": 2, "var": 1} {
		raw := bytes.LittleEndian.AppendUint32(nil, math.Float32bits(v))
		g.Initializers = append(g.Initializers, &onnxpb.Tensor{Name: name, Type: onnxpb.Float, Dims: []int64{1},
			Raw: raw, HasRaw: true})
	}
	m := &Model{file: &onnxpb.Model{IRVersion: 8, Graph: g, Opsets: []onnxpb.Opset{{Version: 15}}}}
	s, err := m.Load(d, Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	x := autograd.Const(tensor.New(d, []float32{1, 3, 5, 7}, 4, 1))
	check := func(what string, first, mean, variance float64) {
		t.Helper()
		y := s.Forward(x)[0].Select(0, 0)
		for name, c := range map[string]struct {
			node *autograd.Node
			want float64
		}{"output": {y, first}, "mean": {autograd.Const(s.Statistics["mean"]), mean},
			"variance": {autograd.Const(s.Statistics["var"]), variance}} {
			wantTensor(t, fromNode(c.node.Reshape(1)), tensor.Float32, []int{1}, []float64{c.want}, 1e-5)
			if t.Failed() {
				t.Fatalf("%s: %s", what, name)
			}
		}
	}
	check("training", -3/2.2360702, 2.5, 0.75+20./3/4) // the unbiased variance is 20/3
	s.SetTraining(false)
	check("evaluation", (1-2.5)/1.5545660, 2.5, 0.75+20./3/4)
	s.SetTraining(true)
	s.Weights["w"].Freeze()
	if dict := nn.StateDict(s); len(nn.Params(s)) != 2 || dict["mean"] != s.Statistics["mean"] || len(dict) != 4 {
		t.Errorf("parameters %d, state %v", len(nn.Params(s)), dict)
	}
	check("frozen", (1-2.5)/1.5545660, 2.5, 0.75+20./3/4)
	s.Weights["w"].Unfreeze()
	opt := optim.NewAdamW(nn.Params(s), optim.AdamWDefaults(optim.Constant(0.1)))
	for range 3 { // the statistics do not lie in the memory of the optimizer's parameters
		if err := optim.Minimize(opt, s.Forward(x)[0].Square().Mean()); err != nil {
			t.Fatal(err)
		}
	}
}
