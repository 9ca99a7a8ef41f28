package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad"
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// exporter writes the operations of a model as nodes of a graph.
type exporter struct {
	options  ExportOptions
	model    any
	examples []*tensor.Tensor
	symbols  []*symbol
	runs     []*modelRun

	params   map[*tensor.Tensor]*parameter
	names    map[any]string // of the values of the first run
	taken    map[string]bool
	nodes    []*onnxpb.Node
	tensors  []weight // initializers, those of parameters too
	small    map[string]string
	problems []string
	path     string // of the layer at hand
	last     string // of the parameter that was read last
}

// parameter is a parameter or buffer of the model.
type parameter struct {
	name       string
	t          *tensor.Tensor
	transposed bool // in the state dict, and in the file
	straight   string
}

// value is a *autograd.Node or *tensor.Tensor of the model, in each run.
type value []any

// failure is why a call cannot be written.
type failure struct{ detail string }

// fail ends the writing of the call at hand.
func fail(format string, a ...any) { panic(failure{fmt.Sprintf(format, a...)}) }

// export runs the model and returns its file.
func (e *exporter) export() (*modelFile, error) {
	if err := e.nameParameters(); err != nil {
		return nil, err
	}
	if err := e.runModel(); err != nil {
		return nil, err
	}
	e.names, e.small = map[any]string{}, map[string]string{}
	graph := &onnxpb.Graph{Name: "clgrad"}
	for i, name := range e.options.Inputs {
		if err := e.take(name, "input"); err != nil {
			return nil, err
		}
		info := &onnxpb.ValueInfo{Name: name, Type: e.typeOf(i)}
		graph.Inputs = append(graph.Inputs, info)
	}
	outputs := e.options.Outputs
	if outputs == nil {
		outputs = numbered("output", len(e.runs[0].outputs))
	}
	if len(outputs) != len(e.runs[0].outputs) {
		return nil, fmt.Errorf("%d names of outputs, and %d outputs", len(outputs), len(e.runs[0].outputs))
	}
	for _, name := range outputs { // before a node takes one
		if err := e.take(name, "output"); err != nil {
			return nil, err
		}
	}
	for i, name := range outputs {
		v := make(value, len(e.runs))
		for r := range v {
			v[r] = e.runs[r].outputs[i]
		}
		e.output(graph, name, v)
	}
	if len(e.problems) > 0 {
		return nil, fmt.Errorf("%w in opset %d:\n  %s", ErrUnsupported, e.options.Opset, strings.Join(e.problems, "\n  "))
	}
	graph.Nodes = e.nodes
	e.prune(graph)
	f := &modelFile{tensors: e.tensors, proto: &onnxpb.Model{IRVersion: irVersion(e.options.Opset), ProducerName: "clgrad",
		ProducerVersion: clgrad.Version, Graph: graph, Opsets: []onnxpb.Opset{{Version: int64(e.options.Opset)}}}}
	for _, key := range slices.Sorted(maps.Keys(e.options.Metadata)) {
		f.proto.Metadata = append(f.proto.Metadata, onnxpb.Entry{Key: key, Value: e.options.Metadata[key]})
	}
	for _, w := range f.tensors {
		if w.t.Freed() {
			return nil, fmt.Errorf("%q was freed", w.name)
		}
	}
	return f, nil
}

// output adds an output of the graph.
func (e *exporter) output(g *onnxpb.Graph, name string, v value) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			e.problems = append(e.problems, fmt.Sprintf("output %q: %s", name, f.detail))
		}
	}()
	e.nodes = append(e.nodes, &onnxpb.Node{Name: name, Op: "Identity", Inputs: []string{e.name(v)},
		Outputs: []string{name}})
	g.Outputs = append(g.Outputs, &onnxpb.ValueInfo{Name: name, Type: e.outputType(v)})
}

