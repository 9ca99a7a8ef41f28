package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Run computes the outputs of the model for inputs, both in the order of the file. What it returns is the caller's.
func (s *Session) Run(inputs ...*Value) ([]*Value, error) {
	infos := s.inputs()
	if len(inputs) > len(infos) {
		return nil, inputError(fmt.Sprintf("onnx: Run: %d inputs, and the model has %d", len(inputs), len(infos)))
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

// RunContext is Run that ends with an error when ctx is done, between two operators: a Loop may have no end.
func (s *Session) RunContext(ctx context.Context, inputs ...*Value) ([]*Value, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("onnx: Run: %w", context.Cause(ctx))
	}
	s.context = ctx
	defer func() { s.context = nil }()
	return s.Run(inputs...)
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
	return s.forward("Forward", values, s.outputs())
}

// outputs returns the names of what the model gives, in the file's order.
func (s *Session) outputs() []string {
	names := make([]string, len(s.main.proto.Outputs))
	for i, o := range s.main.proto.Outputs {
		names[i] = o.Name
	}
	return names
}

// ForwardNamed is Forward with inputs and outputs by name, as of RunNamed. What the last layer of a model takes is such
// an output: a head of one's own goes there.
func (s *Session) ForwardNamed(inputs map[string]*autograd.Node, outputs ...string) map[string]*autograd.Node {
	values := make(map[string]*Value, len(inputs))
	for name, n := range inputs {
		values[name] = fromNode(n)
	}
	named := make(map[string]*autograd.Node, len(outputs))
	for i, n := range s.forward("ForwardNamed", values, outputs) {
		named[outputs[i]] = n
	}
	return named
}

func (s *Session) forward(op string, inputs map[string]*Value, outputs []string) []*autograd.Node {
	err := s.checkInputs(inputs)
	var values []*Value
	if err == nil {
		values, err = s.eager(&runner{s: s}, inputs, outputs)
	}
	if err != nil {
		panic(&tensor.Error{Pkg: "onnx", Op: op, Kind: err})
	}
	nodes := make([]*autograd.Node, len(values))
	for i, v := range values {
		nodes[i] = v.node
	}
	return nodes
}

// eager runs the nodes of the outer graph, and returns values by name, tensors of them on the device.
func (s *Session) eager(r *runner, inputs map[string]*Value, names []string) ([]*Value, error) {
	g := s.main
	if !g.has(names) {
		g = s.file
	}
	sc := &scope{values: make(map[string]*Value, len(g.nodes)), nodes: g.nodes}
	for _, in := range g.proto.Inputs {
		sc.values[in.Name] = nil // left out, unless it is given below
	}
	for name, v := range g.constants {
		sc.values[name] = v
	}
	for name, v := range inputs {
		if v != nil {
			sc.values[name] = v
		}
	}
	out := make([]*Value, len(names))
	err := try(func() error {
		if err := r.nodes(g.nodes, sc); err != nil {
			return err
		}
		for i, name := range names {
			if out[i] = sc.values[name]; out[i] == nil {
				return fmt.Errorf("onnx: Run: no value of the model is named %q: its outputs are %q", name, s.outputs())
			}
			out[i].each(func(v *Value) { r.on(v, false) })
		}
		return nil
	})
	return out, err
}

// has reports whether values of names are there after a run.
func (g *graph) has(names []string) bool {
	made := map[string]bool{}
	for _, n := range g.nodes {
		for _, out := range n.proto.Outputs {
			made[out] = true
		}
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return !made[name] && g.constants[name] == nil && !slices.ContainsFunc(g.proto.Inputs, func(v *onnxpb.ValueInfo) bool { return v.Name == name })
	})
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

// run computes values by name: by a recording, if there is one.
func (s *Session) run(given map[string]*Value, names []string) (out []*Value, err error) {
	if err := s.checkInputs(given); err != nil {
		return nil, err
	}
	quiet := autograd.NoGrad
	if s.derives {
		quiet = func(_ tensor.Device, f func()) { f() }
	}
	tensor.Scope(s.dev, func() {
		tensor.Scope(s.host, func() {
			quiet(s.dev, func() {
				quiet(s.host, func() {
					err = try(func() error {
						inputs, err := s.taken(given)
						if err == nil {
							out, err = s.compute(inputs, names)
						}
						return err
					})
				})
			})
		})
	})
	return out, err
}

// ErrInput is the kind of error of inputs that a model does not take: of another name, type or shape, or too few.
var ErrInput = errors.New("onnx: inputs that the model does not take")

// inputError is an ErrInput with a message of its own.
type inputError string

func (e inputError) Error() string        { return string(e) }
func (e inputError) Is(target error) bool { return target == ErrInput }

// checkInputs reports inputs that are missing, that the model does not have, or that are of another type or shape.
func (s *Session) checkInputs(given map[string]*Value) error {
	if s.others == nil {
		return errors.New("onnx: Run: the session is closed")
	}
	misfit := func(format string, args ...any) error {
		return inputError("onnx: Run: " + fmt.Sprintf(format, args...))
	}
	known := map[string]bool{}
	var all []string
	for _, info := range s.main.proto.Inputs {
		known[info.Name] = true
		all = append(all, infoOf(info).String())
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			return misfit("the model has no input %q: it has %s", name, strings.Join(all, ", "))
		}
	}
	for _, info := range s.main.proto.Inputs {
		v := given[info.Name]
		if v == nil {
			if !s.main.initial[info.Name] && (info.Type == nil || info.Type.Kind != onnxpb.KindOptional) {
				return misfit("input %v is missing", infoOf(info))
			}
			continue
		}
		if !fits(info.Type, v, s.dev.DefaultType() == tensor.Float64) {
			return misfit("input %v is given %v", infoOf(info), v)
		}
	}
	return nil
}

