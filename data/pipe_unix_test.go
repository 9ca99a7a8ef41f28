//go:build unix

package data_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clgrad/clgrad/data"
)

// TestIDXPipe: a pipe does not say how much comes.
func TestIDXPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, idx(0x08, "abcd", 4), 0) }()
	a, err := data.LoadIDX(path)
	if err != nil || string(data.Elements[uint8](a)) != "abcd" {
		t.Errorf("%v, err = %v", a.Shape(), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