// irVersion returns the version of the format that came with an opset.
func irVersion(opset int) int64 {
	switch {
	case opset < 19:
		return 8
	case opset < 21:
		return 9
	case opset < 23:
		return 10
	}
	return 11
}

// nameParameters finds the parameters and buffers of the model by the names of its state dict.
func (e *exporter) nameParameters() error {
	e.params, e.taken = map[*tensor.Tensor]*parameter{}, map[string]bool{}
	if e.model == nil {
		return nil
	}
	params := nn.Params(e.model)
	paths := map[*tensor.Tensor]string{}
	var dict tensor.Dict
	_ = tensor.Try(func() { dict = nn.StateDict(e.model) }) // a model with quantized weights has none
	for path, t := range dict {
		if paths[t] == "" || path < paths[t] {
			paths[t] = path
		}
	}
	for _, p := range params {
		t := p.Value()
		e.params[t] = &parameter{name: p.Name(), t: t}
		switch d := dict[p.Name()]; {
		case d == nil && paths[t] != "": // the program has named it otherwise
			e.params[t].name = paths[t]
		case d != nil && d != t:
			e.params[t].transposed, e.params[t].t = true, d
		}
	}
	for t, path := range paths { // buffers
		if e.params[t] == nil && dict[path] == t && !e.holds(t) {
			e.params[t] = &parameter{name: path, t: t}
		}
	}
	named := map[string]bool{}
	for _, p := range e.params {
		if named[p.name] {
			return fmt.Errorf("two parameters are named %q: name one with Named", p.name)
		}
		named[p.name] = true
	}
	for name := range named {
		if err := e.take(name, "parameter"); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether t is what the file has of a parameter.
func (e *exporter) holds(t *tensor.Tensor) bool {
	for _, p := range e.params {
		if p.t == t {
			return true
		}
	}
	return false
}

// take claims a name for an input, an output or a parameter.
func (e *exporter) take(name, what string) error {
	switch {
	case name == "":
		return fmt.Errorf("one %s has no name", what)
	case e.taken[name]:
		return fmt.Errorf("the %s %q has the name of another input, output or parameter", what, name)
	}
	e.taken[name] = true
	return nil
}

// fresh returns a name for a result of an operator, or for a constant.
func (e *exporter) fresh(op string) string {
	name := op
	if e.path != "" {
		name = e.path + "/" + op
	}
	for i, first := 1, name; e.taken[name]; i++ {
		name = fmt.Sprint(first, "_", i)
	}
	e.taken[name] = true
	return name
}

// typeOf returns the type of an input.
func (e *exporter) typeOf(input int) *onnxpb.Type {
	t := e.examples[input]
	typ := &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: dataTypeOf(t.Type()), HasShape: true}
	for axis, n := range t.Shape() {
		dim := onnxpb.Dim{Value: int64(n)}
		if s := e.symbolOf(input, axis); s != nil {
			dim = onnxpb.Dim{Param: s.name}
		}
		typ.Dims = append(typ.Dims, dim)
	}
	return typ
}

// outputType returns the type of a value, with the symbols that its sizes are.
func (e *exporter) outputType(v value) *onnxpb.Type {
	typ := &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: dataTypeOf(typeIn(v)), HasShape: true}
	for _, s := range shapeOf(v) {
		dim := onnxpb.Dim{Value: int64(s[0])}
		if !s.fixed() || len(e.symbols) == 0 && e.varies(v) {
			dim = onnxpb.Dim{Value: -1}
			for _, y := range e.symbols {
				if s.equals(y.sizes) {
					dim.Param = y.name
				}
			}
		}
		typ.Dims = append(typ.Dims, dim)
	}
	return typ
}

// varies reports whether the runs gave v in several shapes, though no size is dynamic: data decide it.
func (e *exporter) varies(v value) bool {
	return slices.ContainsFunc(shapeOf(v), func(s size) bool { return !s.fixed() })
}