// fits reports whether a value is what a type says. Names of dimensions say nothing: exporters write "?", or "None",
// for ones that differ. With wide a Float64 tensor is a float.
func fits(typ *onnxpb.Type, v *Value, wide bool) bool {
	if typ == nil {
		return true
	}
	switch typ.Kind {
	case onnxpb.KindSequence:
		return v.kind == sequenceValue
	case onnxpb.KindOptional: // or what it holds
		return v.kind == optionalValue || fits(typ.Of, v, wide)
	case onnxpb.KindTensor:
	default:
		return true
	}
	if typ.Elem == onnxpb.String {
		if v.kind != stringsValue {
			return false
		}
	} else if v.any() == nil || typeTable[typ.Elem] != v.any().Type() && !(wide && typ.Elem == onnxpb.Float && v.any().Type() == tensor.Float64) {
		return false
	}
	shape := v.Shape()
	if typ.HasShape && len(typ.Dims) == 0 {
		// A list of one is a scalar for others, too, and models are run so.
		return !slices.ContainsFunc(shape, func(n int) bool { return n != 1 })
	}
	if typ.HasShape && len(typ.Dims) != len(shape) {
		return false
	}
	for i, dim := range typ.Dims {
		if dim.Value >= 0 && int64(shape[i]) != dim.Value {
			return false
		}
	}
	return true
}

// taken returns the inputs of a run as values of the run's own.
func (s *Session) taken(given map[string]*Value) (map[string]*Value, error) {
	inputs := make(map[string]*Value, len(given))
	for name, v := range given {
		if v == nil {
			continue
		}
		var err error
		if inputs[name], err = s.take(name, v); err != nil {
			return nil, err
		}
		n := inputs[name].node
		if n != nil && s.replays.byValue && n.Type().Integer() && n.Len() <= mostByValue {
			if inputs[name].host, err = s.replays.onHost(name, n, s.host); err != nil {
				return nil, err
			}
		}
	}
	return inputs, nil
}

// take returns v, and what is in it, as a value of the run's own: a run notes copies of tensors in values.
func (s *Session) take(name string, v *Value) (*Value, error) {
	w := &Value{kind: v.kind, shape: v.shape, strings: v.strings}
	if v.kind == tensorValue {
		n := v.any()
		if n == nil || n.Device() != s.dev {
			return nil, fmt.Errorf("onnx: Run: input %q is %v, and should be a tensor on the session's device", name, v)
		}
		w.node = s.widened(n)
	}
	for _, e := range v.list {
		taken, err := s.take(name, e)
		if err != nil {
			return nil, err
		}
		w.list = append(w.list, taken)
	}
	return w, nil
}

// compute runs the model once, and chooses how.
func (s *Session) compute(inputs map[string]*Value, names []string) ([]*Value, error) {
	key, replays := "", &s.replays
	if !s.options.Eager && !s.options.Training && !s.derives && s.trace == nil {
		key = s.key(inputs, names)
	}
	if key != "" && !replays.eager[key] {
		rec, _ := replays.made.Find(key)
		if rec == nil && replays.saw(key) {
			var err error
			switch rec, err = s.record(key, inputs, names); {
			case err == nil:
				replays.made.Add(key, rec, cmp.Or(s.options.Recordings, defaultRecordings))
			case s.context != nil && s.context.Err() != nil:
				return nil, err
			default:
				replays.never(key)
			}
		}
		if rec != nil {
			return rec.run(inputs)
		}
	}
	r := &runner{s: s, scoped: !s.derives}
	defer r.end()
	launches := s.dev.Stats().Launches
	out, err := s.eager(r, inputs, names)
	if err != nil {
		return nil, err
	}
	switch launches = s.dev.Stats().Launches - launches; {
	case key == "":
	case launches > mostLaunches:
		replays.never(key)
	case launches > mostRewritten:
		note(&replays.long, key)
	}
	if r.downloads && key != "" {
		if replays.byValue {
			replays.never(key)
		}
		replays.byValue = true
	}
	others := map[any]bool{}
	for _, v := range inputs {
		v.each(func(v *Value) { others[memoryOf(v.Tensor())] = true })
	}
	for _, t := range s.onDevice() {
		others[memoryOf(t)] = true
	}
	for i, v := range out {
		out[i] = v.owned(others)
	}
	return out, nil
}

// memoryOf is the same for a tensor and its views.
func memoryOf(t *tensor.Tensor) any {
	memory, _ := tensorapi.Impl.Memory(t)
	return memory
}

// owned returns v as the caller's: its tensors outlive the scope of the run, and are copies where others have their
// memory: inputs, what the session keeps, and outputs before, to which it adds them.
func (v *Value) owned(others map[any]bool) *Value {
	w := &Value{kind: v.kind, shape: v.shape, strings: v.strings}
	if n := v.node; n != nil {
		if v.kept || others[memoryOf(n.Value())] {
			n = n.Copy()
		}
		others[memoryOf(n.Value())] = true
		w.node = n.Retain()
	}
	for _, e := range v.list {
		w.list = append(w.list, e.owned(others))
	}
	return w
}
