package onnxpb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// full is a model with something in every field.
func full() *Model {
	x := &ValueInfo{Name: "x", Type: &Type{Kind: KindTensor, Elem: Float, HasShape: true, Dims: []Dim{{Value: 2}, {Value: -1, Param: "n"}, {Value: -1}}}}
	seq := &ValueInfo{Name: "s", Doc: "doc", Type: &Type{Kind: KindSequence, Of: &Type{Kind: KindOptional, Of: &Type{Kind: KindTensor, Elem: Int64}}}}
	w := &Tensor{Name: "w", Type: Float, Dims: []int64{2}, Raw: []byte{0, 0, 128, 63, 0, 0, 0, 64}, HasRaw: true}
	s := &Tensor{Name: "t", Type: String, Dims: []int64{2}, Strings: [][]byte{[]byte("a"), {}}}
	out := &Tensor{Name: "o", Type: Int8, Dims: []int64{3}, Outside: true, External: []Entry{{"location", "w.bin"}, {"length", "3"}}}
	index := &Tensor{Name: "i", Type: Int64, Dims: []int64{1}, Raw: make([]byte, 8), HasRaw: true}
	inner := &Graph{Name: "inner", Nodes: []*Node{{Op: "Neg", Inputs: []string{"x"}, Outputs: []string{"z"}}}, Outputs: []*ValueInfo{{Name: "z"}}}
	node := &Node{Name: "n", Op: "If", Domain: "d", Doc: "doc", Overload: "o", Inputs: []string{"x", "", "w"}, Outputs: []string{"y", ""}, Attributes: []*Attribute{
		{Name: "f", Type: AttrFloat, Float: 1.5}, {Name: "i", Type: AttrInt, Int: -3}, {Name: "s", Type: AttrString, String: "\xff"},
		{Name: "t", Type: AttrTensor, Tensor: w}, {Name: "g", Type: AttrGraph, Graph: inner}, {Name: "fs", Type: AttrFloats, Floats: []float32{1, 2}},
		{Name: "is", Type: AttrInts, Ints: []int64{1, -1}}, {Name: "ss", Type: AttrStrings, Strings: []string{"", "b"}},
		{Name: "ts", Type: AttrTensors, Tensors: []*Tensor{s}}, {Name: "gs", Type: AttrGraphs, Graphs: []*Graph{inner}}, {Name: "tp", Type: AttrType, Proto: x.Type},
		{Name: "sp", Type: AttrSparseTensor, Sparse: &SparseTensor{Values: w, Indices: index, Dims: []int64{4}}},
		{Name: "r", Type: AttrInt, Ref: "outer"},
	}}
	return &Model{IRVersion: 8, ProducerName: "p", ProducerVersion: "1", Domain: "d", Version: 3, Doc: "doc", Opsets: []Opset{{"", 17}, {"d", 1}},
		Metadata: []Entry{{"k", "v"}}, Functions: []*Function{{Name: "F", Domain: "d", Overload: "o", Doc: "doc", Inputs: []string{"a"}, Outputs: []string{"b"},
			Attributes: []string{"outer"}, Defaults: []*Attribute{{Name: "q", Type: AttrInt, Int: 1}}, Nodes: []*Node{{Op: "Neg", Inputs: []string{"a"}, Outputs: []string{"b"}}}, Opsets: []Opset{{"", 17}}}},
		Graph: &Graph{Name: "g", Doc: "doc", Nodes: []*Node{node}, Initializers: []*Tensor{w, s, out}, Inputs: []*ValueInfo{x, seq}, Outputs: []*ValueInfo{{Name: "y"}},
			Values: []*ValueInfo{x}, Sparse: []*SparseTensor{{Values: w, Indices: index, Dims: []int64{4}}}}}
}

// TestRoundTrip: what is written is read, and written again as the same bytes.
func TestRoundTrip(t *testing.T) {
	m := full()
	b := m.Append(nil)
	got, err := ReadModel(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, m) {
		t.Errorf("%+v\n%+v", got.Graph.Nodes[0], m.Graph.Nodes[0])
	}
	if !bytes.Equal(got.Append(nil), b) {
		t.Error("the bytes differ")
	}
}