// typeIn returns the type of a value's elements.
func typeIn(v value) tensor.Type {
	if t := tensorIn(v[0]); t != nil {
		return t.Type()
	}
	return 0
}

// tensorIn returns the tensor of a node or a tensor.
func tensorIn(v any) *tensor.Tensor {
	switch v := v.(type) {
	case *autograd.Node:
		if v != nil {
			return v.Value()
		}
	case *tensor.Tensor:
		return v
	}
	return nil
}

// absent reports whether v is nil.
func (v value) absent() bool { return tensorIn(v[0]) == nil }

// name returns the name of a value in the graph, "" for nil.
func (e *exporter) name(v value) string {
	t := tensorIn(v[0])
	if t == nil {
		return ""
	}
	key := any(t)
	if n, ok := v[0].(*autograd.Node); ok && len(e.runs[0].made[n]) > 0 {
		key = n
	}
	if name, ok := e.names[key]; ok {
		return name
	}
	name := e.find(v, t)
	e.names[key] = name
	return name
}

// find writes what makes a value.
func (e *exporter) find(v value, t *tensor.Tensor) string {
	if i, ok := e.runs[0].inputs[t]; ok {
		return e.options.Inputs[i]
	}
	if p := e.params[t]; p != nil && len(e.makers(v, 0)) == 0 {
		return e.parameter(p)
	}
	makers := e.makers(v, 0)
	if len(makers) == 0 {
		return e.constant(v)
	}
	var first string
	for i := len(makers) - 1; i >= 0; i-- {
		c, err := e.callOf(v, i)
		if err == "" && c.runs[0].Opaque {
			err = c.runs[0].Op
		}
		if err == "" {
			var outputs []string
			if outputs, err = e.attempt(c); err == "" {
				for k, out := range outputs {
					if k != makers[i].result {
						e.nameResult(c.runs[0].Results[k], out)
					}
				}
				return outputs[makers[i].result]
			}
		}
		if first == "" {
			first = err
			if c.runs != nil {
				first = c.where() + first
			}
		}
	}
	if !slices.Contains(e.problems, first) {
		e.problems = append(e.problems, first)
	}
	return "missing"
}

// nameResult gives a name to another result of a call, if it has none and is no result of a later one.
func (e *exporter) nameResult(y any, name string) {
	if t := tensorIn(y); t != nil {
		if _, ok := e.names[t]; !ok && name != "" {
			e.names[t] = name
			e.names[y] = name
		}
	}
}

// makers returns the calls that gave a value in a run.
func (e *exporter) makers(v value, run int) []madeBy {
	if n, ok := v[run].(*autograd.Node); ok {
		if list := e.runs[run].made[n]; len(list) > 0 {
			return list
		}
	}
	return e.runs[run].made[tensorIn(v[run])]
}

// callOf returns the call at a place of the list that makers returns, in all runs, or what they differ in.
func (e *exporter) callOf(v value, at int) (*exportCall, string) {
	c := &exportCall{e: e}
	for r := range e.runs {
		makers := e.makers(v, r)
		if at >= len(makers) {
			return c, c.differ()
		}
		call := &e.runs[r].calls[makers[at].call]
		if r > 0 && (call.Op != c.runs[0].Op || functionOf(call) != functionOf(c.runs[0]) ||
			len(call.Args) != len(c.runs[0].Args) || len(call.Results) != len(c.runs[0].Results)) {
			return c, c.differ()
		}
		c.runs = append(c.runs, call)
		if r == 0 && versionOf(call.Results[makers[at].result]) != call.Version[makers[at].result] {
			return c, c.operation() + ": its result was changed in place: compute another by methods of autograd.Node"
		}
	}
	return c, ""
}

// functionOf returns the function of elements that is called, or nil.
func functionOf(c *trace.Call) *kernels.Function {
	if c.Op != "elementwise" {
		return nil
	}
	return c.Args[0].(*kernels.Function)
}

