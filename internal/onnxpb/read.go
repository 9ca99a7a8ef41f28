package onnxpb

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrFormat is the kind of error of bytes that are no ONNX.
var ErrFormat = errors.New("not an ONNX file")

// maxDepth is how deep graphs, functions and types may be nested.
const maxDepth = 100

// reader reads messages; path is where it is, for errors, outermost first.
type reader struct {
	path  []string
	depth int
}

// field is one field of a message: its number, and its value.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	num64 uint64 // of varint, fixed32 and fixed64
	bytes []byte // of bytes
}

func (r *reader) fail(format string, args ...any) error {
	where := ""
	for _, p := range r.path {
		where += p + ": "
	}
	return fmt.Errorf("%w: %s%s", ErrFormat, where, fmt.Sprintf(format, args...))
}

// message calls f with each field of b.
func (r *reader) message(name string, b []byte, f func(v field) error) error {
	r.path = append(r.path, name)
	r.depth++
	defer func() { r.path = r.path[:len(r.path)-1]; r.depth-- }()
	if r.depth > 3*maxDepth {
		return fmt.Errorf("%w: graphs, types or attributes are nested more than %d deep", ErrFormat, maxDepth)
	}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return r.fail("%v", wireError(n))
		}
		b = b[n:]
		v := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			v.num64, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			v.num64 = uint64(x)
		case protowire.Fixed64Type:
			v.num64, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return r.fail("field %d: %v", num, wireError(n))
		}
		b = b[n:]
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// wireError is what a negative length of protowire means.
func wireError(n int) error {
	err := protowire.ParseError(n)
	if err.Error() == "unexpected EOF" {
		return errors.New("the file ends in the middle of a field: it is truncated")
	}
	return err
}

// want reports an error if a field has not the type that its number has in the specification.
func (r *reader) want(v field, typ protowire.Type) error {
	if v.typ != typ {
		return r.fail("field %d has wire type %d, the specification has %d", v.num, v.typ, typ)
	}
	return nil
}

func (r *reader) int(v field, to *int64) error {
	*to = int64(v.num64)
	return r.want(v, protowire.VarintType)
}

func (r *reader) string(v field, to *string) error {
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	if !utf8.Valid(v.bytes) {
		return r.fail("field %d is no UTF-8", v.num)
	}
	*to = string(v.bytes)
	return nil
}

func (r *reader) strings(v field, to *[]string) error {
	var s string
	err := r.string(v, &s)
	*to = append(*to, s)
	return err
}

// ints appends numbers that are packed or single.
func (r *reader) ints(v field, to *[]int64) error {
	if v.typ == protowire.VarintType {
		*to = append(*to, int64(v.num64))
		return nil
	}
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	for b := v.bytes; len(b) > 0; {
		x, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return r.fail("field %d: %v", v.num, wireError(n))
		}
		*to, b = append(*to, int64(x)), b[n:]
	}
	return nil
}

func (r *reader) floats(v field, to *[]float32) error {
	if v.typ == protowire.Fixed32Type {
		*to = append(*to, math.Float32frombits(uint32(v.num64)))
		return nil
	}
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	for b := v.bytes; len(b) > 0; {
		x, n := protowire.ConsumeFixed32(b)
		if n < 0 {
			return r.fail("field %d: %v", v.num, wireError(n))
		}
		*to, b = append(*to, math.Float32frombits(x)), b[n:]
	}
	return nil
}

// one reads a message that a field holds, and many appends it.
func one[T any](r *reader, v field, to **T, read func(r *reader, b []byte) (*T, error)) error {
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	m, err := read(r, v.bytes)
	*to = m
	return err
}

func many[T any](r *reader, v field, to *[]*T, read func(r *reader, b []byte) (*T, error)) error {
	var m *T
	err := one(r, v, &m, read)
	*to = append(*to, m)
	return err
}

// ReadModel reads a ModelProto.
func ReadModel(b []byte) (*Model, error) {
	m, r := &Model{}, &reader{}
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrFormat)
	}
	err := r.message("model", b, func(v field) error {
		switch v.num {
		case 1:
			return r.int(v, &m.IRVersion)
		case 2:
			return r.string(v, &m.ProducerName)
		case 3:
			return r.string(v, &m.ProducerVersion)
		case 4:
			return r.string(v, &m.Domain)
		case 5:
			return r.int(v, &m.Version)
		case 6:
			return r.string(v, &m.Doc)
		case 7:
			return one(r, v, &m.Graph, readGraph)
		case 8:
			return r.opset(v, &m.Opsets)
		case 14:
			return r.entry(v, &m.Metadata)
		case 25:
			return many(r, v, &m.Functions, readFunction)
		}
		return nil
	})
	if err == nil && m.Graph == nil {
		err = fmt.Errorf("%w: it has no graph", ErrFormat)
	}
	if err == nil {
		return m, nil
	}
	if kind := foreign(b); kind != "" {
		err = fmt.Errorf("%w: it is %s", ErrFormat, kind)
	}
	return nil, err
}

