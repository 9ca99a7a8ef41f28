package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Options say how a model is loaded.
type Options struct {
	Training   bool   // weights are parameters: Forward gives nodes with a graph, and nothing is folded
	Eager      bool   // runs are not recorded
	Recordings int    // how many are kept, one for each set of input shapes; 0 is 8
	Seed       uint64 // of operators that draw random numbers

	// Skip names rewrites that are not done: see Passes.
	Skip []string
}

// Session is a model on a device. It belongs to one goroutine at a time, as its device does.
type Session struct {
	Weights    `nn:"#"` // of a session for training
	Statistics `nn:"#"` // of a session for training

	model     *Model
	dev, host tensor.Device
	options   Options
	training  bool                                      // whether Dropout drops, and BatchNormalization normalises by the batch
	file      *graph                                    `nn:"-"` // as the file has it
	main      *graph                                    `nn:"-"` // after the passes
	functions map[string]*function                      `nn:"-"`
	graphs    map[*onnxpb.Graph]*graph                  `nn:"-"` // those of attributes
	works     map[*onnxpb.Node]work                     `nn:"-"` // of the outer graph
	constants map[*onnxpb.Tensor]*Value                 `nn:"-"`
	packed    map[packedWeights]*tensor.QuantizedTensor `nn:"-"`
	derives   bool                                      // it has the operator Gradient: runs record a graph
	trace     func(NodeTrace)                           // what SetTrace was given
	context   context.Context                           // of the run
	random    *tensor.RNG
	seeded    map[*node]*tensor.RNG
	replays   replays `nn:"-"`
	others    *int    // sessions of the same weights, nil after Close
}

// Weights are parameters by the names that the file has for them: nn.Params and nn.StateDict find them in a Session.
type Weights map[string]*autograd.Node

// Statistics are the running means and variances of BatchNormalization, by the names that the file has for them: the
// buffers of nn.StateDict. Runs in training write them; no optimizer does.
type Statistics map[string]*tensor.Tensor

// has reports whether n is one of them.
func (s Statistics) has(n *autograd.Node) bool {
	for _, t := range s {
		if t == n.Value() {
			return true
		}
	}
	return false
}

// SetTraining says whether operators do what they do in training, such as Dropout: nn.Train and nn.Eval call it. A
// session that was loaded for training is in training.
func (s *Session) SetTraining(on bool) { s.training = on }

// hostLimit is how many elements a tensor may have that the host computes: a shape, axes, a scalar.
const hostLimit = 1024

// Load puts the weights of a model on a device. On one whose default type is Float64 what the model has in float is
// computed in double. The error lists every operator, version, attribute and type that is
// not there, and is of the kind ErrUnsupported then.
func (m *Model) Load(d tensor.Device, options ...Options) (*Session, error) {
	if len(options) > 1 {
		panic(&tensor.Error{Pkg: "onnx", Op: "Load", Kind: tensor.ErrValue, Detail: "more than one Options"})
	}
	host, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		return nil, err
	}
	tensorapi.Impl.Unrecorded(host) // its numbers follow from the file and from what a recording is found by
	s := &Session{
		model: m, dev: d, host: host, functions: map[string]*function{}, graphs: map[*onnxpb.Graph]*graph{},
		constants: map[*onnxpb.Tensor]*Value{}, seeded: map[*node]*tensor.RNG{},
		packed: map[packedWeights]*tensor.QuantizedTensor{},
	}
	if len(options) == 1 {
		s.options = options[0]
	}
	s.random, s.training, s.others = tensor.NewRNG(s.options.Seed), s.options.Training, new(int)
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close frees the recordings, and the weights with the last session that has them.
func (s *Session) Close() error {
	if s.sharesWeights() {
		return nil
	}
	s.replays.made.Free()
	for _, w := range s.packed {
		if w != nil {
			w.Free()
		}
	}
	for _, v := range s.constants {
		v.Free()
	}
	if s.main != nil {
		for _, v := range s.main.constants {
			v.Free()
		}
	}
	return s.host.Close()
}

func (s *Session) load() error {
	if missing := s.model.Missing(); len(missing) > 0 {
		return fmt.Errorf("onnx: the model cannot be loaded: %w:\n  %s", ErrUnsupported, strings.Join(missing, "\n  "))
	}
	var err error
	if s.works, err = s.model.foreseen(); err != nil {
		return err
	}
	s.derives = s.model.Operators()[operatorName(training, "Gradient")] > 0
	for _, f := range s.model.file.Functions {
		s.functions[operatorName(f.Domain, f.Name)+":"+f.Overload] = &function{proto: f}
	}
	if s.file, err = s.graph(s.model.file.Graph, versions(s.model.file.Opsets)); err != nil {
		return err
	}
	s.main = s.file
	for _, f := range s.functions {
		if err = s.compile(f); err != nil {
			return err
		}
	}
	if s.options.Training {
		s.takeParameters()
		return nil
	}
	if s.derives {
		return nil // the graph is differentiated as the file has it
	}
	s.main, err = s.optimize(s.file)
	return err
}

// takeParameters makes parameters of the weights that are floats: those of the outer graph by their names, and those of
// the graphs within it, too: see weightNames.
func (s *Session) takeParameters() {
	s.Weights, s.Statistics = Weights{}, Statistics{}
	names := s.model.weightNames()
	eachGraph(s.main.proto, "", func(p *onnxpb.Graph, _ string) {
		g := s.graphs[p]
		if p == s.main.proto {
			g = s.main
		}
		if g == nil {
			return
		}
		for name, v := range g.constants {
			t, own := v.Tensor(), names[p][name]
			if t == nil || !t.Type().Float() || t.Len() == 0 {
				continue
			}
			r := &runner{s: s}
			n := autograd.Const(r.on(v, false).Value())
			if g.isStatistic(name) {
				s.Statistics[own] = n.Value()
			} else {
				n = autograd.Param(n.Value(), own)
				s.Weights[own] = n
			}
			g.constants[name] = &Value{node: n, kept: true}
		}
	})
}

// isStatistic reports whether a value is read as a mean or variance of BatchNormalization, and as nothing else.
func (g *graph) isStatistic(name string) bool {
	found := false
	for _, n := range g.nodes {
		for i, in := range n.proto.Inputs {
			if in != name {
				continue
			}
			if n.proto.Op != "BatchNormalization" || i < 3 {
				return false
			}
			found = true
		}
	}
	return found
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
		return &Value{host: s.widened(autograd.Const(x)).Retain()}, nil
	}
	x, err := newTensor(s.dev, t, s.model.dir)
	if err != nil {
		return nil, err
	}
	runtime.KeepAlive(s.model) // t is in its memory
	wide := s.widened(autograd.Const(x)).Retain()
	if wide.Value() != x {
		x.Free()
	}
	return &Value{node: wide}, nil
}

// wide returns the type in which what a model has in a type is computed: that of float is Float64 on a device whose
// default type that is.
func (s *Session) wide(typ tensor.Type) tensor.Type {
	if typ == tensor.Float32 && s.dev.DefaultType() == tensor.Float64 {
		return tensor.Float64
	}
	return typ
}

// widened returns n in the type in which it is computed.
func (s *Session) widened(n *autograd.Node) *autograd.Node { return like(n, s.wide(n.Type())) }

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
