package kernels

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels/cl"
)

// TestProgramOfText: a kernel with a text of its own gets the files that it depends on, its own
// name in messages, and a file of that name in the editable folder instead.
func TestProgramOfText(t *testing.T) {
	k := &Kernel{Name: "mine", Text: "// @depends: common\nMINE\n"}
	got, err := k.Program(Target{CPU: true})
	if err != nil || !strings.Contains(got, "#define REAL") || !strings.Contains(got, "#line 1 \"mine.cl\"\n// @depends: common\nMINE") {
		t.Errorf("err %v:\n%s", err, got)
	}
	_, err = (&Kernel{Name: "mine", Text: "// @depends: nowhere\n"}).Program(Target{})
	if !errors.Is(err, cl.ErrSource) || !strings.Contains(err.Error(), "no file nowhere.cl (wanted by mine.cl)") {
		t.Errorf("a missing dependency: err = %v", err)
	}
	ours, err := (&Kernel{Name: "k_sgd", File: "optim.cl"}).Program(Target{CPU: true})
	if want, _ := cl.Program("optim.cl", ""); err != nil || ours != want {
		t.Errorf("a kernel of a file: err %v:\n%s", err, ours)
	}
	dir := t.TempDir()
	t.Setenv(cl.PathEnv, dir)
	if err := os.WriteFile(filepath.Join(dir, "mine.cl"), []byte("EDITED\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Program(Target{}); err != nil || !strings.Contains(got, "EDITED") || strings.Contains(got, "MINE") {
		t.Errorf("an edited file: err %v:\n%s", err, got)
	}
}