// attempt writes a call, and returns the names of its results or why that cannot be done.
func (e *exporter) attempt(c *exportCall) (outputs []string, err string) {
	write, ok := exports[c.runs[0].Op]
	if !ok {
		return nil, c.runs[0].Op
	}
	before := e.path
	e.path = c.path()
	defer func() {
		e.path = before
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			outputs, err = nil, c.operation()+": "+f.detail
		}
	}()
	return write(c), ""
}

// parameter returns the name of a parameter as the program has it: transposed, if the file does not.
func (e *exporter) parameter(p *parameter) string {
	e.use(p)
	if !p.transposed {
		return p.name
	}
	if p.straight == "" {
		before := e.path
		e.path = ""
		perm := sequence(p.t.Rank())
		slices.Reverse(perm)
		p.straight = e.op("Transpose", []string{p.name}, ints("perm", perm...))
		e.path = before
	}
	return p.straight
}

// use adds a parameter to the initializers.
func (e *exporter) use(p *parameter) {
	e.last = p.name
	if !slices.ContainsFunc(e.tensors, func(w weight) bool { return w.name == p.name }) {
		e.tensors = append(e.tensors, weight{p.name, p.t})
	}
}

// kept returns the tensor of a value in a run, or a view of it from before it was freed.
func (e *exporter) kept(v value, run int) *tensor.Tensor {
	t := tensorIn(v[run])
	if t != nil && t.Freed() && e.runs[run].kept[t] != nil {
		return e.runs[run].kept[t]
	}
	return t
}

// constant adds a tensor that no operation on nodes has made to the initializers.
func (e *exporter) constant(v value) string {
	t := e.kept(v, 0)
	raw, err := rawOf(t)
	for r := 1; r < len(v) && err == nil; r++ {
		other := e.kept(v, r)
		if other == t {
			continue
		}
		var also []byte
		if other == nil {
			err = errors.New("in other runs there is none")
		} else if also, err = rawOf(other); err == nil && (!slices.Equal(t.Shape(), other.Shape()) ||
			!bytes.Equal(raw, also)) {
			return e.following(v)
		}
	}
	if err != nil {
		fail("a constant of shape %v: %v", t.Shape(), err)
	}
	var name string
	if p, ok := v[0].(*autograd.Node); ok && p.IsParam() && p.Name() != "" { // that is not in the model
		name = p.Name()
		if err := e.take(name, "parameter"); err != nil {
			fail("%v", err)
		}
	} else {
		name = e.fresh("constant")
	}
	e.tensors = append(e.tensors, weight{name, t})
	return name
}

// following writes a constant that has another value in other runs: numbers in a row, or one number again and again.
func (e *exporter) following(v value) string {
	shape := shapeOf(v)
	lists := make([][]float64, len(v))
	for r := range v {
		list, err := e.kept(v, r).Float64s()
		if err != nil {
			fail("a constant of shape %v: %v", tensorIn(v[r]).Shape(), err)
		}
		lists[r] = list
	}
	typ := typeIn(v)
	first, step, ok := inRow(lists)
	switch {
	case e.varies(v) && ok && step == 0:
		return e.op("Expand", []string{e.scalar(typ, first), e.shape(shape, nil)})
	case e.varies(v) && ok && len(shape) == 1 && first == float64(int64(first)) && step == float64(int64(step)):
		n := e.size(shape[0], nil)
		end := e.op("Add", []string{e.op("Mul", []string{e.axesGone(n), e.scalar(tensor.Int64, step)}),
			e.scalar(tensor.Int64, first)})
		row := e.op("Range", []string{e.scalar(tensor.Int64, first), end, e.scalar(tensor.Int64, step)})
		return e.cast(row, tensor.Int64, typ)
	}
	fail("a tensor of shape %v follows from the inputs, and no operation on nodes makes it: compute it by methods of "+
		"autograd.Node", tensorIn(v[0]).Shape())
	return ""
}

