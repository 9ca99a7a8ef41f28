package onnxpb

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message appends a field that is a message, which f writes.
func message(b []byte, num protowire.Number, f func(b []byte) []byte) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendBytes(b, f(nil))
}

// text appends a string, which is left out if it is empty.
func text(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return element(b, num, s)
}

// element appends a string of a list, empty or not.
func element(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

func elements(b []byte, num protowire.Number, list []string) []byte {
	for _, s := range list {
		b = element(b, num, s)
	}
	return b
}

func number(b []byte, num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

func numbers(b []byte, num protowire.Number, list []int64) []byte {
	if len(list) == 0 {
		return b
	}
	return message(b, num, func(b []byte) []byte {
		for _, v := range list {
			b = protowire.AppendVarint(b, uint64(v))
		}
		return b
	})
}

func single(b []byte, num protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), math.Float32bits(v))
}

// Append appends the bytes of the model.
func (m *Model) Append(b []byte) []byte {
	b = number(b, 1, m.IRVersion)
	b = text(b, 2, m.ProducerName)
	b = text(b, 3, m.ProducerVersion)
	b = text(b, 4, m.Domain)
	if m.Version != 0 {
		b = number(b, 5, m.Version)
	}
	b = text(b, 6, m.Doc)
	if m.Graph != nil {
		b = message(b, 7, m.Graph.Append)
	}
	b = opsets(b, 8, m.Opsets)
	b = entries(b, 14, m.Metadata)
	for _, f := range m.Functions {
		b = message(b, 25, f.append)
	}
	return b
}

func opsets(b []byte, num protowire.Number, list []Opset) []byte {
	for _, o := range list {
		b = message(b, num, func(b []byte) []byte { return number(text(b, 1, o.Domain), 2, o.Version) })
	}
	return b
}

func entries(b []byte, num protowire.Number, list []Entry) []byte {
	for _, e := range list {
		b = message(b, num, func(b []byte) []byte { return text(text(b, 1, e.Key), 2, e.Value) })
	}
	return b
}

// Append appends the bytes of the graph.
func (g *Graph) Append(b []byte) []byte {
	for _, n := range g.Nodes {
		b = message(b, 1, n.append)
	}
	b = text(b, 2, g.Name)
	for _, t := range g.Initializers {
		b = message(b, 5, t.Append)
	}
	b = text(b, 10, g.Doc)
	for _, v := range g.Inputs {
		b = message(b, 11, v.append)
	}
	for _, v := range g.Outputs {
		b = message(b, 12, v.append)
	}
	for _, v := range g.Values {
		b = message(b, 13, v.append)
	}
	for _, s := range g.Sparse {
		b = message(b, 15, s.append)
	}
	return b
}

func (n *Node) append(b []byte) []byte {
	b = elements(b, 1, n.Inputs)
	b = elements(b, 2, n.Outputs)
	b = text(b, 3, n.Name)
	b = text(b, 4, n.Op)
	for _, a := range n.Attributes {
		b = message(b, 5, a.append)
	}
	b = text(b, 6, n.Doc)
	b = text(b, 7, n.Domain)
	return text(b, 8, n.Overload)
}

func (f *Function) append(b []byte) []byte {
	b = text(b, 1, f.Name)
	b = elements(b, 4, f.Inputs)
	b = elements(b, 5, f.Outputs)
	b = elements(b, 6, f.Attributes)
	for _, n := range f.Nodes {
		b = message(b, 7, n.append)
	}
	b = text(b, 8, f.Doc)
	b = opsets(b, 9, f.Opsets)
	b = text(b, 10, f.Domain)
	for _, a := range f.Defaults {
		b = message(b, 11, a.append)
	}
	return text(b, 13, f.Overload)
}

func (a *Attribute) append(b []byte) []byte {
	b = text(b, 1, a.Name)
	switch a.Type {
	case AttrFloat:
		b = single(b, 2, a.Float)
	case AttrInt:
		b = number(b, 3, a.Int)
	case AttrString:
		b = element(b, 4, a.String)
	case AttrTensor:
		b = message(b, 5, a.Tensor.Append)
	case AttrGraph:
		b = message(b, 6, a.Graph.Append)
	case AttrFloats:
		for _, v := range a.Floats {
			b = single(b, 7, v)
		}
	case AttrInts:
		for _, v := range a.Ints {
			b = number(b, 8, v)
		}
	case AttrStrings:
		b = elements(b, 9, a.Strings)
	case AttrTensors:
		for _, t := range a.Tensors {
			b = message(b, 10, t.Append)
		}
	case AttrGraphs:
		for _, g := range a.Graphs {
			b = message(b, 11, g.Append)
		}
	case AttrType:
		b = message(b, 14, a.Proto.append)
	case AttrSparseTensor:
		b = message(b, 22, a.Sparse.append)
	}
	b = number(b, 20, int64(a.Type))
	return text(b, 21, a.Ref)
}

func (v *ValueInfo) append(b []byte) []byte {
	b = text(b, 1, v.Name)
	if v.Type != nil {
		b = message(b, 2, v.Type.append)
	}
	return text(b, 3, v.Doc)
}

func (t *Type) append(b []byte) []byte {
	num, tensor := protowire.Number(0), false
	switch t.Kind {
	case KindTensor:
		num, tensor = 1, true
	case KindSparse:
		num, tensor = 8, true
	case KindSequence:
		num = 4
	case KindOptional:
		num = 9
	default:
		return b
	}
	return message(b, num, func(b []byte) []byte {
		if !tensor {
			return message(b, 1, t.Of.append)
		}
		b = number(b, 1, int64(t.Elem))
		if !t.HasShape {
			return b
		}
		return message(b, 2, func(b []byte) []byte {
			for _, d := range t.Dims {
				b = message(b, 1, func(b []byte) []byte {
					if d.Param != "" {
						return text(b, 2, d.Param)
					}
					if d.Value < 0 {
						return b
					}
					return number(b, 1, d.Value)
				})
			}
			return b
		})
	})
}

// Append appends the bytes of the tensor. Elements of a typed field become those of raw_data; a field that does not have
// as many as the shape says is left out.
func (t *Tensor) Append(b []byte) []byte {
	if !t.HasRaw && !t.Outside && t.Field != 0 {
		if raw, err := t.Bytes(nil); err == nil {
			of := *t
			of.Raw, of.HasRaw = raw, true
			t = &of
		}
	}
	b = numbers(b, 1, t.Dims)
	b = number(b, 2, int64(t.Type))
	for _, s := range t.Strings {
		b = protowire.AppendBytes(protowire.AppendTag(b, 6, protowire.BytesType), s)
	}
	b = text(b, 8, t.Name)
	if t.HasRaw {
		b = protowire.AppendBytes(protowire.AppendTag(b, 9, protowire.BytesType), t.Raw)
	}
	b = entries(b, 13, t.External)
	if t.Outside {
		b = number(b, 14, 1)
	}
	return b
}

func (s *SparseTensor) append(b []byte) []byte {
	b = message(b, 1, s.Values.Append)
	b = message(b, 2, s.Indices.Append)
	return numbers(b, 3, s.Dims)
}
