package autograd

import (
	"fmt"
	"io"
	"time"

	"github.com/clgrad/clgrad/internal/dot"
	"github.com/clgrad/clgrad/tensor"
)

// WriteDOT writes the graph of root in Graphviz's language: one box per node with its name,
// operation, shape and the kernels that computed it, of a leaf none; parameters in another colour
// than constants. On a device that was opened for profiling, each kernel shows the mean time and
// bytes of all its calls so far, whichever node they were for. Write the graph before Backward,
// which takes it apart.
func WriteDOT(w io.Writer, root *Node) error {
	graph, err := graphOf("WriteDOT", root)
	if err != nil {
		return err
	}
	profile, err := root.value.Device().Profile()
	if err != nil {
		return err
	}
	times := map[string]tensor.KernelTime{}
	for _, t := range profile {
		times[t.Name] = t
	}
	g := dot.Graph{Name: "clgrad"}
	for i, n := range graph {
		g.Nodes = append(g.Nodes, dot.Node{Lines: n.Node.dotLines(times), Fill: n.Node.dotColour()})
		for _, in := range n.Inputs {
			g.Edges = append(g.Edges, dot.Edge{From: in, To: i})
		}
	}
	return g.Write(w)
}

func (n *Node) dotColour() string {
	switch {
	case n.op == "" && n.needs:
		return "lightblue"
	case n.op == "":
		return "lightgray"
	}
	return "white"
}

func (n *Node) dotLines(times map[string]tensor.KernelTime) []string {
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
		if t := times[k.Name]; t.Calls > 0 {
			line += fmt.Sprintf(": mean of %d calls %v, %.1f kB", t.Calls, (t.Total / time.Duration(t.Calls)).Round(100*time.Nanosecond), float64(t.Bytes)/float64(t.Calls)/1e3)
		}
		lines = append(lines, line)
	}
	return lines
}
