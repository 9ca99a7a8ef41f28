package onnx

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Run computes the outputs of the model for inputs, both in the order of the file. What it returns is the caller's.
func (s *Session) Run(inputs ...*Value) ([]*Value, error) {
	infos := s.inputs()
	if len(inputs) > len(infos) {
		return nil, fmt.Errorf("onnx: Run: %d inputs, and the model has %d", len(inputs), len(infos))
	}
	given := make(map[string]*Value, len(inputs))
	for i, v := range inputs {
		given[infos[i].Name] = v
	}
	names := make([]string, len(s.main.proto.Outputs))
	for i, o := range s.main.proto.Outputs {
		names[i] = o.Name
	}
	return s.run(given, names)
}

// RunNamed is Run with inputs and outputs by name. Outputs that are not named are those of the model; any value
// of its outer graph may be named.
func (s *Session) RunNamed(inputs map[string]*Value, outputs ...string) (map[string]*Value, error) {
	if len(outputs) == 0 {
		for _, o := range s.main.proto.Outputs {
			outputs = append(outputs, o.Name)
		}
	}
	values, err := s.run(inputs, outputs)
	if err != nil {
		return nil, err
	}
	named := make(map[string]*Value, len(values))
	for i, v := range values {
		named[outputs[i]] = v
	}
	return named, nil
}

// Forward computes the outputs of a session for training as nodes of a graph, in the order of the file. It panics with
// a *tensor.Error where Run returns an error.
func (s *Session) Forward(inputs ...*autograd.Node) []*autograd.Node {
	values := map[string]*Value{}
	for i, v := range s.inputs() {
		if i < len(inputs) {
			values[v.Name] = fromNode(inputs[i])
		}
	}
	names := make([]string, len(s.main.proto.Outputs))
	for i, o := range s.main.proto.Outputs {
		names[i] = o.Name
	}
	out, err := s.eager(&runner{s: s}, values, names)
	if err != nil {
		panic(&tensor.Error{Pkg: "onnx", Op: "Forward", Kind: err})
	}
	nodes := make([]*autograd.Node, len(out))
	for i, v := range out {
		nodes[i] = v.node
	}
	return nodes
}

// eager runs the nodes of the outer graph, and returns values by name, tensors of them on the device.
func (s *Session) eager(r *runner, inputs map[string]*Value, names []string) ([]*Value, error) {
	sc := &scope{values: make(map[string]*Value, len(s.main.nodes))}
	for name, v := range s.main.constants {
		sc.values[name] = v
	}
	for name, v := range inputs {
		if v != nil {
			sc.values[name] = v
		}
	}
	out := make([]*Value, len(names))
	err := try(func() error {
		if err := r.nodes(s.main.nodes, sc); err != nil {
			return err
		}
		for i, name := range names {
			if out[i] = sc.value(name); out[i] == nil {
				return fmt.Errorf("onnx: Run: no value of the model is named %q", name)
			}
			out[i].each(func(v *Value) { r.on(v, false) })
		}
		return nil
	})
	return out, err
}

// each calls f with every tensor within a value.
func (v *Value) each(f func(v *Value)) {
	if v.any() != nil {
		f(v)
	}
	for _, e := range v.list {
		e.each(f)
	}
}

// owned returns v as the caller's: tensors outlive the scope of the run, and are none that the session keeps or that
// were given.
func (v *Value) owned(given map[*autograd.Node]bool) *Value {
	w := &Value{kind: v.kind, shape: v.shape, strings: v.strings}
	if n := v.node; n != nil {
		if v.kept || given[n] {
			n = n.Copy()
		}
		w.node = n.Retain()
	}
	for _, e := range v.list {
		w.list = append(w.list, e.owned(given))
	}
	return w
}

// run computes values by name.
func (s *Session) run(inputs map[string]*Value, names []string) (out []*Value, err error) {
	for _, info := range s.inputs() {
		if inputs[info.Name] == nil && (info.Type == nil || info.Type.Kind != 4) {
			return nil, fmt.Errorf("onnx: Run: input %v is missing", infoOf(info))
		}
	}
	tensor.Scope(s.dev, func() {
		tensor.Scope(s.host, func() {
			autograd.NoGrad(s.dev, func() {
				autograd.NoGrad(s.host, func() {
					if out, err = s.eager(&runner{s: s}, inputs, names); err == nil {
						given := map[*autograd.Node]bool{}
						for _, v := range inputs {
							v.each(func(v *Value) { given[v.node] = true })
						}
						for i, v := range out {
							out[i] = v.owned(given)
						}
					}
				})
			})
		})
	})
	return out, err
}

// replays are the recordings of a session.
type replays struct{}

func (r *replays) free() {}
