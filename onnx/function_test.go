package onnx

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// ref is an attribute that takes its value from one of the function's call.
func ref(name, of string, typ onnxpb.AttributeType) *onnxpb.Attribute {
	return &onnxpb.Attribute{Name: name, Ref: of, Type: typ}
}

// scaledFunction is a function y = x·scale, whose attribute scale is 3 by default.
func scaledFunction() *onnxpb.Function {
	k := op("k = Constant", nil)
	k.Attributes = []*onnxpb.Attribute{ref("value_float", "scale", onnxpb.AttrFloat)}
	return &onnxpb.Function{Name: "Scaled", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
		Nodes: []*onnxpb.Node{k, op("y = Mul x k", nil)}, Defaults: attrs{"scale": 3.0}.protos(),
		Opsets: []onnxpb.Opset{{Version: 13}}}
}

// TestFunctionAttributes: an attribute of the call, one that is passed on through another function, one that the outer
// call leaves out, whose default is then the inner function's, and one that is used in a branch.
func TestFunctionAttributes(t *testing.T) {
	d := cpu(t)
	call := op("y = own.Scaled x", nil)
	call.Attributes = []*onnxpb.Attribute{ref("scale", "by", onnxpb.AttrFloat)}
	outer := &onnxpb.Function{Name: "Outer", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
		Attributes: []string{"by"}, Nodes: []*onnxpb.Node{call}}
	inBranch := op("z = own.Scaled x", nil)
	inBranch.Attributes = []*onnxpb.Attribute{ref("scale", "by", onnxpb.AttrFloat)}
	branches := &onnxpb.Function{Name: "Branches", Domain: "own", Inputs: []string{"x", "c"}, Outputs: []string{"y"},
		Nodes: []*onnxpb.Node{op("y = If c", attrs{"then_branch": body("", "z", inBranch), "else_branch": body("", "x")})}}
	for _, c := range []struct {
		call string
		a    attrs
		want float64
	}{
		{"y = own.Scaled x", nil, 6},
		{"y = own.Scaled x", attrs{"scale": 10.0}, 20},
		{"y = own.Outer x", attrs{"by": 10.0}, 20},
		{"y = own.Outer x", nil, 6},
		{"y = own.Branches x c", attrs{"by": 5.0}, 10},
	} {
		g := body("x c", "y", op(c.call, c.a))
		out, err := runModel(t, d, modelOf(13, g, scaledFunction(), outer, branches), []float32{2}, []bool{true})
		if err != nil {
			t.Errorf("%s %v: %v", c.call, c.a, err)
			continue
		}
		wantTensor(t, out[0], tensor.Float32, []int{1}, []float64{c.want}, 0)
	}
}

// TestFunctionGraphs: a graph that is an attribute of the call sees the values around the call; a default one does not
// need any.
func TestFunctionGraphs(t *testing.T) {
	d := cpu(t)
	apply := op("y = SequenceMap s", nil)
	apply.Attributes = []*onnxpb.Attribute{ref("body", "f", onnxpb.AttrGraph)}
	each := &onnxpb.Function{Name: "Each", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
		Nodes:    []*onnxpb.Node{op("s = SequenceConstruct x x", nil), apply},
		Defaults: attrs{"f": body("v", "w", op("w = Neg v", nil))}.protos()}
	for _, c := range []struct {
		a    attrs
		want float64
	}{{nil, -2}, {attrs{"f": body("v", "w", op("w = Add v outside", nil))}, 9}} {
		g := body("x outside", "y", op("y = own.Each x", c.a))
		out, err := runModel(t, d, modelOf(17, g, each), []float32{2}, []float32{7})
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0].Sequence()[1], tensor.Float32, []int{1}, []float64{c.want}, 0)
	}
}

// TestFunctionInputs: an input that the call leaves out is left out where the function uses it.
func TestFunctionInputs(t *testing.T) {
	d := cpu(t)
	f := &onnxpb.Function{Name: "Bounded", Domain: "own", Inputs: []string{"x", "low", "high"}, Outputs: []string{"y"},
		Nodes: []*onnxpb.Node{op("y = Clip x low high", nil)}}
	for _, c := range []struct {
		call string
		want []float64
	}{
		{"y = own.Bounded x", []float64{-5, 5}},
		{"y = own.Bounded x - b", []float64{-5, 2}},
		{"y = own.Bounded x b", []float64{2, 5}},
	} {
		out, err := runModel(t, d, modelOf(13, body("x b", "y", op(c.call, nil)), f), []float32{-5, 5}, scalar(d, float32(2)))
		if err != nil {
			t.Errorf("%s: %v", c.call, err)
			continue
		}
		wantTensor(t, out[0], tensor.Float32, []int{2}, c.want, 0)
	}
	if _, err := runModel(t, d, modelOf(13, body("x b", "y", op("y = own.Bounded x b b b", nil)), f), []float32{1},
		[]float32{1}); err == nil {
		t.Error("four inputs of a function of three are taken")
	}
}

// TestFunctionLimits: a function sees no value around its call, one that calls itself ends in an error, and so does one
// of which nothing makes an output.
func TestFunctionLimits(t *testing.T) {
	d := cpu(t)
	for name, f := range map[string]*onnxpb.Function{
		"is nothing": {Name: "F", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
			Nodes: []*onnxpb.Node{op("y = Add x outside", nil)}},
		"deep": {Name: "F", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
			Nodes: []*onnxpb.Node{op("y = own.F x", nil)}},
		"nothing makes": {Name: "F", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
			Nodes: []*onnxpb.Node{op("z = Neg x", nil)}},
		"operator Nil": {Name: "F", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
			Nodes: []*onnxpb.Node{op("y = Nil x", nil)}},
	} {
		_, err := runModel(t, d, modelOf(13, body("x outside", "y", op("y = own.F x", nil)), f), []float32{1}, []float32{1})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want an error with %q", err, name)
		}
	}
	// A name of the function has precedence over an operator of the table, and its opset over the model's.
	abs := &onnxpb.Function{Name: "Abs", Inputs: []string{"x"}, Outputs: []string{"y"},
		Nodes: []*onnxpb.Node{op("y = Clip x", attrs{"max": 3.0})}, Opsets: []onnxpb.Opset{{Version: 6}}}
	out, err := runModel(t, d, modelOf(13, body("x", "y", op("y = Abs x", nil)), abs), []float32{-1, 9})
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Float32, []int{2}, []float64{-1, 3}, 0)
}
