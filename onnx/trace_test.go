package onnx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// TestFLOPs: operations are counted by shapes.
func TestFLOPs(t *testing.T) {
	d := cpu(t)
	z := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	bytes := func(shape ...int) *tensor.Tensor { return z(shape...).To(tensor.Uint8) }
	one, zero := []float32{1}, []uint8{0}
	for _, c := range []struct {
		domain, op string
		attrs      attrs
		outputs    int
		inputs     []any
		want       float64
	}{
		{"", "Conv", attrs{"group": 2}, 1, []any{z(2, 4, 5, 6), z(6, 2, 3, 3), z(6)}, 2 * 2 * 6 * 3 * 4 * 2 * 9},
		{"", "QLinearConv", nil, 1, []any{bytes(1, 2, 4), one, zero, bytes(3, 2, 3), one, zero, one, zero}, 2 * 3 * 2 * 2 * 3},
		{"", "ConvTranspose", nil, 1, []any{z(1, 2, 4), z(2, 3, 5)}, 2 * 2 * 4 * 3 * 5},
		{"", "MatMul", nil, 1, []any{z(3, 2, 4), z(4, 5)}, 2 * 3 * 2 * 4 * 5},
		{"", "MatMul", nil, 1, []any{z(4), z(4)}, 8},
		{"", "Gemm", attrs{"transA": 1}, 1, []any{z(4, 2), z(4, 5)}, 2 * 2 * 4 * 5},
		{"", "Einsum", attrs{"equation": "b...k, ...kj -> b...j"}, 1, []any{z(2, 3, 4), z(3, 4, 5)}, 2 * 2 * 3 * 4 * 5},
		{"", "Attention", nil, 1, []any{z(1, 2, 3, 8), z(1, 2, 5, 8), z(1, 2, 5, 4)}, 2 * (1*2*3*8 + 1*2*3*4) * 5},
		{"", "LSTM", attrs{"hidden_size": 3}, 1, []any{z(7, 2, 4), z(1, 12, 4), z(1, 12, 3)}, 2 * 7 * 2 * 12 * (4 + 3)},
		{"", "MaxPool", attrs{"kernel_shape": []int{2, 3}}, 1, []any{z(1, 1, 4, 5)}, 3 * 3 * 6},
		{"", "ReduceSum", nil, 1, []any{z(4, 5)}, 20},
		{"", "Transpose", nil, 1, []any{z(4, 5)}, 0},
		{"", "Relu", nil, 1, []any{z(4, 5)}, 20},
		{"", "Relu", nil, 1, []any{z(0, 5)}, 0},
		{microsoft, "MultiHeadAttention", attrs{"num_heads": 2}, 1, []any{z(1, 3, 8), z(1, 5, 8), z(1, 5, 8)}, 4 * 3 * 8 * 5},
	} {
		there := make([]bool, len(c.inputs))
		values := make([]*Value, len(c.inputs))
		for i, in := range c.inputs {
			there[i], values[i] = true, testValue(d, in)
		}
		s, err := nodeModel(c.op, c.domain, 23, c.attrs, there, c.outputs).Load(d)
		if err != nil {
			t.Fatal(c.op, err)
		}
		var got []NodeTrace
		s.SetTrace(func(n NodeTrace) { got = append(got, n) })
		if _, err := s.Run(values...); err != nil {
			t.Fatal(c.op, err)
		}
		if len(got) != 1 || got[0].FLOPs != c.want || !strings.HasSuffix(got[0].Op, c.op) || got[0].Took <= 0 {
			t.Errorf("%s %v: %v, want %v", c.op, got, got[0].FLOPs, c.want)
		}
		s.Close()
	}
}

// TestTrace: nodes of the graphs and functions within a model are told by their own, those that passes removed are not,
// and a run that is not traced is recorded again.
func TestTrace(t *testing.T) {
	d := cpu(t)
	inner := body("", "u", op("u = Mul x two", nil))
	f := &onnxpb.Function{Domain: "own", Name: "Twice", Inputs: []string{"a"}, Outputs: []string{"b"}, Nodes: []*onnxpb.Node{op("b = Add a a", nil)}}
	g := body("x", "y", op("unused = Exp x", nil), op("p = If yes", attrs{"then_branch": inner, "else_branch": inner}), op("y = own.Twice p", nil))
	g.Initializers = []*onnxpb.Tensor{{Name: "yes", Type: onnxpb.Bool, HasRaw: true, Raw: []byte{1}}, weights("two")}
	s, err := modelOf(17, g, f).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := FromTensor(normal(d, 1, 2, 3))
	var got []string
	s.SetTrace(func(n NodeTrace) { got = append(got, fmt.Sprint(n, n.OutputNames, len(n.Inputs))) })
	for range 3 {
		got = nil
		if _, err := s.Run(x); err != nil {
			t.Fatal(err)
		}
		if want := []string{"Mul u: float32 [2 3] [u] 2", "Add b: float32 [2 3] [b] 2"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(s.Reports()) != 0 {
		t.Error("a run that is traced was recorded")
	}
	s.SetTrace(nil)
	got = nil
	for range 3 {
		if _, err := s.Run(x); err != nil {
			t.Fatal(err)
		}
	}
	if list := s.Reports(); len(got) != 0 || len(list) != 1 || list[0].Launches == 0 {
		t.Errorf("%q, %v", got, list)
	}
}
