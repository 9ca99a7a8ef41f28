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
	var err error
	f := &modelFile{proto: &proto}
	proto.Graph, f.tensors, err = s.written(s.file)
	return f, err
}

// written returns a graph as the file has it, but for the initializers that may be trained, which it returns with the
// numbers of now. Those of the graphs within it are in them.
func (s *Session) written(g *graph) (*onnxpb.Graph, []weight, error) {
	proto := *g.proto
	proto.Initializers, proto.Sparse, proto.Nodes = nil, nil, slices.Clone(g.proto.Nodes)
	var trained []weight
	take := func(name string, data onnxpb.DataType) bool {
		v := g.constants[name].Tensor()
		if !s.options.Training || v == nil || !v.Type().Float() || v.Len() == 0 {
			return false
		}
		if typ, err := typeOf(data); err == nil && v.Type() != typ {
			v = v.To(typ) // a device computes float in double
		}
		trained = append(trained, weight{name, v})
		return true
	}
	for _, t := range g.proto.Initializers {
		if take(t.Name, t.Type) {
			continue
		}
		if t.Type != onnxpb.String {
			var err error
			if t, err = s.inside(t); err != nil {
				return nil, nil, err
			}
		}
		proto.Initializers = append(proto.Initializers, t)
	}
	for _, t := range g.proto.Sparse {
		if !take(t.Values.Name, t.Values.Type) {
			proto.Sparse = append(proto.Sparse, t)
		}
	}
	for i, n := range proto.Nodes {
		var err error
		if proto.Nodes[i], err = s.writtenNode(n); err != nil {
			return nil, nil, err
		}
	}
	return &proto, trained, nil
}

// writtenNode returns a node whose graphs have the weights of now.
func (s *Session) writtenNode(n *onnxpb.Node) (*onnxpb.Node, error) {
	node := *n
	node.Attributes = slices.Clone(n.Attributes)
	for k, a := range n.Attributes {
		inner := s.graphs[a.Graph]
		if inner == nil {
			continue
		}
		g, trained, err := s.written(inner)
		if err != nil {
			return nil, err
		}
		for _, w := range trained {
			t := w.header()
			if t.Raw, err = rawOf(w.t); err != nil {
				return nil, fmt.Errorf("onnx: Export: %q: %w", w.name, err)
			}
			t.HasRaw = true
			g.Initializers = append(g.Initializers, t)
		}
		attribute := *a
		attribute.Graph, node.Attributes[k] = g, &attribute
	}
	return &node, nil
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
