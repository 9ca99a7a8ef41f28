package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsOfTests: tests of the packages that scripts/test-more.sh runs in an emulator start
// programs by devtest.Command, which knows of emulators.
func TestProgramsOfTests(t *testing.T) {
	for _, pkg := range []string{"internal/vec", "kernels", "tensor", "autograd", "optim", "nn", "replay"} {
		files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d tests, %v", pkg, len(files), err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"exec.Command", "StartProcess"} {
				if strings.Contains(string(text), call) {
					t.Errorf("%s calls %s: call devtest.Command", name, call)
				}
			}
		}
	}
}