// TestTypedFields: elements of a typed field are written as bytes.
func TestTypedFields(t *testing.T) {
	x := &Tensor{Name: "x", Type: Int64, Dims: []int64{2}, Field: int64Data, Packed: [][]byte{{2, 0x83, 0x01}}}
	m := &Model{IRVersion: 8, Graph: &Graph{Initializers: []*Tensor{x}}}
	got, err := ReadModel(m.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{2, 0, 0, 0, 0, 0, 0, 0, 131, 0, 0, 0, 0, 0, 0, 0}
	if y := got.Graph.Initializers[0]; !y.HasRaw || !bytes.Equal(y.Raw, want) || x.HasRaw {
		t.Errorf("%+v of %+v", y, x)
	}
}

// TestFile: a file that the onnx package of Python wrote is read, and written as the same bytes.
func TestFile(t *testing.T) {
	b, err := os.ReadFile("../../testdata/onnx/perceptron.onnx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadModel(b)
	if err != nil {
		t.Fatal(err)
	}
	if m.ProducerName != "clgrad" || len(m.Graph.Nodes) != 3 || m.Opsets[0].Version != 17 {
		t.Errorf("%+v", m)
	}
	again, err := ReadModel(m.Append(nil))
	if err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestTruncated: a model that ends early, or has another wire type somewhere, is an error or another model, and no panic.
func TestTruncated(t *testing.T) {
	b := full().Append(nil)
	for i := range b {
		if _, err := ReadModel(b[:i]); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("of %d bytes: %v", i, err)
		}
		for bit := range 8 {
			c := slices.Clone(b)
			c[i] ^= 1 << bit
			if _, err := ReadModel(c); err != nil && !errors.Is(err, ErrFormat) {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
		}
	}
	if _, err := ReadModel(b[:len(b)-1]); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("%v", err)
	}
}

// TestDeep: graphs within graphs end in an error, and do not exhaust the stack.
func TestDeep(t *testing.T) {
	b := []byte{}
	for range 1000 {
		attr := protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), b)
		node := protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), attr)
		b = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), node)
	}
	b = protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), b)
	if _, err := ReadModel(b); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "nested") {
		t.Error(err)
	}
}

// TestBytes: elements in each field of a tensor, packed and not.
func TestBytes(t *testing.T) {
	packed := func(x ...uint64) [][]byte {
		var b []byte
		for _, v := range x {
			b = protowire.AppendVarint(b, v)
		}
		return [][]byte{b}
	}
	minus := ^uint64(0)
	for _, c := range []struct {
		t    *Tensor
		want []byte
	}{
		{&Tensor{Type: Int64, Dims: []int64{2}, Field: int64Data, Packed: packed(1, minus)}, append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, bytes.Repeat([]byte{255}, 8)...)},
		{&Tensor{Type: Int8, Dims: []int64{2}, Field: int32Data, Single: []uint64{5, minus}}, []byte{5, 255}},
		{&Tensor{Type: Float16, Dims: []int64{1}, Field: int32Data, Packed: packed(0x3c00)}, []byte{0, 0x3c}},
		{&Tensor{Type: Uint32, Dims: []int64{1}, Field: uint64Data, Packed: packed(7)}, []byte{7, 0, 0, 0}},
		{&Tensor{Type: Float, Dims: []int64{1}, Field: floatData, Packed: [][]byte{{0, 0, 128, 63}}}, []byte{0, 0, 128, 63}},
		{&Tensor{Type: Int4, Dims: []int64{3}, Field: int32Data, Packed: packed(0x21, 0x03)}, []byte{0x21, 0x03}},
		{&Tensor{Type: Float, Dims: []int64{0, 5}}, []byte{}},
	} {
		got, err := c.t.Bytes(nil)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%v: % x, %v", c.t.Type, got, err)
		}
	}
	for _, bad := range []*Tensor{
		{Type: Float, Dims: []int64{2}, Raw: make([]byte, 4), HasRaw: true},
		{Type: Float, Dims: []int64{1 << 40, 1 << 40}},
		{Type: Float, Dims: []int64{-1}},
		{Type: Int64, Dims: []int64{1}, Field: int64Data, Packed: packed(1, 2, 3)},
		{Type: Float, Dims: []int64{1}, Field: int64Data, Packed: packed(1)},
		{Type: 99, Dims: []int64{1}},
		{Type: Int64, Dims: []int64{1}, Field: int64Data, Packed: [][]byte{{0x80}}},
	} {
		if _, err := bad.Bytes(nil); !errors.Is(err, ErrFormat) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add(full().Append(nil))
	paths, _ := filepath.Glob("../../testdata/onnx/*.onnx")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadModel(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		for _, w := range m.Graph.Initializers {
			w.Bytes(nil)
		}
	})
}