func (r *reader) opset(v field, to *[]Opset) error {
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	var o Opset
	err := r.message("opset", v.bytes, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &o.Domain)
		case 2:
			return r.int(v, &o.Version)
		}
		return nil
	})
	*to = append(*to, o)
	return err
}

func (r *reader) entry(v field, to *[]Entry) error {
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	var e Entry
	err := r.message("entry", v.bytes, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &e.Key)
		case 2:
			return r.string(v, &e.Value)
		}
		return nil
	})
	*to = append(*to, e)
	return err
}

func readGraph(r *reader, b []byte) (*Graph, error) {
	g := &Graph{}
	return g, r.message("graph", b, func(v field) error {
		switch v.num {
		case 1:
			return many(r, v, &g.Nodes, readNode)
		case 2:
			return r.string(v, &g.Name)
		case 5:
			return many(r, v, &g.Initializers, readTensor)
		case 10:
			return r.string(v, &g.Doc)
		case 11:
			return many(r, v, &g.Inputs, readValueInfo)
		case 12:
			return many(r, v, &g.Outputs, readValueInfo)
		case 13:
			return many(r, v, &g.Values, readValueInfo)
		case 15:
			return many(r, v, &g.Sparse, readSparse)
		}
		return nil
	})
}

func readNode(r *reader, b []byte) (*Node, error) {
	n := &Node{}
	return n, r.message("node", b, func(v field) error {
		switch v.num {
		case 1:
			return r.strings(v, &n.Inputs)
		case 2:
			return r.strings(v, &n.Outputs)
		case 3:
			return r.string(v, &n.Name)
		case 4:
			return r.string(v, &n.Op)
		case 5:
			return many(r, v, &n.Attributes, readAttribute)
		case 6:
			return r.string(v, &n.Doc)
		case 7:
			return r.string(v, &n.Domain)
		case 8:
			return r.string(v, &n.Overload)
		}
		return nil
	})
}

func readFunction(r *reader, b []byte) (*Function, error) {
	f := &Function{}
	return f, r.message("function", b, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &f.Name)
		case 4:
			return r.strings(v, &f.Inputs)
		case 5:
			return r.strings(v, &f.Outputs)
		case 6:
			return r.strings(v, &f.Attributes)
		case 7:
			return many(r, v, &f.Nodes, readNode)
		case 8:
			return r.string(v, &f.Doc)
		case 9:
			return r.opset(v, &f.Opsets)
		case 10:
			return r.string(v, &f.Domain)
		case 11:
			return many(r, v, &f.Defaults, readAttribute)
		case 13:
			return r.string(v, &f.Overload)
		}
		return nil
	})
}

func readAttribute(r *reader, b []byte) (*Attribute, error) {
	a := &Attribute{}
	return a, r.message("attribute", b, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &a.Name)
		case 2:
			a.Float = math.Float32frombits(uint32(v.num64))
			return r.want(v, protowire.Fixed32Type)
		case 3:
			return r.int(v, &a.Int)
		case 4:
			a.String = string(v.bytes) // of any bytes
			return r.want(v, protowire.BytesType)
		case 5:
			return one(r, v, &a.Tensor, readTensor)
		case 6:
			return one(r, v, &a.Graph, readGraph)
		case 7:
			return r.floats(v, &a.Floats)
		case 8:
			return r.ints(v, &a.Ints)
		case 9:
			a.Strings = append(a.Strings, string(v.bytes))
			return r.want(v, protowire.BytesType)
		case 10:
			return many(r, v, &a.Tensors, readTensor)
		case 11:
			return many(r, v, &a.Graphs, readGraph)
		case 14:
			return one(r, v, &a.Proto, readType)
		case 20:
			a.Type = AttributeType(v.num64)
			return r.want(v, protowire.VarintType)
		case 21:
			return r.string(v, &a.Ref)
		case 22:
			return one(r, v, &a.Sparse, readSparse)
		}
		return nil
	})
}

func readValueInfo(r *reader, b []byte) (*ValueInfo, error) {
	i := &ValueInfo{}
	return i, r.message("value", b, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &i.Name)
		case 2:
			return one(r, v, &i.Type, readType)
		case 3:
			return r.string(v, &i.Doc)
		}
		return nil
	})
}

