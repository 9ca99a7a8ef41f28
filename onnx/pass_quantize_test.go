package onnx

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// stored is an initializer of elements of a type, which have a byte each.
func stored(name string, typ onnxpb.DataType, bytes []byte, shape ...int64) *onnxpb.Tensor {
	return &onnxpb.Tensor{Name: name, Type: typ, Dims: shape, HasRaw: true, Raw: bytes}
}

// counted is stored, of elements that differ.
func counted(name string, typ onnxpb.DataType, shape ...int64) *onnxpb.Tensor {
	t := &onnxpb.Tensor{Name: name, Type: typ, Dims: shape, HasRaw: true}
	n, _ := t.Len()
	for i := range n {
		t.Raw = append(t.Raw, byte(i*37+len(name)))
	}
	t.Raw = t.Raw[:n*typ.Bits()/8]
	return t
}

// scalesOf are powers of two, so that products and sums with them are exact.
func scalesOf(name string, shape ...int64) *onnxpb.Tensor {
	t := &onnxpb.Tensor{Name: name, Type: onnxpb.Float, Dims: shape, HasRaw: true, Raw: []byte{}}
	n, _ := t.Len()
	for i := range n {
		bits := math.Float32bits(float32(math.Ldexp(1, i%3-4)))
		t.Raw = append(t.Raw, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	return t
}

// TestQuantizePass: what becomes products of integers, or of weights in integers, and what does not; the numbers are
// those of the graph as the file has it.
func TestQuantizePass(t *testing.T) {
	zero := func(name string, typ onnxpb.DataType, v ...byte) *onnxpb.Tensor {
		return stored(name, typ, v, int64(len(v)))
	}
	scalar := func(t *onnxpb.Tensor) *onnxpb.Tensor { t.Dims = nil; return t }
	initializers := []*onnxpb.Tensor{
		scalar(scalesOf("s", 1)), scalar(zero("z", onnxpb.Uint8, 130)), scalar(zero("zi", onnxpb.Int8, 3)), scalar(scalesOf("s2", 1)),
		scalar(zero("z2", onnxpb.Uint8, 131)), scalar(stored("z16", onnxpb.Uint16, []byte{1, 1})), scalesOf("three", 3),
		counted("k", onnxpb.Int8, 4, 3, 3, 3), counted("k1", onnxpb.Int8, 3, 1, 3, 3), scalesOf("ks", 4), zero("kz", onnxpb.Int8, 1, 2, 255, 0),
		zero("kzu", onnxpb.Uint8, 1, 2, 255, 0), weights("b", 4), counted("ku", onnxpb.Uint8, 4, 3, 3, 3), scalar(weights("odd")),
		counted("w", onnxpb.Int8, 6, 5), counted("wt", onnxpb.Uint8, 5, 6), scalesOf("ws", 5), scalesOf("rows", 6), weights("c", 5),
		zero("wz", onnxpb.Uint8, 4, 128, 0, 255, 9), counted("w4", onnxpb.Int4, 6, 5), counted("long", onnxpb.Uint4, 6, 64), scalesOf("ls", 6, 2),
		counted("lz", onnxpb.Uint4, 6, 2), counted("down", onnxpb.Int8, 64, 5), scalesOf("ds", 2, 5), scalesOf("ds16", 4, 5), counted("e5", onnxpb.Float8E5M2, 6, 5),
		integers("flat", 2, -1), integers("long shape", 2, 64), weights("x64", 2, 64), scalesOf("none", 5),
	}
	initializers[len(initializers)-1].Raw[3] = 0x7f // infinite
	in := []*onnxpb.Node{written("q = QuantizeLinear(x, s, z)", nil), written("d = DequantizeLinear(q, s, z)", nil)}
	out := []*onnxpb.Node{written("p = QuantizeLinear(r, s2, z2)", nil), written("y = DequantizeLinear(p, s2, z2)", nil)}
	list := func(parts ...any) (nodes []*onnxpb.Node) {
		for _, p := range parts {
			switch p := p.(type) {
			case *onnxpb.Node:
				nodes = append(nodes, p)
			case []*onnxpb.Node:
				nodes = append(nodes, p...)
			}
		}
		return nodes
	}
	channels := attrs{"axis": 0}
	shape := []int{2, 3, 7, 6}
	for _, c := range []struct {
		name  string
		nodes []*onnxpb.Node
		want  string
		skip  []string
	}{
		{"a convolution between", list(in, written("e = DequantizeLinear(k, ks, kz)", channels), written("f = Conv(d, e, b)", attrs{"pads": []int{1, 1, 0, 1}}),
			written("r = Relu(f)", nil), out), "QuantizeLinear QuantizedConv Relu QuantizeLinear DequantizeLinear", nil},
		{"skipped", list(in, written("e = DequantizeLinear(k, ks, kz)", channels), written("f = Conv(d, e, b)", nil), written("r = Relu(f)", nil), out),
			"QuantizeLinear DequantizeLinear Conv Relu QuantizeLinear DequantizeLinear", []string{"quantize"}},
		{"depthwise, one scale, without bias", list(in, written("e = DequantizeLinear(k1, s)", nil), written("r = Conv(d, e)", attrs{"group": 3}), out),
			"QuantizeLinear QuantizedConv QuantizeLinear DequantizeLinear", nil},
		{"unsigned weights, no quantization behind", list(in, written("e = DequantizeLinear(ku, ks, kzu)", channels), written("y = Conv(d, e, b)", nil)),
			"QuantizeLinear QuantizedConv", nil},
		{"scales of inputs of a convolution", list(in, written("e = DequantizeLinear(k1, three)", attrs{"axis": 2}), written("y = Conv(d, e)", attrs{"group": 3})),
			"QuantizeLinear DequantizeLinear Conv", nil},
		{"16 bits", list(written("q = QuantizeLinear(x, s, z16)", nil), written("d = DequantizeLinear(q, s, z16)", nil), written("e = DequantizeLinear(k, s)", nil),
			written("y = Conv(d, e)", nil)), "QuantizeLinear DequantizeLinear Conv", nil},
		{"several scales of an activation", list(written("q = QuantizeLinear(x, three)", attrs{"axis": 1}), written("d = DequantizeLinear(q, three)", attrs{"axis": 1}),
			written("e = DequantizeLinear(k, s)", nil), written("y = Conv(d, e)", nil)), "QuantizeLinear DequantizeLinear Conv", nil},
		{"a scale that is computed", list(written("m = ReduceMax(x)", attrs{"keepdims": 0}), written("q = QuantizeLinear(x, m, z)", nil),
			written("d = DequantizeLinear(q, m, z)", nil), written("e = DequantizeLinear(k, s)", nil), written("y = Conv(d, e)", nil)),
			"ReduceMax QuantizeLinear DequantizeLinear Conv", nil},
		{"weights of a convolution of floats", list(written("e = DequantizeLinear(k, ks, kz)", channels), written("y = Conv(x, e, b)", nil)), "Conv", nil},
		{"a product between", list(in, written("e = DequantizeLinear(w, ws)", nil), written("r = MatMul(d, e)", nil), out),
			"QuantizeLinear QuantizedMatMul QuantizeLinear DequantizeLinear", nil},
		{"a product of activations", list(in, written("v = Transpose(x)", attrs{"perm": []int{0, 1, 3, 2}}), written("vq = QuantizeLinear(v, s, zi)", nil),
			written("vd = DequantizeLinear(vq, s, zi)", nil), written("y = MatMul(d, vd)", nil)),
			"QuantizeLinear Transpose QuantizeLinear QuantizedMatMul", nil},
		{"a product with scales of rows", list(in, written("e = DequantizeLinear(w, rows)", channels), written("y = MatMul(d, e)", nil)),
			"QuantizeLinear DequantizeLinear MatMul", nil},
		{"weights that are transposed", list(in, written("e = DequantizeLinear(wt, ws, wz)", channels), written("g = Transpose(e)", attrs{"perm": []int{1, 0}}),
			written("y = MatMul(d, g)", nil)), "QuantizeLinear QuantizedMatMul", nil},
		{"weights alone", list(written("e = DequantizeLinear(w, ws)", nil), written("y = MatMul(x, e)", nil)), "PackedMatMul", nil},
		{"weights alone, one scale", list(written("e = DequantizeLinear(w, odd)", nil), written("y = MatMul(x, e)", nil)), "PackedMatMul", nil},
		{"weights of 4 bits", list(written("e = DequantizeLinear(w4, ws)", attrs{"axis": -1}), written("y = MatMul(x, e)", nil)), "PackedMatMul", nil},
		{"weights with scales of rows", list(written("e = DequantizeLinear(w, rows)", channels), written("y = MatMul(x, e)", nil)), "MatMul", nil},
		{"weights in floats of 8 bits", list(written("e = DequantizeLinear(e5, s)", nil), written("y = MatMul(x, e)", nil)), "MatMul", nil},
		{"a scale that is no number", list(written("e = DequantizeLinear(w, none)", nil), written("y = MatMul(x, e)", nil)), "MatMul", nil},
		{"Gemm, transposed", list(written("r = ReduceMax(x)", attrs{"axes": []int{0, 1}, "keepdims": 0}), written("e = DequantizeLinear(wt, ws, wz)", channels),
			written("y = Gemm(r, e, c)", attrs{"transB": 1})), "ReduceMax PackedMatMul", nil},
		{"Gemm of integers", list(written("r = ReduceMax(x)", attrs{"axes": []int{0, 1}, "keepdims": 0}), written("q = QuantizeLinear(r, s, z)", nil),
			written("d = DequantizeLinear(q, s, z)", nil), written("e = DequantizeLinear(wt, ws, wz)", channels), written("y = Gemm(d, e, c)", attrs{"transB": 1})),
			"ReduceMax QuantizeLinear QuantizedMatMul", nil},
		{"Gemm with a factor", list(written("r = ReduceMax(x)", attrs{"axes": []int{0, 1}, "keepdims": 0}), written("e = DequantizeLinear(w, ws)", nil),
			written("y = Gemm(r, e, c)", attrs{"alpha": 0.5})), "ReduceMax Gemm", nil},
		{"blocks, transposed", list(written("m = ReduceMax(x)", attrs{"keepdims": 0}), written("a = Mul(x64, m)", nil), written("e = DequantizeLinear(long, ls, lz)", attrs{"axis": 1, "block_size": 32}),
			written("y = Gemm(a, e)", attrs{"transB": 1})), "ReduceMax Mul PackedMatMul", nil},
		{"blocks", list(written("m = ReduceMax(x)", attrs{"keepdims": 0}), written("a = Mul(x64, m)", nil), written("e = DequantizeLinear(down, ds)", attrs{"axis": 0, "block_size": 32}),
			written("y = MatMul(a, e)", nil)), "ReduceMax Mul PackedMatMul", nil},
		{"blocks of 16", list(written("m = ReduceMax(x)", attrs{"keepdims": 0}), written("a = Mul(x64, m)", nil), written("e = DequantizeLinear(down, ds16)", attrs{"axis": 0, "block_size": 16}),
			written("y = MatMul(a, e)", nil)), "ReduceMax Mul MatMul", nil},
		{"moves", list(in, written("g = Reshape(d, flat)", nil), written("p = QuantizeLinear(g, s, z)", nil), written("y = DequantizeLinear(p, s, z)", nil)),
			"QuantizeLinear Reshape DequantizeLinear", nil},
		{"the largest of windows", list(in, written("g = MaxPool(d)", attrs{"kernel_shape": []int{2, 2}}), written("p = QuantizeLinear(g, s, z)", nil), written("y = DequantizeLinear(p, s, z)", nil)),
			"QuantizeLinear MaxPool DequantizeLinear", nil},
		{"a move between two scales", list(in, written("r = Reshape(d, flat)", nil), out), "QuantizeLinear DequantizeLinear Reshape QuantizeLinear DequantizeLinear", nil},
		{"a move that others use", list(in, written("g = Reshape(d, flat)", nil), written("p = QuantizeLinear(g, s, z)", nil), written("h = DequantizeLinear(p, s, z)", nil),
			written("y = Add(g, h)", nil)), "QuantizeLinear DequantizeLinear Reshape QuantizeLinear DequantizeLinear Add", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				m := chain(23, c.nodes...)
				m.file.Graph.Initializers = initializers
				m.file.Graph.Inputs[0].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float}
				numbers := make([]float32, 2*3*7*6)
				for i := range numbers {
					numbers[i] = float32(math.Round(50*math.Cos(float64(i)))) / 16
				}
				x := FromTensor(tensor.New(d, numbers, shape...))
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
				want, err := plain.Run(x)
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					got, err := s.Run(x)
					if err != nil {
						t.Fatal(err)
					}
					wantSame(t, got[0], want[0].Tensor(), 2e-5)
				}
				first := c.nodes[0].Outputs[0] // a value of the graph as the file has it
				if _, err := s.RunNamed(map[string]*Value{"x": x}, first, "y"); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
