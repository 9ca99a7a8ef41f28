package onnx

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// ErrFormat is the kind of error of a file that is no ONNX model, or one that contradicts itself.
var ErrFormat = onnxpb.ErrFormat

// ErrUnsupported is the kind of error of a model that asks for what is not there: an operator, a version of one, an
// attribute or a type.
var ErrUnsupported = errors.New("not supported")

// Model is an ONNX file that was read. It belongs to no device.
type Model struct {
	file *onnxpb.Model
	dir  string // where external data is, "" for bytes
}

// Open reads the file of a model. Weights outside of it are found beside it. The file is mapped into memory, where the
// system can do that, as long as the model is used: nobody may shorten it meanwhile.
func Open(path string) (*Model, error) {
	b, end, err := readMapped(path)
	if err != nil {
		return nil, err
	}
	m, err := Parse(b)
	if err != nil {
		end()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.dir = filepath.Dir(path)
	runtime.AddCleanup(m, func(end func()) { end() }, end)
	return m, nil
}

// Parse reads the bytes of a model, which it keeps: weights are read from them when the model is loaded.
func Parse(b []byte) (*Model, error) {
	file, err := onnxpb.ReadModel(b)
	if err != nil {
		return nil, err
	}
	m := &Model{file: file}
	if err := m.verify(); err != nil {
		return nil, err
	}
	moveWeights(file.Graph)
	return m, nil
}

// Info describes an input or an output of a model.
type Info struct {
	Name string   // in the graph
	Type string   // "float", "seq(int64)", "optional(string)"
	Dims []string // a number, the name of one that is not known, or "?"; nil: the rank is not known
}

// String returns, for example, "x: float[batch,3,224,224]".
func (i Info) String() string {
	if i.Dims == nil {
		return i.Name + ": " + i.Type
	}
	return i.Name + ": " + i.Type + "[" + strings.Join(i.Dims, ",") + "]"
}

func infoOf(v *onnxpb.ValueInfo) Info {
	i := Info{Name: v.Name, Type: typeName(v.Type)}
	if v.Type != nil && v.Type.HasShape {
		i.Dims = []string{}
		for _, d := range v.Type.Dims {
			switch {
			case d.Param != "":
				i.Dims = append(i.Dims, d.Param)
			case d.Value >= 0:
				i.Dims = append(i.Dims, strconv.FormatInt(d.Value, 10))
			default:
				i.Dims = append(i.Dims, "?")
			}
		}
	}
	return i
}

// Shape returns the dimensions as numbers, −1 for one that is not known. It is nil if the rank is not known.
func (i Info) Shape() []int {
	if i.Dims == nil {
		return nil
	}
	shape := make([]int, len(i.Dims))
	for k, d := range i.Dims {
		n, err := strconv.Atoi(d)
		if err != nil {
			n = -1
		}
		shape[k] = n
	}
	return shape
}

// TensorType returns the type of a tensor, and false if i is no tensor, or one of a type that there is not.
func (i Info) TensorType() (tensor.Type, bool) {
	for data, typ := range typeTable {
		if data.String() == i.Type {
			return typ, true
		}
	}
	return 0, false
}

func typeName(t *onnxpb.Type) string {
	if t == nil {
		return "?"
	}
	switch t.Kind {
	case onnxpb.KindTensor:
		return t.Elem.String()
	case onnxpb.KindSparse:
		return "sparse(" + t.Elem.String() + ")"
	case onnxpb.KindSequence:
		return "seq(" + typeName(t.Of) + ")"
	case onnxpb.KindOptional:
		return "optional(" + typeName(t.Of) + ")"
	case onnxpb.KindMap:
		return "map"
	}
	return "?"
}

// Inputs returns what a run needs, in the file's order: inputs that have an initializer are left out.
func (m *Model) Inputs() []Info {
	given := map[string]bool{}
	for _, t := range m.file.Graph.Initializers {
		given[t.Name] = true
	}
	var list []Info
	for _, v := range m.file.Graph.Inputs {
		if !given[v.Name] {
			list = append(list, infoOf(v))
		}
	}
	return list
}

// Outputs returns what a run gives, in the file's order.
func (m *Model) Outputs() []Info {
	var list []Info
	for _, v := range m.file.Graph.Outputs {
		list = append(list, infoOf(v))
	}
	return list
}

// Opset is a version of the operators of a domain; that of "" is ai.onnx, ONNX's own.
type Opset struct {
	Domain  string // who defines the operators
	Version int    // counted by that domain
}

// Opsets returns the sets of operators that the model imports.
func (m *Model) Opsets() []Opset {
	var list []Opset
	for _, o := range m.file.Opsets {
		list = append(list, Opset{domainOf(o.Domain), int(o.Version)})
	}
	return list
}

// Producer returns the program that wrote the file, and its version.
func (m *Model) Producer() string {
	return strings.TrimSpace(m.file.ProducerName + " " + m.file.ProducerVersion)
}

// Metadata returns the properties that the file has.
func (m *Model) Metadata() map[string]string {
	props := map[string]string{}
	for _, e := range m.file.Metadata {
		props[e.Key] = e.Value
	}
	return props
}

// Operators returns how often each operator is used, in inner graphs and functions too. One of another domain has
// that before its name: "ai.onnx.ml.TreeEnsemble".
func (m *Model) Operators() map[string]int {
	count := map[string]int{}
	m.eachNode(func(n *onnxpb.Node) { count[operatorName(n.Domain, n.Op)]++ })
	return count
}

func operatorName(domain, op string) string {
	if domain = domainOf(domain); domain != "" {
		return domain + "." + op
	}
	return op
}

// Weights returns the initializers of the model on a device, by name, but for strings. Names of inner graphs are those of
// [Session.Weights].
func (m *Model) Weights(d tensor.Device) (tensor.Dict, error) {
	dict, names := tensor.Dict{}, m.weightNames()
	var err error
	m.eachInitializer(func(g *onnxpb.Graph, t *onnxpb.Tensor) {
		if t.Type == onnxpb.String || err != nil {
			return
		}
		dict[names[g][t.Name]], err = newTensor(d, t, m.dir)
	})
	if err != nil {
		return nil, err
	}
	return dict, nil
}

// Parameters returns how many numbers the weights of the model have.
func (m *Model) Parameters() int {
	n := 0
	m.eachInitializer(func(_ *onnxpb.Graph, t *onnxpb.Tensor) {
		if size, err := t.Len(); err == nil {
			n += size
		}
	})
	return n
}

// eachInitializer calls f with the initializers of the model, those of inner graphs too.
func (m *Model) eachInitializer(f func(g *onnxpb.Graph, t *onnxpb.Tensor)) {
	eachGraph(m.file.Graph, "", func(g *onnxpb.Graph, _ string) {
		for _, t := range g.Initializers {
			f(g, t)
		}
	})
}

// eachNode calls f with every node of the model, outer ones first.
func (m *Model) eachNode(f func(n *onnxpb.Node)) {
	var walk func(nodes []*onnxpb.Node)
	walk = func(nodes []*onnxpb.Node) {
		for _, n := range nodes {
			f(n)
			for _, a := range n.Attributes {
				for _, g := range a.AllGraphs() {
					walk(g.Nodes)
				}
			}
		}
	}
	walk(m.file.Graph.Nodes)
	for _, fn := range m.file.Functions {
		walk(fn.Nodes)
	}
}

// domainOf returns the one spelling of a domain: ai.onnx is "".
func domainOf(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

// verify reports what is wrong with a model whatever runs it.
func (m *Model) verify() error {
	if len(m.file.Opsets) == 0 && m.file.IRVersion >= 3 {
		return fmt.Errorf("%w: the model imports no opset", ErrFormat)
	}
	return verifyGraph(m.file.Graph, nil)
}

// verifyGraph reports names that are defined twice or used before they are defined. outer holds those of the graphs
// around.
func verifyGraph(g *onnxpb.Graph, outer []map[string]bool) error {
	names := map[string]bool{}
	for _, v := range g.Inputs {
		if names[v.Name] {
			return fmt.Errorf("%w: two inputs are named %q", ErrFormat, v.Name)
		}
		names[v.Name] = true
	}
	for _, t := range g.Initializers {
		names[t.Name] = true
	}
	for _, t := range g.Sparse {
		if t.Values == nil || t.Indices == nil {
			return fmt.Errorf("%w: a sparse initializer has no values or no indices", ErrFormat)
		}
		names[t.Values.Name] = true
	}
	scopes := append(slices.Clone(outer), names)
	known := func(name string) bool {
		return name == "" || slices.ContainsFunc(scopes, func(s map[string]bool) bool { return s[name] })
	}
	for i, n := range g.Nodes {
		for _, in := range n.Inputs {
			if !known(in) {
				return fmt.Errorf("%w: %s takes %q, which nothing before it makes: a name is not defined, or nodes form a cycle",
					ErrFormat, nodeName(n, i), in)
			}
		}
		for _, a := range n.Attributes {
			for _, inner := range a.AllGraphs() {
				if err := verifyGraph(inner, scopes); err != nil {
					return err
				}
			}
		}
		for _, out := range n.Outputs {
			if out != "" && names[out] {
				return fmt.Errorf("%w: %s makes %q, which is there already", ErrFormat, nodeName(n, i), out)
			}
			names[out] = true
		}
	}
	for _, v := range g.Outputs {
		if !known(v.Name) {
			return fmt.Errorf("%w: no node makes the output %q", ErrFormat, v.Name)
		}
	}
	return nil
}

// nodeName names a node for a person: by its name, or by its place.
func nodeName(n *onnxpb.Node, i int) string {
	op := operatorName(n.Domain, n.Op)
	if n.Name != "" {
		return fmt.Sprintf("node %q (%s)", n.Name, op)
	}
	if len(n.Outputs) > 0 {
		return fmt.Sprintf("node %d (%s, which makes %q)", i, op, n.Outputs[0])
	}
	return fmt.Sprintf("node %d (%s)", i, op)
}
