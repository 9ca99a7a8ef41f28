package onnx

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// open returns an input of a type, whose dimensions are numbers, names, or "" for ones that are open.
func open(name string, elem onnxpb.DataType, dims ...any) *onnxpb.ValueInfo {
	typ := &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: elem, HasShape: true}
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			typ.Dims = append(typ.Dims, onnxpb.Dim{Value: int64(d)})
		case string:
			typ.Dims = append(typ.Dims, onnxpb.Dim{Value: -1, Param: d})
		}
	}
	return &onnxpb.ValueInfo{Name: name, Type: typ}
}

// shapesModel returns a model of nodes as op writes them.
func shapesModel(inputs []*onnxpb.ValueInfo, output string, nodes ...*onnxpb.Node) *Model {
	return &Model{file: &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: 17}},
		Graph: &onnxpb.Graph{Inputs: inputs, Outputs: []*onnxpb.ValueInfo{{Name: output}}, Nodes: nodes}}}
}

// listNode returns a node that is a list of integers.
func listNode(name string, list ...int) *onnxpb.Node {
	return op(name+" = Constant", attrs{"value_ints": list})
}

func TestKnownShapes(t *testing.T) {
	x := []*onnxpb.ValueInfo{open("x", onnxpb.Float, "batch", "sequence", 64)}
	image := []*onnxpb.ValueInfo{open("x", onnxpb.Float, 1, 3, "h", "w")}
	weights := &onnxpb.Tensor{Name: "w", Type: onnxpb.Float, Dims: []int64{8, 3, 3, 3}, HasRaw: true, Raw: make([]byte, 4*8*27)}
	for name, c := range map[string]struct {
		inputs []*onnxpb.ValueInfo
		nodes  []*onnxpb.Node
		want   string
	}{
		"heads":        {x, []*onnxpb.Node{listNode("s", 0, 0, 8, -1), op("y = Reshape x s", nil)}, "y: float[batch,sequence,8,8]"},
		"joined heads": {x, []*onnxpb.Node{listNode("s", -1, 64), op("y = Reshape x s", nil)}, "y: float[batch*sequence,64]"},
		"by the shape": {x, []*onnxpb.Node{
			op("s = Shape x", nil), listNode("i", 1), op("n = Gather s i", nil), listNode("two", 2), op("m = Mul n two", nil),
			listNode("one", -1), op("to = Concat one m", attrs{"axis": 0}), op("y = Reshape x to", nil),
		}, "y: float[batch*32,sequence*2]"},
		"half of it": {x, []*onnxpb.Node{
			op("s = Shape x", attrs{"start": 1, "end": 2}), listNode("one", 1), op("n = Add s one", nil), listNode("two", 2),
			op("m = Div n two", nil), listNode("zero", 0), op("y = Slice x zero m one", nil),
		}, "y: float[batch,min(sequence, (sequence+1)/2),64]"},
		"without the first": {x, []*onnxpb.Node{listNode("one", 1), listNode("end", 1<<31-1), op("y = Slice x one end one", nil)},
			"y: float[batch,sequence-1,64]"},
		"convolution": {image, []*onnxpb.Node{op("w = Constant", attrs{"value": weights}),
			op("y = Conv x w", attrs{"strides": []int{2, 2}, "pads": []int{1, 1, 1, 1}})}, "y: float[1,8,(h+1)/2,(w+1)/2]"},
		"pooled up": {image, []*onnxpb.Node{op("y = MaxPool x", attrs{"kernel_shape": []int{2, 2}, "strides": []int{2, 2}, "ceil_mode": 1})},
			"y: float[1,3,(h+1)/2,(w+1)/2]"},
		"by data": {x, []*onnxpb.Node{op("y = NonZero x", nil)}, "y: int64[3,?]"},
		"positions": {x, []*onnxpb.Node{
			op("s = Shape x", nil), op("zero = Constant", attrs{"value_int": 0}), op("one = Constant", attrs{"value_int": 1}),
			op("n = Gather s one", nil), op("y = Range zero n one", nil),
		}, "y: int64[sequence]"},
		"a branch that is known": {x, []*onnxpb.Node{
			op("s = Shape x", attrs{"start": 2}), listNode("n", 64), op("same = Equal s n", nil),
			op("y = If same", attrs{
				"then_branch": &onnxpb.Graph{Nodes: []*onnxpb.Node{op("a = Identity x", nil)}, Outputs: []*onnxpb.ValueInfo{{Name: "a"}}},
				"else_branch": &onnxpb.Graph{Nodes: []*onnxpb.Node{op("b = Shape x", nil)}, Outputs: []*onnxpb.ValueInfo{{Name: "b"}}},
			}),
		}, "y: float[batch,sequence,64]"},
		"a dimension without a name": {[]*onnxpb.ValueInfo{open("x", onnxpb.Float, "", "?", 4)}, []*onnxpb.Node{op("y = Transpose x", nil)},
			"y: float[4,x.1,x.0]"},
		"an operator that there is not": {x, []*onnxpb.Node{op("y = Nothing x", nil)}, "y: ?"},
	} {
		t.Run(name, func(t *testing.T) {
			k, ok := shapesModel(c.inputs, "y", c.nodes...).Shapes(nil).Value("y")
			if got := k.Info("y").String(); !ok || got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestShapesTotals: operations and memory are known where sizes are given.
func TestKnownTotals(t *testing.T) {
	m := shapesModel([]*onnxpb.ValueInfo{open("x", onnxpb.Float, "n", 8)}, "y",
		op("w = Constant", attrs{"value": &onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{8, 4}, HasRaw: true, Raw: make([]byte, 128)}}),
		op("v = Neg w", nil), op("a = MatMul x v", nil), op("b = Relu a", nil), op("y = Add a b", nil))
	moveWeights(m.file.Graph)
	if _, unknown := m.Shapes(nil).FLOPs(); unknown != 3 {
		t.Errorf("%d nodes are not known, want 3", unknown)
	}
	s := m.Shapes(map[string]int{"n": 5})
	if flops, unknown := s.FLOPs(); flops != 2*5*8*4+2*5*4 || unknown != 0 {
		t.Errorf("%v FLOPs, %d not known", flops, unknown)
	}
	if weights, values, unknown := s.Memory(); weights != 128 || values != 3*5*4*4 || unknown != 0 {
		t.Errorf("%d bytes of weights, %d of values, %d not known", weights, values, unknown)
	}
}

// TestMismatches: a model whose shapes never fit is refused when it is loaded, by the node, unless nobody needs that.
func TestMismatches(t *testing.T) {
	d := cpu(t)
	x := []*onnxpb.ValueInfo{open("x", onnxpb.Float, "n", 8), open("z", onnxpb.Float, 3, 5)}
	for name, c := range map[string]struct {
		nodes []*onnxpb.Node
		want  string
	}{
		"product":   {[]*onnxpb.Node{op("y = MatMul x z", nil)}, `node 0 (MatMul, which makes "y")`},
		"sum":       {[]*onnxpb.Node{op("a = Relu x", nil), op("y = Add a z", nil)}, `node 1 (Add, which makes "y"): onnx: Add: bad value: shapes [a: float[n,8] z: float[3,5]] do not broadcast`},
		"not used":  {[]*onnxpb.Node{op("a = MatMul x z", nil), op("y = Relu x", nil)}, ""},
		"elements":  {[]*onnxpb.Node{listNode("s", 4, 4), op("y = Reshape z s", nil)}, "node 1"},
		"a pool":    {[]*onnxpb.Node{op("y = MaxPool x", attrs{"kernel_shape": []int{2}})}, "node 0"},
		"both ones": {[]*onnxpb.Node{listNode("s", 4, 4), op("a = Reshape z s", nil), op("y = MatMul a x", nil)}, "node 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := shapesModel(x, "y", c.nodes...).Load(d)
			if err == nil {
				s.Close()
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestRules: operators have rules, but for those whose outputs are maps, or made of one.
func TestRules(t *testing.T) {
	none := map[string]bool{
		"ai.onnx.ml.ZipMap": true, "ai.onnx.ml.DictVectorizer": true, "ai.onnx.ml.CastMap": true,
		"ai.onnx.preview.training.Gradient": true, // of any value
	}
	for _, o := range Operators() {
		name := operatorName(o.Domain, o.Name)
		if strings.HasPrefix(o.Domain, "com.example") || strings.HasPrefix(name, "test") {
			continue
		}
		if (o.Shape == nil) != none[name] {
			t.Errorf("%s from %d has a rule: %v", name, o.Since, o.Shape != nil)
		}
	}
}
