package onnx

import (
	"bytes"
	"maps"
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

// TestFloat64Weights: of weights that are computed in float64 nothing is left on the device when the session is closed.
func TestFloat64Weights(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t) // of float64
	before := d.Stats().LiveBytes
	g := body("x", "y", op("y = Add x w", nil))
	g.Initializers = []*onnxpb.Tensor{weights("w", 2*hostLimit)}
	s, err := modelOf(13, g).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := d.Stats().LiveBytes - before; n != 0 {
		t.Errorf("%d bytes are left", n)
	}
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

// TestInnerWeights: weights in the graphs of nodes are trained, counted and written like others. Where graphs have the
// same name, the node's output and the attribute are before one of them.
func TestInnerWeights(t *testing.T) {
	d := cpu(t)
	branch := func(name, out string) *onnxpb.Graph {
		return body("", out, op("w = Constant", attrs{"value": weights(name, 2)}), op(out+" = Mul x w", nil))
	}
	g := body("c x", "y", op("y = If c", attrs{"then_branch": branch("", "y1"), "else_branch": branch("other", "y2")}))
	g.Nodes[0].Attributes[0].Graph.Sparse = []*onnxpb.SparseTensor{
		{Values: weights("s", 1), Indices: integers("", 1), Dims: []int64{2}}}
	moveWeights(g)
	m := modelOf(13, g)
	first, second := "w", "y."+g.Nodes[0].Attributes[1].Name+".w"
	names := []string{"s", first, second}
	if n := m.Parameters(); n != 4 {
		t.Errorf("%d parameters", n)
	}
	if bytes, _, _ := m.Shapes(nil).Memory(); bytes != 16 {
		t.Errorf("%d bytes of weights", bytes)
	}
	dict, err := m.Weights(d)
	if err != nil || !slices.Equal(slices.Sorted(maps.Keys(dict)), names[1:]) {
		t.Errorf("weights %v, %v", dict, err)
	}
	s, err := m.Load(d, Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := slices.Sorted(maps.Keys(s.Weights)); !slices.Equal(got, names) {
		t.Fatalf("weights %q, want %q", got, names)
	}
	trained := map[string][]float64{"s": {0, 5}, first: {1, 2}, second: {3, 4}}
	for name, numbers := range trained {
		tensor.Upload(s.Weights[name].Value(), numbers)
	}
	var b bytes.Buffer
	if err := Export(&b, s, nil); err != nil {
		t.Fatal(err)
	}
	again, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for k, a := range g.Nodes[0].Attributes {
		out, err := runModel(t, d, again, []bool{a.Name == "then_branch"}, []float32{10, 100})
		if err != nil {
			t.Fatal(err)
		}
		w := trained[names[1+k]]
		wantTensor(t, out[0], tensor.Float32, []int{2}, []float64{10 * w[0], 100 * w[1]}, 0)
	}
	loaded, err := again.Load(d, Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	wantTensor(t, FromTensor(loaded.Weights["s"].Value()), tensor.Float32, []int{2}, trained["s"], 0)
}
