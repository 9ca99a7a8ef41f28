package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// weights returns an initializer of numbers that differ, around 1.
func weights(name string, shape ...int64) *onnxpb.Tensor {
	t := &onnxpb.Tensor{Name: name, Type: onnxpb.Float, Dims: shape, HasRaw: true}
	n, _ := t.Len()
	for i := range n {
		bits := math.Float32bits(float32(1 + 0.5*math.Sin(float64(i+len(name)))))
		t.Raw = append(t.Raw, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	return t
}

func integers(name string, x ...int64) *onnxpb.Tensor {
	t := &onnxpb.Tensor{Name: name, Type: onnxpb.Int64, Dims: []int64{int64(len(x))}, HasRaw: true, Raw: []byte{}}
	for _, v := range x {
		for i := range 8 {
			t.Raw = append(t.Raw, byte(v>>(8*i)))
		}
	}
	return t
}

// written is a node: "y = Conv(x, w)".
func written(text string, a attrs) *onnxpb.Node {
	outputs, call, _ := strings.Cut(text, " = ")
	name, inputs, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
	n := &onnxpb.Node{Op: name, Outputs: strings.Split(outputs, ", "), Attributes: a.protos()}
	if inputs != "" {
		n.Inputs = strings.Split(inputs, ", ")
	}
	return n
}

// TestPasses: each pass leaves the nodes that it should, and the numbers are those of the graph as the file has it.
func TestPasses(t *testing.T) {
	d := cpu(t)
	channels := []*onnxpb.Tensor{weights("w", 4, 3, 3, 3), weights("b", 4), weights("gamma", 4), weights("beta", 4), weights("mean", 4), weights("var", 4),
		weights("c", 4, 1, 1), weights("one"), weights("row", 4), integers("pads", 0, 0, 1, 2, 0, 0, 0, 1), integers("batch", 1, 0, 0, 0, 0, 0, 0, 0), integers("cut", 0, 0, -1, 0, 0, 0, 0, 0)}
	bn := "BatchNormalization(z, gamma, beta, mean, var)"
	for _, c := range []struct {
		name  string
		nodes []*onnxpb.Node
		want  string // the operators that are left
		skip  []string
	}{
		{"norm", []*onnxpb.Node{written("z = Conv(x, w, b)", nil), written("y = "+bn, attrs{"epsilon": 0.1})}, "Conv", nil},
		{"norm without bias", []*onnxpb.Node{written("z = Conv(x, w)", nil), written("y = "+bn, nil)}, "Conv", nil},
		{"skipped", []*onnxpb.Node{written("z = Conv(x, w)", nil), written("y = "+bn, nil)}, "Conv BatchNormalization", []string{"fold-scales"}},
		{"norm of another's", []*onnxpb.Node{written("z = Conv(x, w)", nil), written("n = "+bn, nil), written("y = Add(n, z)", nil)}, "Conv BatchNormalization Add", nil},
		{"channels", []*onnxpb.Node{written("z = Conv(x, w, b)", nil), written("m = Mul(c, z)", nil), written("y = Add(m, one)", nil)}, "Conv", nil},
		{"a row is no channels", []*onnxpb.Node{written("z = Conv(x, w, b)", nil), written("y = Mul(z, row)", nil)}, "Conv Mul", nil},
		{"two convolutions", []*onnxpb.Node{written("z = Conv(x, w)", nil), written("v = Conv(x, w, b)", nil), written("y = Add(z, v)", nil)}, "Conv Conv Add", nil},
		{"pad", []*onnxpb.Node{written("p = Pad(x, pads)", nil), written("y = Conv(p, w)", attrs{"pads": []int{1, 0, 0, 0}})}, "Conv", nil},
		{"pad of another value", []*onnxpb.Node{written("p = Pad(x, pads, one)", nil), written("y = Conv(p, w)", nil)}, "Pad Conv", nil},
		{"pad that reflects", []*onnxpb.Node{written("p = Pad(x, pads)", attrs{"mode": "edge"}), written("y = Conv(p, w)", nil)}, "Pad Conv", nil},
		{"pad of the batch", []*onnxpb.Node{written("p = Pad(x, batch)", nil), written("y = Conv(p, w)", nil)}, "Pad Conv", nil},
		{"pad that cuts", []*onnxpb.Node{written("p = Pad(x, cut)", nil), written("y = Conv(p, w)", nil)}, "Pad Conv", nil},
		{"pad that others use", []*onnxpb.Node{written("p = Pad(x, pads)", nil), written("z = Conv(p, w)", nil), written("s = ReduceMax(p)", attrs{"keepdims": 0}), written("y = Add(z, s)", nil)}, "Pad Conv ReduceMax Add", nil},
		{"pad with auto_pad", []*onnxpb.Node{written("p = Pad(x, pads)", nil), written("y = Conv(p, w)", attrs{"auto_pad": "SAME_UPPER"})}, "Pad Conv", nil},
		{"transposes", []*onnxpb.Node{written("a = Transpose(x)", attrs{"perm": []int{0, 2, 3, 1}}), written("y = Transpose(a)", attrs{"perm": []int{0, 3, 1, 2}})}, "Identity", nil},
		{"transposes that stay", []*onnxpb.Node{written("a = Transpose(x)", attrs{"perm": []int{0, 2, 3, 1}}), written("y = Transpose(a)", attrs{"perm": []int{3, 1, 2, 0}})}, "Transpose", nil},
		{"constants", []*onnxpb.Node{written("k = Mul(b, one)", nil), written("k2 = Add(k, b)", nil), written("z = Conv(x, w, k2)", nil), written("y = Relu(z)", nil)}, "Conv Relu", nil},
		{"unused", []*onnxpb.Node{written("u = Exp(x)", nil), written("u2 = Exp(u)", nil), written("y = Relu(x)", nil)}, "Relu", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := chain(17, c.nodes...)
			m.file.Graph.Initializers = channels
			m.file.Graph.Inputs[0].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float}
			x := make([]float32, 2*3*7*6)
			for i := range x {
				x[i] = float32(math.Cos(float64(i)))
			}
			in := FromTensor(tensor.New(d, x, 2, 3, 7, 6))
			s, err := m.Load(d, Options{Skip: c.skip})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var left []string
			for _, n := range s.main.nodes {
				left = append(left, n.proto.Op)
			}
			if got := strings.Join(left, " "); got != c.want {
				t.Errorf("left are %s, want %s", got, c.want)
			}
			plain, err := m.Load(d, Options{Skip: Passes()})
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			want, err := plain.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			w, _ := want[0].Tensor().Float64s()
			for range 3 {
				got, err := s.Run(in)
				if err != nil {
					t.Fatal(err)
				}
				wantTensor(t, got[0], tensor.Float32, want[0].Shape(), w, 1e-5)
			}
			for _, n := range c.nodes { // values that passes have removed
				got, err := s.RunNamed(map[string]*Value{"x": in}, n.Outputs[0])
				if err != nil {
					t.Error(err)
					continue
				}
				want, err := plain.RunNamed(map[string]*Value{"x": in}, n.Outputs[0])
				if err != nil {
					t.Fatal(err)
				}
				w, _ := want[n.Outputs[0]].Tensor().Float64s()
				wantTensor(t, got[n.Outputs[0]], tensor.Float32, want[n.Outputs[0]].Shape(), w, 1e-5)
			}
		})
	}
	if _, err := chain(17, written("y = Relu(x)", nil)).Load(d, Options{Skip: []string{"everything"}}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(Passes())) {
		t.Error(err)
	}
	if !slices.Contains(Passes(), "fold-scales") {
		t.Error(Passes())
	}
}

