package onnx

import (
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// chain is a model of nodes on the input x, whose output is y.
func chain(opset int64, nodes ...*onnxpb.Node) *Model {
	return &Model{file: &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: opset}}, Graph: &onnxpb.Graph{
		Nodes: nodes, Inputs: []*onnxpb.ValueInfo{{Name: "x"}}, Outputs: []*onnxpb.ValueInfo{{Name: "y"}}}}}
}

// TestRecorded: from the second run of a shape on a recording runs, with the bits of the eager run, for other numbers
// too; recordings are bounded, and what was returned stays.
func TestRecorded(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m, err := Open("../testdata/onnx/perceptron.onnx")
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Load(d, Options{Recordings: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		eager, err := m.Load(d, Options{Eager: true})
		if err != nil {
			t.Fatal(err)
		}
		defer eager.Close()
		var firsts []*Value
		for i, rows := range []int{2, 2, 2, 3, 3, 4, 4, 2, 2, 2, 0, 0} {
			x := make([]float32, rows*3)
			for k := range x {
				x[k] = float32(i*len(x)+k) / 7
			}
			in := FromTensor(tensor.New(d, x, rows, 3))
			got, err := s.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := eager.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			if rows == 2 {
				firsts = append(firsts, got[0], want[0])
			}
			w, _ := want[0].Tensor().Float64s()
			wantTensor(t, got[0], tensor.Float32, []int{rows, 2}, w, 0)
		}
		if n := len(s.replays.list); n != 2 {
			t.Errorf("%d recordings are kept", n)
		}
		for i := 0; i < len(firsts); i += 2 {
			w, _ := firsts[i+1].Tensor().Float64s()
			wantTensor(t, firsts[i], tensor.Float32, []int{2, 2}, w, 0)
		}
	})
}
