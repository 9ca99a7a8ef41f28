package onnx

import (
	"fmt"

	"github.com/clgrad/clgrad/tensor"
)

// RunTensors is [Session.Run] of tensors alone, as package serve calls it. It returns an error for an
// output that is no tensor.
func (s *Session) RunTensors(inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	values := make([]*Value, len(inputs))
	for i, t := range inputs {
		values[i] = FromTensor(t)
	}
	out, err := s.Run(values...)
	if err != nil {
		return nil, err
	}
	tensors := make([]*tensor.Tensor, len(out))
	for i, v := range out {
		if tensors[i] = v.Tensor(); tensors[i] == nil {
			err = fmt.Errorf("onnx: RunTensors: output %q is %v: Run returns what is no tensor", s.main.proto.Outputs[i].Name, v)
		}
	}
	if err != nil {
		for _, v := range out {
			v.Free()
		}
		return nil, err
	}
	return tensors, nil
}
