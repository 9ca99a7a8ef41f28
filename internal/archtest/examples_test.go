package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// TestExamples: every package has an example of the whole of it, func Example, whose output is checked.
func TestExamples(t *testing.T) {
	for _, pkg := range documented(t) {
		found := false
		for _, file := range parseAll(t, pkg, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Example" && f.Recv == nil {
					found = found || hasOutput(file, f)
				}
			}
		}
		if !found {
			t.Errorf("package %s has no func Example with an // Output: comment", pkg)
		}
	}
}

func hasOutput(file *ast.File, f *ast.FuncDecl) bool {
	for _, c := range file.Comments {
		if c.Pos() > f.Body.Pos() && c.End() < f.Body.End() && strings.HasPrefix(c.Text(), "Output:") {
			return true
		}
	}
	return false
}
