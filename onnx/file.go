package onnx

import (
	"fmt"
	"os"
	"strings"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// ReadValue reads a file that holds one value in the format of ONNX's tests: a TensorProto, or by the type, as
// [Info] has it, a SequenceProto or an OptionalProto.
func ReadValue(d tensor.Device, path, typ string) (*Value, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(typ, "seq("):
		p, err := onnxpb.ReadSequence(b)
		if err != nil {
			return nil, err
		}
		return sequenceOf(d, p)
	case strings.HasPrefix(typ, "optional("):
		p, err := onnxpb.ReadOptional(b)
		if err != nil {
			return nil, err
		}
		return optionalOf(d, p)
	}
	p, err := onnxpb.ReadTensor(b)
	if err != nil {
		return nil, err
	}
	return valueOf(d, p)
}

func valueOf(d tensor.Device, p *onnxpb.Tensor) (*Value, error) {
	if p.Type == onnxpb.String {
		return stringsOf(p)
	}
	t, err := newTensor(d, p, "")
	if err != nil {
		return nil, err
	}
	return FromTensor(t), nil
}

func stringsOf(p *onnxpb.Tensor) (*Value, error) {
	n, err := p.Len()
	if err != nil {
		return nil, err
	}
	if len(p.Strings) != n {
		return nil, fmt.Errorf("%w: tensor %q has %d strings, and its shape says %d", ErrFormat, p.Name, len(p.Strings), n)
	}
	v := &Value{kind: stringsValue, strings: make([]string, n), shape: make([]int, len(p.Dims))}
	for i, b := range p.Strings {
		v.strings[i] = string(b)
	}
	for i, d := range p.Dims {
		v.shape[i] = int(d)
	}
	return v, nil
}

func sequenceOf(d tensor.Device, p *onnxpb.Sequence) (*Value, error) {
	s := FromSequence()
	for _, t := range p.Tensors {
		v, err := valueOf(d, t)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, v)
	}
	for _, e := range p.Sequences {
		v, err := sequenceOf(d, e)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, v)
	}
	for _, e := range p.Optionals {
		v, err := optionalOf(d, e)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, v)
	}
	return s, nil
}

func optionalOf(d tensor.Device, p *onnxpb.Optional) (*Value, error) {
	var v *Value
	var err error
	switch {
	case p.Tensor != nil:
		v, err = valueOf(d, p.Tensor)
	case p.Sequence != nil:
		v, err = sequenceOf(d, p.Sequence)
	case p.Optional != nil:
		v, err = optionalOf(d, p.Optional)
	}
	if err != nil {
		return nil, err
	}
	return FromOptional(v), nil
}
