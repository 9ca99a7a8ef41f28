package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// exported returns the file of a session: what was loaded, with the weights of now in place of those of then.
func (s *Session) exported(o ExportOptions) (*modelFile, error) {
	if o.Opset != 0 || o.Inputs != nil || o.Outputs != nil || o.Dynamic != nil || o.Forward != nil {
		return nil, errors.New("a Session is written as its file has it: Opset, Inputs, Outputs, Dynamic and Forward are of other models")
	}
	proto := *s.model.file
	graph := *proto.Graph
	proto.Graph = &graph
	proto.Metadata = slices.Clone(proto.Metadata)
	for _, key := range slices.Sorted(maps.Keys(o.Metadata)) {
		proto.Metadata = slices.DeleteFunc(proto.Metadata, func(e onnxpb.Entry) bool { return e.Key == key })
		proto.Metadata = append(proto.Metadata, onnxpb.Entry{Key: key, Value: o.Metadata[key]})
	}
	var outside error
	s.model.eachNode(func(n *onnxpb.Node) {
		for _, a := range n.Attributes {
			if a.Tensor != nil && a.Tensor.Outside {
				outside = fmt.Errorf("%w: an attribute of %s is in another file", ErrUnsupported, nodeName(n, 0))
			}
		}
	})
	if outside != nil {
		return nil, outside
	}
	f := &modelFile{proto: &proto}
	graph.Initializers = nil
	for _, t := range s.model.file.Graph.Initializers {
		v := s.Statistics[t.Name]
		if p := s.Weights[t.Name]; p != nil {
			v = p.Value()
		}
		if v != nil {
			if typ, err := typeOf(t.Type); err == nil && v.Type() != typ {
				v = v.To(typ) // a device computes float in double
			}
			f.tensors = append(f.tensors, weight{t.Name, v})
			continue
		}
		if t.Type == onnxpb.String {
			graph.Initializers = append(graph.Initializers, t)
			continue
		}
		kept, err := s.inside(t)
		if err != nil {
			return nil, err
		}
		graph.Initializers = append(graph.Initializers, kept)
	}
	return f, nil
}

// inside returns a tensor of the file with its elements as bytes, wherever the file has them.
func (s *Session) inside(t *onnxpb.Tensor) (*onnxpb.Tensor, error) {
	var outside []byte
	if t.Outside {
		var err error
		if outside, err = readExternal(t, s.model.dir); err != nil {
			return nil, err
		}
	}
	raw, err := t.Bytes(outside)
	if err != nil {
		return nil, err
	}
	return &onnxpb.Tensor{Name: t.Name, Type: t.Type, Dims: t.Dims, Raw: raw, HasRaw: true}, nil
}
