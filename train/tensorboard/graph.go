package tensorboard

import (
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/autograd"
)

// graph returns nodes as a GraphDef.
func graph(nodes []autograd.GraphNode) []byte {
	var b []byte
	names, used := make([]string, len(nodes)), map[string]bool{}
	for i, n := range nodes {
		names[i] = unique(path(n.Node, nodes, n.Inputs), used)
		node := text(text(nil, 1, names[i]), 2, kind(n.Node))
		for _, in := range n.Inputs {
			node = text(node, 3, names[in])
		}
		var shape []byte
		for _, size := range n.Node.Shape() {
			shape = message(shape, 2, integer(nil, 1, int64(size)))
		}
		list := message(nil, 7, shape) // of the shapes of the results, of which there is one
		node = message(node, 5, message(text(nil, 1, "_output_shapes"), 2, message(nil, 1, list)))
		b = message(b, 1, node)
	}
	const producer = 22
	return message(b, 4, integer(nil, 1, producer))
}

// kind is what a node is. TensorFlow calls inputs placeholders, and TensorBoard draws those as boxes of their own.
func kind(n *autograd.Node) string {
	switch {
	case n.Op() != "":
		return n.Op()
	case n.IsParam():
		return "Parameter"
	}
	return "Placeholder"
}

// path returns the name of a node in the graph, with slashes between the parts of the model: that of a parameter is
// its own, that of an operation stands beside the parameter that it reads.
func path(n *autograd.Node, nodes []autograd.GraphNode, inputs []int) string {
	name := clean(n.Name())
	if name == "" {
		name = kind(n)
	}
	if n.Op() == "" {
		return name
	}
	for _, in := range inputs {
		if p := nodes[in].Node; p.IsParam() {
			if parent := clean(p.Name()); strings.Contains(parent, "/") {
				return parent[:strings.LastIndex(parent, "/")+1] + name
			}
		}
	}
	return name
}

// clean returns a name as TensorFlow allows it: letters, digits and _ . - / with a letter or a digit in front. Dots are
// slashes.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '.':
			return '/'
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', strings.ContainsRune("_-/", r):
			return r
		}
		return '_'
	}, name)
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	for i, p := range parts {
		if p[0] == '_' || p[0] == '-' {
			parts[i] = "x" + p
		}
	}
	return strings.Join(parts, "/")
}

// unique returns a name that is not used, and notes it: name, name_1, name_2, and so on.
func unique(name string, used map[string]bool) string {
	found := name
	for i := 1; used[found]; i++ {
		found = name + "_" + strconv.Itoa(i)
	}
	used[found] = true
	return found
}
