package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// Missing lists what the model asks for and is not there, each once with the first node that asks for it: operators,
// versions of them, attributes, and types of weights. An empty list says that the model loads.
func (m *Model) Missing() []string {
	l := &lacks{where: map[string][]string{}}
	for _, t := range m.file.Graph.Initializers {
		l.weight(t)
	}
	own := map[string]bool{}
	for _, f := range m.file.Functions {
		own[operatorName(f.Domain, f.Name)+":"+f.Overload] = true
	}
	l.nodes(m.file.Graph.Nodes, versions(m.file.Opsets), own)
	for _, f := range m.file.Functions {
		imports := versions(m.file.Opsets)
		maps.Copy(imports, versions(f.Opsets))
		l.graphs(f.Defaults, imports, own)
		l.nodes(f.Nodes, imports, own)
	}
	list := make([]string, len(l.what))
	for i, what := range l.what {
		where := l.where[what]
		list[i] = what + ": " + where[0]
		if len(where) > 1 {
			list[i] += fmt.Sprintf(" and %d more", len(where)-1)
		}
	}
	return list
}

// versions returns the version of each domain that is imported.
func versions(opsets []onnxpb.Opset) map[string]int {
	v := map[string]int{}
	for _, o := range opsets {
		v[domainOf(o.Domain)] = int(max(0, min(o.Version, math.MaxInt32)))
	}
	return v
}

// lacks gathers what is missing, and where.
type lacks struct {
	what  []string
	where map[string][]string
}

func (l *lacks) add(what, where string) {
	if !slices.Contains(l.what, what) {
		l.what = append(l.what, what)
	}
	l.where[what] = append(l.where[what], where)
}

func (l *lacks) weight(t *onnxpb.Tensor) {
	if t.Type == onnxpb.String {
		return
	}
	if _, err := typeOf(t.Type); err != nil {
		l.add(fmt.Sprintf("elements of type %v", t.Type), fmt.Sprintf("initializer %q", t.Name))
	}
}

// graphs looks through the graphs of attributes.
func (l *lacks) graphs(list []*onnxpb.Attribute, imports map[string]int, own map[string]bool) {
	for _, a := range list {
		for _, g := range a.AllGraphs() {
			for _, t := range g.Initializers {
				l.weight(t)
			}
			l.nodes(g.Nodes, imports, own)
		}
	}
}

func (l *lacks) nodes(nodes []*onnxpb.Node, imports map[string]int, own map[string]bool) {
	for i, n := range nodes {
		name := operatorName(n.Domain, n.Op)
		l.graphs(n.Attributes, imports, own)
		if own[name+":"+n.Overload] {
			continue
		}
		op, err := findOperator(n.Domain, n.Op, imports[domainOf(n.Domain)])
		if err != nil {
			l.add(strings.TrimPrefix(err.Error(), ErrUnsupported.Error()+": "), nodeName(n, i))
			continue
		}
		for _, a := range n.Attributes {
			if !op.knows(a.Name) {
				l.add(fmt.Sprintf("attribute %s of operator %s", a.Name, name), nodeName(n, i))
			}
		}
	}
}
