//go:build opencl && cgo

package tensor_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"

	"github.com/clgrad/clgrad/tensor"
)

// TestBadTuning: a tuning table that cannot be read is an error, not a reason to continue with the
// Go device.
func TestBadTuning(t *testing.T) {
	sels := devtest.Selected()
	if len(sels) == 1 && sels[0] == "cpu" {
		t.Skip("no OpenCL device under test")
	}
	path := filepath.Join(t.TempDir(), "tuning.json")
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(ops.TuningEnv, path)
	for _, sel := range []string{"auto", "opencl"} {
		d, err := tensor.Open(sel)
		if err == nil {
			d.Close()
		}
		if !errors.Is(err, ops.ErrTuning) {
			t.Errorf("Open(%q): err = %v", sel, err)
		}
	}
}