func readType(r *reader, b []byte) (*Type, error) {
	t := &Type{}
	return t, r.message("type", b, func(v field) error {
		kind, known := map[protowire.Number]Kind{1: KindTensor, 4: KindSequence, 5: KindMap, 8: KindSparse, 9: KindOptional}[v.num]
		if !known {
			return nil
		}
		if err := r.want(v, protowire.BytesType); err != nil {
			return err
		}
		t.Kind = kind
		return r.message("type", v.bytes, func(v field) error {
			switch {
			case v.num == 1 && (kind == KindTensor || kind == KindSparse):
				t.Elem = DataType(v.num64)
				return r.want(v, protowire.VarintType)
			case v.num == 1 && (kind == KindSequence || kind == KindOptional):
				return one(r, v, &t.Of, readType)
			case v.num == 2 && (kind == KindTensor || kind == KindSparse):
				t.HasShape = true
				return r.shape(v, &t.Dims)
			}
			return nil
		})
	})
}

func (r *reader) shape(v field, to *[]Dim) error {
	if err := r.want(v, protowire.BytesType); err != nil {
		return err
	}
	return r.message("shape", v.bytes, func(v field) error {
		if v.num != 1 {
			return nil
		}
		if err := r.want(v, protowire.BytesType); err != nil {
			return err
		}
		d := Dim{Value: -1}
		err := r.message("dimension", v.bytes, func(v field) error {
			switch v.num {
			case 1:
				return r.int(v, &d.Value)
			case 2:
				return r.string(v, &d.Param)
			}
			return nil
		})
		*to = append(*to, d)
		return err
	})
}

// Fields of TensorProto that hold elements.
const (
	floatData  = 4
	int32Data  = 5
	int64Data  = 7
	doubleData = 10
	uint64Data = 11
)

func readTensor(r *reader, b []byte) (*Tensor, error) {
	t := &Tensor{}
	return t, r.message("tensor", b, func(v field) error {
		switch v.num {
		case 1:
			return r.ints(v, &t.Dims)
		case 2:
			t.Type = DataType(v.num64)
			return r.want(v, protowire.VarintType)
		case floatData, int32Data, int64Data, doubleData, uint64Data:
			if t.Field != 0 && t.Field != int(v.num) {
				return r.fail("%q has elements in two fields, %d and %d", t.Name, t.Field, v.num)
			}
			t.Field = int(v.num)
			if v.typ == protowire.BytesType {
				t.Packed = append(t.Packed, v.bytes)
			} else {
				t.Single = append(t.Single, v.num64)
			}
			return nil
		case 6:
			t.Strings = append(t.Strings, v.bytes)
			return r.want(v, protowire.BytesType)
		case 8:
			return r.string(v, &t.Name)
		case 9:
			t.Raw, t.HasRaw = v.bytes, true
			return r.want(v, protowire.BytesType)
		case 13:
			return r.entry(v, &t.External)
		case 14:
			t.Outside = v.num64 == 1
			return r.want(v, protowire.VarintType)
		}
		return nil
	})
}

func readSparse(r *reader, b []byte) (*SparseTensor, error) {
	s := &SparseTensor{}
	return s, r.message("sparse tensor", b, func(v field) error {
		switch v.num {
		case 1:
			return one(r, v, &s.Values, readTensor)
		case 2:
			return one(r, v, &s.Indices, readTensor)
		case 3:
			return r.ints(v, &s.Dims)
		}
		return nil
	})
}

// ReadTensor, ReadSequence and ReadOptional read the messages of files of single values.
func ReadTensor(b []byte) (*Tensor, error) { return readTensor(&reader{}, b) }

// ReadSequence reads a SequenceProto.
func ReadSequence(b []byte) (*Sequence, error) { return readSequence(&reader{}, b) }

// ReadOptional reads an OptionalProto.
func ReadOptional(b []byte) (*Optional, error) { return readOptional(&reader{}, b) }

func readSequence(r *reader, b []byte) (*Sequence, error) {
	s := &Sequence{}
	return s, r.message("sequence", b, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &s.Name)
		case 2:
			s.Elem = int32(v.num64)
			return r.want(v, protowire.VarintType)
		case 3:
			return many(r, v, &s.Tensors, readTensor)
		case 5:
			return many(r, v, &s.Sequences, readSequence)
		case 7:
			return many(r, v, &s.Optionals, readOptional)
		}
		return nil
	})
}

func readOptional(r *reader, b []byte) (*Optional, error) {
	o := &Optional{}
	return o, r.message("optional", b, func(v field) error {
		switch v.num {
		case 1:
			return r.string(v, &o.Name)
		case 2:
			o.Elem = int32(v.num64)
			return r.want(v, protowire.VarintType)
		case 3:
			return one(r, v, &o.Tensor, readTensor)
		case 5:
			return one(r, v, &o.Sequence, readSequence)
		case 7:
			return one(r, v, &o.Optional, readOptional)
		}
		return nil
	})
}
