package onnx

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// numbersOf is a tensor of testdata/onnx/operators.json.
type numbersOf struct {
	Type  string
	Shape []int
	Data  []number64
}

// number64 is a number, or "nan", "inf" or "-inf".
type number64 float64

func (n *number64) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*n = number64(x)
	return err
}

func (n *numbersOf) numbers() []float64 {
	x := make([]float64, len(n.Data))
	for i, v := range n.Data {
		x[i] = float64(v)
	}
	return x
}

func (n *numbersOf) typ(t *testing.T) tensor.Type {
	t.Helper()
	for _, typ := range typeTable {
		if typ.String() == n.Type {
			return typ
		}
	}
	t.Fatalf("a tensor of %s", n.Type)
	return 0
}

func (n *numbersOf) tensor(t *testing.T, d tensor.Device) *tensor.Tensor {
	t.Helper()
	return tensor.NewOf(d, n.typ(t), n.numbers(), append([]int{}, n.Shape...)...)
}

// TestOperators compares one node after the other with what ONNX Runtime has computed: scripts/onnxoperators.py.
func TestOperators(t *testing.T) {
	b, err := os.ReadFile("../testdata/onnx/operators.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Op, Domain      string
		Opset           int
		Attrs           map[string]any
		Tolerance       float64
		Inputs, Outputs []*numbersOf
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	d := cpu(t)
	for i, c := range cases {
		t.Run(c.Op+" "+strconv.Itoa(i), func(t *testing.T) {
			var inputs []*Value
			present := make([]bool, len(c.Inputs))
			for i, in := range c.Inputs {
				if present[i] = in != nil; in != nil {
					inputs = append(inputs, FromTensor(in.tensor(t, d)))
				}
			}
			m := nodeModel(c.Op, c.Domain, c.Opset, jsonAttrs(t, c.Attrs), present, len(c.Outputs))
			for i, want := range c.Outputs {
				if want == nil {
					m.file.Graph.Nodes[0].Outputs[i] = ""
				}
			}
			m.file.Graph.Outputs = slices.DeleteFunc(m.file.Graph.Outputs, func(o *onnxpb.ValueInfo) bool {
				return !slices.Contains(m.file.Graph.Nodes[0].Outputs, o.Name)
			})
			s, err := m.Load(d)
			if err != nil {
				t.Fatalf("%v: %v", c.Attrs, err)
			}
			defer s.Close()
			out, err := s.Run(inputs...)
			if err != nil {
				t.Fatalf("%v: %v", c.Attrs, err)
			}
			for _, want := range c.Outputs {
				if want != nil {
					wantTensor(t, out[0], want.typ(t), want.Shape, want.numbers(), c.Tolerance)
					out = out[1:]
				}
			}
			if t.Failed() {
				t.Logf("attributes %v", c.Attrs)
			}
		})
	}
}

// floatAttrs are the attributes of floats that a file may give whole numbers.
var floatAttrs = []string{"alpha", "beta", "scale", "epsilon", "softcap", "mask_filter_value", "activation_alpha",
	"activation_beta", "activation_params"}

func jsonAttrs(t *testing.T, of map[string]any) attrs {
	t.Helper()
	a := attrs{}
	for name, v := range of {
		switch v := v.(type) {
		case float64:
			a[name] = v
			if !slices.Contains(floatAttrs, name) {
				a[name] = int(v)
			}
		case []any:
			var list []int
			var floats []float64
			for _, x := range v {
				list, floats = append(list, int(x.(float64))), append(floats, x.(float64))
			}
			if a[name] = list; slices.Contains(floatAttrs, name) {
				a[name] = floats
			}
		default:
			a[name] = v
		}
	}
	return a
}
