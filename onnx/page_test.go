package onnx

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/onnx.md")

const page = "../docs/onnx.md"

// Where the page has what is made.
const (
	madeFrom = "<!-- Made by \"make generate\", from here … -->\n"
	madeTo   = "<!-- … to here. -->\n"
)

// TestPage: the table of docs/onnx.md is that of the operators that are registered. -update writes it.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), madeFrom)
	_, after, ok2 := strings.Cut(rest, madeTo)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for its table: the lines %q and %q", page, madeFrom, madeTo)
	}
	want := before + madeFrom + operatorTable() + madeTo + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is not the table of operators of today: make generate", page)
	}
}

// operatorTable has a row for each domain, of operators and the versions from which each form of one is.
func operatorTable() string {
	var b strings.Builder
	b.WriteString("| domain | operators |\n|---|---|")
	domain, name := "-", ""
	for _, o := range Operators() {
		if o.Domain != domain {
			domain, name = o.Domain, ""
			fmt.Fprintf(&b, "\n| `%s` |", cmp.Or(domain, "ai.onnx"))
		}
		if o.Name == name {
			fmt.Fprintf(&b, ", %d", o.Since)
			continue
		}
		if name = o.Name; o.Since > 1 {
			fmt.Fprintf(&b, " `%s` from %d", name, o.Since)
			continue
		}
		fmt.Fprintf(&b, " `%s`", name)
	}
	return strings.ReplaceAll(b.String()+" |\n", "| |", "|")
}
