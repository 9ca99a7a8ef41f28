package autograd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
)

// WriteDOT writes the graph of root in Graphviz's language: one box per node with its name, operation,
// shape and the kernels that computed it, of a leaf none; parameters in another colour than constants. On a device that
// was opened for profiling, each kernel shows the mean time and bytes of all its calls so far, whichever node they
// were for. Write the graph before Backward, which takes it apart.
func WriteDOT(w io.Writer, root *Node) error {
	root.must("WriteDOT")
	if root.freed {
		return &tensor.Error{Pkg: "autograd", Op: "WriteDOT", Kind: ErrGraphFreed, Shapes: [][]int{root.Shape()},
			Detail: "write the graph before Backward, or Backward with Retain"}
	}
	profile, err := root.value.Device().Profile()
	if err != nil {
		return err
	}
	times := map[string]tensor.KernelTime{}
	for _, t := range profile {
		times[t.Name] = t
	}
	g := dotGraph{multi.NewDirectedGraph()}
	order := root.sort(walks.Add(1), nil)
	ids := make(map[*Node]dotNode, len(order))
	for i, n := range order {
		dn := dotNode{int64(i), n, times}
		ids[n] = dn
		g.AddNode(dn)
		for _, in := range n.inputs {
			g.SetLine(g.NewLine(ids[in], dn))
		}
	}
	text, err := dot.MarshalMulti(g, "clgrad", "", "\t")
	if err != nil {
		return fmt.Errorf("autograd: WriteDOT: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// dotGraph is a multigraph: x.Mul(x) has two edges.
type dotGraph struct{ *multi.DirectedGraph }

// DOTAttributers sets the looks of the whole picture.
func (dotGraph) DOTAttributers() (graph, node, edge encoding.Attributer) {
	return attributes{{Key: "rankdir", Value: "TB"}},
		attributes{{Key: "shape", Value: "box"}, {Key: "style", Value: "filled"}, {Key: "fontname", Value: "Helvetica"}},
		attributes{}
}

type attributes []encoding.Attribute

func (a attributes) Attributes() []encoding.Attribute { return a }

type dotNode struct {
	id    int64
	node  *Node
	times map[string]tensor.KernelTime
}

func (d dotNode) ID() int64 { return d.id }

func (d dotNode) Attributes() []encoding.Attribute {
	fill := "white"
	switch {
	case d.node.op == "" && d.node.needs:
		fill = "lightblue"
	case d.node.op == "":
		fill = "lightgray"
	}
	return []encoding.Attribute{{Key: "label", Value: quoteDOT(d.lines())}, {Key: "fillcolor", Value: fill}}
}

func (d dotNode) lines() []string {
	n := d.node
	title := n.label()
	if n.name != "" && n.op != "" {
		title += " = " + n.op
	}
	lines := []string{title, fmt.Sprint(n.Shape())}
	for _, k := range n.launched {
		if k == nil {
			break
		}
		line := k.Name
		if t := d.times[k.Name]; t.Calls > 0 {
			line += fmt.Sprintf(": mean of %d calls %v, %.1f kB", t.Calls, (t.Total / time.Duration(t.Calls)).Round(100*time.Nanosecond), float64(t.Bytes)/float64(t.Calls)/1e3)
		}
		lines = append(lines, line)
	}
	return lines
}

// quoteDOT returns lines as one quoted string: quotes and backslashes escaped, line ends as \n.
func quoteDOT(lines []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for i, l := range lines {
		lines[i] = escape.Replace(l)
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

var _ graph.Node = dotNode{}
