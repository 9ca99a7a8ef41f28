package dot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/dot"
	parser "gonum.org/v1/gonum/graph/formats/dot"
)

// TestWrite: a reader of the language finds the nodes, edges and labels that were written, whatever
// is in them.
func TestWrite(t *testing.T) {
	g := dot.Graph{Name: "g", Nodes: []dot.Node{{[]string{`say "x\n"`, "two\nlines"}, "white"}, {nil, "lightblue"}},
		Edges: []dot.Edge{{0, 1, `8 "bytes"`}, {0, 1, ""}, {1, 1, ""}}}
	var text strings.Builder
	if err := g.Write(&text); err != nil {
		t.Fatal(err)
	}
	const want = "digraph g {\n\tgraph [rankdir=TB];\n\tnode [shape=box, style=filled, fontname=Helvetica];\n\n" +
		"\t0 [label=\"say \\\"x\\\\n\\\"\\ntwo\\nlines\", fillcolor=white];\n\t1 [label=\"\", fillcolor=lightblue];\n\n" +
		"\t0 -> 1 [label=\"8 \\\"bytes\\\"\"];\n\t0 -> 1;\n\t1 -> 1;\n}\n"
	if text.String() != want {
		t.Errorf("wrote %s", text.String())
	}
	if _, err := parser.ParseString(text.String()); err != nil {
		t.Error(err)
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestWriteFails: the error is the writer's.
func TestWriteFails(t *testing.T) {
	if err := (&dot.Graph{Name: "g"}).Write(full{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