// TestFoldLimits: what a model makes of few constants is left to its runs, where it takes long or much memory.
func TestFoldLimits(t *testing.T) {
	d := cpu(t)
	end := op("y = Add x c", nil)
	double := []*onnxpb.Node{op("c0 = Concat k k", attrs{"axis": 0})}
	for i := range 30 {
		double = append(double, op(fmt.Sprintf("c%d = Concat c%d c%d", i+1, i, i), attrs{"axis": 0}))
	}
	square := op("a = ConstantOfShape s", nil)
	for name, c := range map[string]struct {
		sizes []int64
		nodes []*onnxpb.Node
	}{
		"elements": {[]int64{1<<31 - 1}, []*onnxpb.Node{op("c = ConstantOfShape s", nil), end}},
		"broadcast": {[]int64{1 << 15, 1}, []*onnxpb.Node{square, op("b = Transpose a", nil), op("m = Add a b", nil),
			op("c = ReduceSum m", nil), end}},
		"a product":     {[]int64{4000, 4000}, []*onnxpb.Node{square, op("m = MatMul a a", nil), op("c = ReduceSum m", nil), end}},
		"a chain":       {nil, append(double, op("c = ReduceSum c30", nil), end)},
		"a determinant": {[]int64{3000, 3000}, []*onnxpb.Node{square, op("c = Det a", nil), end}},
	} {
		t.Run(name, func(t *testing.T) {
			g := body("x", "y", c.nodes...)
			g.Initializers = []*onnxpb.Tensor{weights("k", 1), integers("s", c.sizes...)}
			s, err := modelOf(13, g).Load(d)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.main.constants["c"] != nil {
				t.Error("it is computed when the model is loaded")
			}
			elements := 0
			for _, v := range s.main.constants {
				elements += v.any().Len()
			}
			if elements > foldedElements+1<<10 {
				t.Errorf("%d elements of constants", elements)
			}
		})
	}
}
