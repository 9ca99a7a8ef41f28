package cl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAssemble(t *testing.T) {
	files := map[string]string{
		"a.cl":     "// @depends: b, c\nA\n",
		"b.cl":     "// words\n// @depends: c\nB\n",
		"c.cl":     "C\n// @depends: a\n", // below the header: a comment like any other
		"loop.cl":  "// @depends: loop2\n",
		"loop2.cl": "// @depends: loop\n",
		"lost.cl":  "// @depends: nowhere\n",
		"d.cl":     "// @depends: c\n// @then: a, b\nD\n",
		"after.cl": "// @then: nowhere\n",
	}
	from := func(name string) (string, error) {
		if text, ok := files[name]; ok {
			return text, nil
		}
		return "", fs.ErrNotExist
	}
	got, err := assemble("a.cl", from)
	if err != nil {
		t.Fatal(err)
	}
	c, b, a := strings.Index(got, "\nC\n"), strings.Index(got, "\nB\n"), strings.Index(got, "\nA\n")
	if !(0 <= c && c < b && b < a) || strings.Count(got, "\nC\n") != 1 {
		t.Errorf("not in the order of dependency, each once:\n%s", got)
	}
	got, err = assemble("d.cl", from)
	var order []string
	for line := range strings.Lines(got) {
		if len(line) == 2 {
			order = append(order, line[:1])
		}
	}
	if err != nil || strings.Join(order, "") != "CDBA" {
		t.Errorf("a file between what it depends on and what comes after it: %v, err %v", order, err)
	}
	for name, want := range map[string]string{"after.cl": "no file nowhere.cl (wanted by after.cl)",
		"loop.cl": "loop.cl -> loop2.cl -> loop.cl", "lost.cl": "no file nowhere.cl (wanted by lost.cl)",
		"none.cl": "none.cl"} {
		if _, err := assemble(name, from); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), want) {
			t.Errorf("assemble(%s): err = %v, want one that says %q", name, err, want)
		}
	}
}

// TestTarget: a program is for the target that one of its files names at the start of a line.
func TestTarget(t *testing.T) {
	for text, want := range map[string]string{
		"#line 1 \"a.cl\"\n// @depends: b\n// @target: sm_90a\nA\n": "sm_90a",
		"#line 1 \"a.cl\"\n// @target: sm_90a":                      "sm_90a",
		"#line 1 \"a.cl\"\n// see // @target: sm_90a\nA\n":          "",
		"A\n": "", "": "",
	} {
		if got := PTXTarget(text); got != want {
			t.Errorf("%q is for %q, want %q", text, got, want)
		}
	}
}

func TestEverySourceAssembles(t *testing.T) {
	files, err := fs.ReadDir(embedded, ".")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if _, err := assemble(file.Name(), read); err != nil {
			t.Error(err)
		}
	}
}

func TestKernelPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(PathEnv, dir)
	if err := os.WriteFile(filepath.Join(dir, "common.cl"), []byte("MINE\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := assemble("move.cl", read)
	if err != nil || !strings.Contains(text, "MINE") || !strings.Contains(text, "k_fill") {
		t.Errorf("a file in %s does not replace the embedded one (err %v)", PathEnv, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "optim.cl"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := assemble("optim.cl", read); !errors.Is(err, ErrSource) {
		t.Errorf("an unreadable file: err = %v", err)
	}
}
