// Package dot writes directed graphs in Graphviz's language. Source: graphviz.org, "DOT Language".
package dot

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Graph is a picture: boxes from the top down, and arrows between them.
type Graph struct {
	Name  string // an identifier
	Nodes []Node
	Edges []Edge
}

// Node is a box.
type Node struct {
	Lines []string
	Fill  string // the name of a colour
}

// Edge is an arrow between two of the Nodes, which are counted from 0.
type Edge struct {
	From, To int
	Label    string // none if empty
}

// Write writes the graph. The error is that of w.
func (g *Graph) Write(w io.Writer) error {
	to := bufio.NewWriter(w)
	fmt.Fprintf(to, "digraph %s {\n\tgraph [rankdir=TB];\n\tnode [shape=box, style=filled, fontname=Helvetica];\n\n", g.Name)
	for i, n := range g.Nodes {
		fmt.Fprintf(to, "\t%d [label=%s, fillcolor=%s];\n", i, quote(n.Lines...), n.Fill)
	}
	fmt.Fprintln(to)
	for _, e := range g.Edges {
		fmt.Fprintf(to, "\t%d -> %d", e.From, e.To)
		if e.Label != "" {
			fmt.Fprintf(to, " [label=%s]", quote(e.Label))
		}
		fmt.Fprintln(to, ";")
	}
	fmt.Fprintln(to, "}")
	return to.Flush()
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// quote returns lines as one quoted string: quotes and backslashes escaped, line ends as \n.
func quote(lines ...string) string { return `"` + escape.Replace(strings.Join(lines, "\n")) + `"` }
