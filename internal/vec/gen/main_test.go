package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFiles: the files in the folder above are those that the generator writes, and there are no
// others of its kind.
func TestFiles(t *testing.T) {
	all := files()
	for name, text := range all {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, text) {
			t.Errorf("%s is not what the generator writes: run make generate", name)
		}
	}
	there, err := filepath.Glob("../*.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if all[filepath.Base(path)] == nil {
			t.Errorf("the generator does not write %s", path)
		}
	}
}