// inRow reports whether all lists count from one number on, by one step.
func inRow(lists [][]float64) (first, step float64, ok bool) {
	for _, list := range lists {
		if len(list) < 2 {
			return 0, 0, false
		}
	}
	first, step = lists[0][0], lists[0][1]-lists[0][0]
	for _, list := range lists {
		for i, v := range list {
			if v != first+float64(i)*step {
				return 0, 0, false
			}
		}
	}
	return first, step, true
}

// prune drops nodes and initializers that no output needs, and Identity nodes of outputs where another name does.
func (e *exporter) prune(g *onnxpb.Graph) {
	needed := map[string]bool{}
	for _, out := range g.Outputs {
		needed[out.Name] = true
	}
	var kept []*onnxpb.Node
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.ContainsFunc(n.Outputs, func(out string) bool { return needed[out] }) {
			continue
		}
		kept = append(kept, n)
		needs(n, needed)
	}
	slices.Reverse(kept)
	g.Nodes = kept
	e.tensors = slices.DeleteFunc(e.tensors, func(w weight) bool { return !needed[w.name] })
	g.Initializers = slices.DeleteFunc(g.Initializers, func(t *onnxpb.Tensor) bool { return !needed[t.Name] })
	inlineOutputs(g)
}

// needs adds what a node takes, and what the graphs in it take from around them.
func needs(n *onnxpb.Node, needed map[string]bool) {
	for _, in := range n.Inputs {
		needed[in] = true
	}
	for _, a := range n.Attributes {
		for _, g := range a.AllGraphs() {
			for _, inner := range g.Nodes {
				needs(inner, needed)
			}
		}
	}
}

// inlineOutputs gives the name of an output to the node that makes it, where only an Identity does the renaming.
func inlineOutputs(g *onnxpb.Graph) {
	maker, rename := map[string]bool{}, map[string]string{}
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			maker[out] = true
		}
	}
	outputs := map[string]bool{}
	for _, out := range g.Outputs {
		outputs[out.Name] = true
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *onnxpb.Node) bool {
		if n.Op != "Identity" || !outputs[n.Outputs[0]] || !maker[n.Inputs[0]] || outputs[n.Inputs[0]] ||
			rename[n.Inputs[0]] != "" {
			return false
		}
		rename[n.Inputs[0]] = n.Outputs[0]
		return true
	})
	for _, n := range g.Nodes {
		for _, list := range [][]string{n.Inputs, n.Outputs} {
			for i, name := range list {
				if to := rename[name]; to != "" {
					list[i] = to
				}
			}
		}
	}
}

// exportCall is a call in all runs.
type exportCall struct {
	e    *exporter
	runs []*trace.Call
}

// differ says that the runs called other operations.
func (c *exportCall) differ() string {
	if c.runs == nil {
		return "an operation that other inputs do not call"
	}
	return c.operation() + ": other operations are called for other inputs of the same shape, or for another dynamic size"
}

// operation names what is called: of functions of elements their own name.
func (c *exportCall) operation() string {
	if f := functionOf(c.runs[0]); f != nil {
		return f.Name
	}
	return c.runs[0].Op
}

// where says where the program calls it, with a blank behind.
func (c *exportCall) where() string {
	layer := ""
	switch path := c.path(); {
	case path != "":
		layer = path + ": "
	case c.e.last != "":
		layer = "behind " + c.e.last + ": "
	}
	if c.runs[0].Place != "" {
		layer += c.runs[0].Place + ": "
	}
	return layer
}

// path returns the path of the layer whose parameters the call reads, "" if it reads none.
func (c *exportCall) path() string {
	for _, a := range c.runs[0].Args {
		if p := c.e.params[tensorIn(a)]; p != nil {
			if i := strings.LastIndex(p.name, "."); i >= 0 {
				return p.name[:i]
			}
		}
	}
	return ""
}
