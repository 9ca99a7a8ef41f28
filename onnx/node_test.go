package onnx

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// attrs are the attributes of a node: of int, float64, string, []int, []float64, []string, *onnxpb.Graph or *onnxpb.Tensor.
type attrs map[string]any

func (a attrs) protos() []*onnxpb.Attribute {
	var list []*onnxpb.Attribute
	for name, v := range a {
		p := &onnxpb.Attribute{Name: name}
		switch v := v.(type) {
		case int:
			p.Type, p.Int = onnxpb.AttrInt, int64(v)
		case float64:
			p.Type, p.Float = onnxpb.AttrFloat, float32(v)
		case string:
			p.Type, p.String = onnxpb.AttrString, v
		case []int:
			p.Type = onnxpb.AttrInts
			for _, x := range v {
				p.Ints = append(p.Ints, int64(x))
			}
		case []float64:
			p.Type = onnxpb.AttrFloats
			for _, x := range v {
				p.Floats = append(p.Floats, float32(x))
			}
		case []string:
			p.Type, p.Strings = onnxpb.AttrStrings, v
		case *onnxpb.Graph:
			p.Type, p.Graph = onnxpb.AttrGraph, v
		case *onnxpb.Tensor:
			p.Type, p.Tensor = onnxpb.AttrTensor, v
		default:
			panic(fmt.Sprintf("attribute %s is %T", name, v))
		}
		list = append(list, p)
	}
	return list
}

// nodeModel returns a model of one node. Inputs in0, in1, … are given where present says so, outputs are out0, out1, ….
func nodeModel(op, domain string, opset int, a attrs, present []bool, outputs int) *Model {
	n := &onnxpb.Node{Op: op, Domain: domain, Attributes: a.protos()}
	g := &onnxpb.Graph{Nodes: []*onnxpb.Node{n}}
	for i, there := range present {
		name := ""
		if there {
			name = fmt.Sprintf("in%d", i)
			g.Inputs = append(g.Inputs, &onnxpb.ValueInfo{Name: name})
		}
		n.Inputs = append(n.Inputs, name)
	}
	for i := range outputs {
		name := fmt.Sprintf("out%d", i)
		n.Outputs = append(n.Outputs, name)
		g.Outputs = append(g.Outputs, &onnxpb.ValueInfo{Name: name})
	}
	return &Model{file: &onnxpb.Model{IRVersion: 8, Graph: g, Opsets: []onnxpb.Opset{{Version: int64(opset)}, {Domain: domain, Version: int64(opset)}}}}
}

// runNode runs one operator on inputs, nil for one that is left out, and returns its outputs. Inputs may be slices, of
// rank 1, *tensor.Tensor or *Value.
func runNode(t *testing.T, d tensor.Device, op string, opset int, a attrs, outputs int, inputs ...any) ([]*Value, error) {
	t.Helper()
	return runNodeOf(t, d, "", op, opset, a, outputs, inputs...)
}

// runNodeOf is runNode of a domain.
func runNodeOf(t *testing.T, d tensor.Device, domain, op string, opset int, a attrs, outputs int, inputs ...any) ([]*Value, error) {
	t.Helper()
	present := make([]bool, len(inputs))
	var values []*Value
	for i, in := range inputs {
		if in != nil {
			present[i] = true
			values = append(values, testValue(d, in))
		}
	}
	s, err := nodeModel(op, domain, opset, a, present, outputs).Load(d)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.Close() })
	return s.Run(values...)
}

func testValue(d tensor.Device, in any) *Value {
	switch x := in.(type) {
	case *Value:
		return x
	case *tensor.Tensor:
		return FromTensor(x)
	case []float32:
		return FromTensor(tensor.New(d, x))
	case []float64:
		return FromTensor(tensor.New(d, x))
	case []int64:
		return FromTensor(tensor.New(d, x))
	case []int32:
		return FromTensor(tensor.New(d, x))
	case []uint8:
		return FromTensor(tensor.New(d, x))
	case []int8:
		return FromTensor(tensor.New(d, x))
	case []bool:
		return FromTensor(tensor.New(d, x))
	case []string:
		return FromStrings(x)
	}
	panic(fmt.Sprintf("an input of %T", in))
}

// wantTensor compares an output: shape, type, and numbers within tolerance relative to those above 1.
func wantTensor(t *testing.T, v *Value, typ tensor.Type, shape []int, numbers []float64, tolerance float64) {
	t.Helper()
	x := v.Tensor()
	if x == nil {
		t.Errorf("%v, want a tensor", v)
		return
	}
	if x.Type() != typ || !slices.Equal(x.Shape(), shape) {
		t.Errorf("%v, want %v %v", v, typ, shape)
		return
	}
	got, err := x.Float64s()
	if err != nil {
		t.Error(err)
		return
	}
	for i, w := range numbers {
		if g := got[i]; g != w && !(math.IsNaN(g) && math.IsNaN(w)) && !(math.Abs(g-w) <= tolerance*max(1, math.Abs(w))) {
			t.Errorf("element %d is %v, want %v: %v", i, g, w, got)
			return
		}
	}
}

// cpu opens the Go device for a test.
func cpu(t *testing.T) tensor.Device {
	t.Helper()
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestElementwise(t *testing.T) {
	d := cpu(t)
	for _, c := range []struct {
		op     string
		opset  int
		attrs  attrs
		inputs []any
		typ    tensor.Type
		want   []float64
	}{
		{"Div", 13, nil, []any{[]int64{7, -7, 7, -7, 6}, []int64{2, 2, -2, -2, -3}}, tensor.Int64, []float64{3, -3, -3, 3, -2}},
		{"Div", 14, nil, []any{[]uint8{200, 7}, []uint8{7, 8}}, tensor.Uint8, []float64{28, 0}},
		{"Mod", 13, nil, []any{[]int64{-7, 7}, []int64{3, -3}}, tensor.Int64, []float64{2, -2}},
		{"Mod", 13, attrs{"fmod": 1}, []any{[]int64{-7, 7}, []int64{3, -3}}, tensor.Int64, []float64{-1, 1}},
		{"Pow", 15, nil, []any{[]int64{2, 3}, []float32{3, 2}}, tensor.Int64, []float64{8, 9}},
		{"Clip", 6, attrs{"min": -1.0}, []any{[]float32{-2, 0, 2}}, tensor.Float32, []float64{-1, 0, 2}},
		{"Add", 6, attrs{"axis": 0, "broadcast": 1}, []any{tensor.New(d, []float32{1, 2, 3, 4}, 2, 2), []float32{10, 20}}, tensor.Float32, []float64{11, 12, 23, 24}},
		{"IsInf", 10, attrs{"detect_negative": 0}, []any{[]float32{float32(math.Inf(-1)), float32(math.Inf(1)), 1}}, tensor.Bool, []float64{0, 1, 0}},
		{"Mean", 13, nil, []any{[]float32{1, 2}, []float32{3, 6}}, tensor.Float32, []float64{2, 4}},
	} {
		out, err := runNode(t, d, c.op, c.opset, c.attrs, 1, c.inputs...)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		t.Run(c.op, func(t *testing.T) { wantTensor(t, out[0], c.typ, out[0].Shape(), c.want, 1e-6) })
	}
}
