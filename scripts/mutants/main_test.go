package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReport: survivors and the list are held against each other, both ways.
func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("p/a.go", "package p\n\n\tif a < b && `x` < c {\n")
	first, second := mutant{"CONDITIONALS_BOUNDARY", "LIVED", 3, 7}, mutant{"CONDITIONALS_BOUNDARY", "LIVED", 3, 18}
	const item = "- conditionals-boundary `if a ‸< b && `x` < c {`: a is never b.\n"
	const any = "- any `if a < b && `x` < c {`: of OpenCL alone.\n"
	for _, c := range []struct {
		name, list string
		results    []mutant
		want       bool
	}{
		{"all dead", "", []mutant{{"CONDITIONALS_BOUNDARY", "KILLED", 3, 7}, {"INVERT_BITWISE", "NOT VIABLE", 3, 7}}, true},
		{"alive", "", []mutant{first}, false},
		{"not covered", "", []mutant{{"CONDITIONALS_BOUNDARY", "NOT COVERED", 3, 7}}, false},
		{"alive as listed", "### p/a.go\n" + item, []mutant{first}, true},
		{"another of the line", "### p/a.go\n" + item, []mutant{first, second}, false},
		{"another kind", "### p/a.go\n" + item, []mutant{{"CONDITIONALS_NEGATION", "LIVED", 3, 7}}, false},
		{"another file", "### p/b.go\n" + item, []mutant{first}, false},
		{"any of the line", "### p/a.go\n" + any, []mutant{first, second}, true},
		{"any of the line and one of it", "### p/a.go\n" + any + item, []mutant{first, second}, true},
		{"any, and all dead", "### p/a.go\n" + any, nil, false},
		{"any of another line", "### p/a.go\n- any `a`: b.\n", []mutant{first}, false},
		{"listed and dead", "### p/a.go\n" + item, nil, false},
		{"listed twice, alive once", "### p/a.go\n" + item + item, []mutant{first}, false},
	} {
		write(known, "# Text\n\n"+c.list)
		list, err := readKnown()
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := report(".", "p", []string{"a.go"}, map[string][]mutant{"a.go": c.results}, list); ok != c.want || err != nil {
			t.Errorf("%s: ok %v, want %v, err = %v", c.name, ok, c.want, err)
		}
	}
	write(known, "### p/a.go\n- conditionals-boundary `if a ‸< b {`\n")
	if _, err := readKnown(); err == nil {
		t.Error("an entry without a reason was read")
	}
}

// TestMutate: what gremlins writes is read, of a package within a folder too; if it fails, so does
// the command.
func TestMutate(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll("internal/p", 0o755), os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Mkdir(filepath.Join(dir, "src"), 0o755)); err != nil {
		t.Fatal(err)
	}
	// It stands in for gremlins: it writes a report, as gremlins does not where it cannot, and ends
	// with code 0 nevertheless.
	const script = `#!/bin/sh
while [ "$1" != --output ]; do shift; done
echo '{"files": [{"file_name": "a.go", "mutations": [{"type": "INVERT_LOGICAL", "status": "LIVED", "line": 3, "column": 7}]}]}' >"$2" || exit 0
exit "$CODE"
`
	if err := os.WriteFile(filepath.Join(dir, "bin", "gremlins"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	results, err := mutate(t.Context(), dir, "internal/p", "internal/p", []string{"a.go"}, append(os.Environ(), "CODE=0"))
	if err != nil || len(results["a.go"]) != 1 || results["a.go"][0] != (mutant{"INVERT_LOGICAL", "LIVED", 3, 7}) {
		t.Errorf("%v, %v", results, err)
	}
	if _, err := mutate(t.Context(), dir, "internal/p", "internal/p", nil, append(os.Environ(), "CODE=1")); err == nil {
		t.Error("a failure of gremlins passed")
	}
}
