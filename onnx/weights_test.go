package onnx

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// constants returns a graph y = (x·w + b)·two whose weights are nodes: w [2, 3], b [3], and the number two.
func constants() *onnxpb.Graph {
	return body("x", "y",
		op("w = Constant", attrs{"value": weights("", 2, 3)}), op("b = Constant", attrs{"value": weights("", 3)}),
		op("two = Constant", attrs{"value": weights("")}), op("shape = Constant", attrs{"value": integers("", -1, 3)}),
		op("xw = MatMul x w", nil), op("z = Add xw b", nil), op("s = Mul z two", nil), op("y = Reshape s shape", nil))
}

// TestWeightsOfNodes: constant nodes of several floats are weights, which are trained; a number alone and integers are
// not.
func TestWeightsOfNodes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		g := constants()
		want, err := runModel(t, d, modelOf(13, g), tensor.New(d, []float32{1, 2}, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		moveWeights(g)
		m := modelOf(13, g)
		got, err := runModel(t, d, m, tensor.New(d, []float32{1, 2}, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		same(t, got[0], want[0])
		if n := m.Parameters(); n != 9 {
			t.Errorf("%d parameters", n)
		}
		if count := m.Operators()["Constant"]; count != 2 {
			t.Errorf("%d constants are left", count)
		}
		s, err := m.Load(d, Options{Training: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if params := nn.Params(s); len(params) != 2 || s.Weights["w"] == nil || s.Weights["b"] == nil {
			t.Errorf("parameters %v", params)
		}
	})
}

// TestForwardNamed: any value comes with its graph, and gradients end at what made it.
func TestForwardNamed(t *testing.T) {
	d := cpu(t)
	g := constants()
	moveWeights(g)
	m := modelOf(13, g)
	var names []string
	for _, n := range m.Nodes() {
		names = append(names, n.Operator+" "+n.Outputs[0])
	}
	want := []string{"Constant two", "Constant shape", "MatMul xw", "Add z", "Mul s", "Reshape y"}
	if !slices.Equal(names, want) {
		t.Errorf("nodes %v, want %v", names, want)
	}
	s, err := m.Load(d, Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := autograd.Const(tensor.New(d, []float32{1, 2}, 1, 2))
	out := s.ForwardNamed(map[string]*autograd.Node{"x": x}, "xw", "y")
	if err := out["xw"].Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if s.Weights["w"].Grad() == nil || s.Weights["b"].Grad() != nil {
		t.Error("what lies before the output has no gradient, or what lies behind it has one")
	}
	wantTensor(t, FromTensor(s.Weights["w"].Grad()), tensor.Float32, []int{2, 3}, []float64{1, 1, 1, 2, 2, 2}, 0)
	for _, f := range []func(){
		func() { s.ForwardNamed(map[string]*autograd.Node{"x": x}, "nowhere") },
		func() { s.ForwardNamed(map[string]*autograd.Node{"z": x}, "y") },
		func() { s.Forward() },
	} {
		if err := tensor.Try(f); err == nil {
			t.Error("what is not there gives no error")
		}
	}
}
