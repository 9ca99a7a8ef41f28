package onnx

import (
	"errors"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// Options say how a model is loaded.
type Options struct {
	Training   bool   // weights are parameters: Forward gives nodes with a graph, and nothing is folded
	Eager      bool   // runs are not recorded
	Recordings int    // how many are kept, one for each set of input shapes; 0 is 8
	Seed       uint64 // of operators that draw random numbers
}

// Session is a model on a device. It belongs to one goroutine at a time, as its device does.
type Session struct {
	// Weights are the parameters of a session for training, by the names of the file.
	Weights map[string]*autograd.Node `nn:"*"`

	model     *Model
	dev, host tensor.Device
	options   Options
	main      *graph
	functions map[string]*function
	constants map[*onnxpb.Tensor]*Value
	random    *tensor.RNG
	seeded    map[*node]*tensor.RNG
	replays   replays
}

// hostLimit is how many elements a tensor may have that the host computes: a shape, axes, a scalar.
const hostLimit = 1024

// Load puts the weights of a model on a device. The error lists every operator, version, attribute and type that is
// not there, and is of the kind ErrUnsupported then.
func (m *Model) Load(d tensor.Device, options ...Options) (*Session, error) {
	if len(options) > 1 {
		panic(&tensor.Error{Pkg: "onnx", Op: "Load", Kind: tensor.ErrValue, Detail: "more than one Options"})
	}
	host, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		return nil, err
	}
	s := &Session{model: m, dev: d, host: host, functions: map[string]*function{}, constants: map[*onnxpb.Tensor]*Value{}, seeded: map[*node]*tensor.RNG{}}
	if len(options) == 1 {
		s.options = options[0]
	}
	s.random = tensor.NewRNG(s.options.Seed)
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close frees the weights and the recordings.
func (s *Session) Close() error {
	s.replays.free()
	for _, v := range s.constants {
		v.free()
	}
	if s.main != nil {
		for _, v := range s.main.constants {
			v.free()
		}
	}
	return s.host.Close()
}

func (v *Value) free() {
	if v.node != nil && !v.node.Value().Freed() {
		v.node.Value().Free()
	}
}

func (s *Session) load() error {
	c := &compiler{s: s}
	imports := map[string]int{}
	for _, o := range s.model.file.Opsets {
		imports[domainOf(o.Domain)] = int(min(o.Version, math.MaxInt32))
	}
	for _, f := range s.model.file.Functions {
		s.functions[operatorName(f.Domain, f.Name)+":"+f.Overload] = &function{proto: f}
	}
	s.main = c.graph(s.model.file.Graph, imports)
	for _, f := range s.model.file.Functions {
		c.function(s.functions[operatorName(f.Domain, f.Name)+":"+f.Overload])
	}
	if err := c.missing(); err != nil {
		return err
	}
	if s.options.Training {
		return s.takeParameters()
	}
	return s.fold()
}

// takeParameters makes parameters of the weights that are floats.
func (s *Session) takeParameters() error {
	s.Weights = map[string]*autograd.Node{}
	for name, v := range s.main.constants {
		t := v.Tensor()
		if t == nil || !t.Type().Float() || t.Len() == 0 {
			continue
		}
		r := &runner{s: s}
		value := r.on(v, false).Value()
		s.Weights[name] = autograd.Param(value, name)
		s.main.constants[name] = &Value{node: s.Weights[name], kept: true}
	}
	return nil
}

// constant returns a tensor of the file: on the host if it is small, and else on the device.
func (s *Session) constant(t *onnxpb.Tensor) (*Value, error) {
	if v, ok := s.constants[t]; ok {
		return v, nil
	}
	v, err := s.newValue(t)
	if err != nil {
		return nil, err
	}
	v.kept = true
	s.constants[t] = v
	return v, nil
}

func (s *Session) newValue(t *onnxpb.Tensor) (*Value, error) {
	n, err := t.Len()
	if err != nil {
		return nil, err
	}
	if t.Type == onnxpb.String {
		return stringsOf(t)
	}
	if n <= hostLimit {
		x, err := newTensor(s.host, t, s.model.dir)
		if err != nil {
			return nil, err
		}
		return &Value{host: autograd.Const(x.Retain())}, nil
	}
	x, err := newTensor(s.dev, t, s.model.dir)
	if err != nil {
		return nil, err
	}
	return &Value{node: autograd.Const(x.Retain())}, nil
}

// rng returns the random numbers of a node: its own if it has a seed, and else the session's.
func (s *Session) rng(n *node) *tensor.RNG {
	a := n.attributes["seed"]
	if a == nil {
		return s.random
	}
	if s.seeded[n] == nil {
		s.seeded[n] = tensor.NewRNG(uint64(math.Float32bits(a.Float)) ^ uint64(a.Int))
	}
	return s.seeded[n]
}

// inputs returns the names of what a run is given, in the file's order.
func (s *Session) inputs() []*onnxpb.ValueInfo {
	return slices.DeleteFunc(slices.Clone(s.main.proto.Inputs), func(v *onnxpb.ValueInfo) bool { return s.main.initial[v.Name] })
}
