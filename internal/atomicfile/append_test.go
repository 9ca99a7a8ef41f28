package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is a file on a disk with room for so many bytes.
type fullDisk struct {
	*os.File
	room int
}

func (f *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), f.room)
	f.room -= n
	if _, err := f.File.Write(b[:n]); err != nil {
		return 0, err
	}
	if n < len(b) {
		return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return n, nil
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAppend: a record that does not fit is an error and leaves no part; the next one is written when there
// is room, also after the program has changed its folder.
func TestAppend(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "records")
	t.Chdir(folder)
	a, err := OpenAppend("records")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := a.Append([]byte("first ")); err != nil {
		t.Fatal(err)
	}
	disk := &fullDisk{a.file.(*os.File), 0}
	a.file = disk
	for disk.room = range len("second ") {
		if err := a.Append([]byte("second ")); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "cannot write "+path) {
			t.Fatalf("%v", err)
		}
		if got := content(t, path); got != "first " {
			t.Fatalf("after an error: %q", got)
		}
	}
	disk.room = 1000
	if err := a.Append([]byte("third")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := content(t, path); got != "first third" {
		t.Errorf("%q", got)
	}
	if err := a.Append([]byte("fourth")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestAppendTorn: a part that could not be taken back goes before the next record.
func TestAppendTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(path, []byte("first sec"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := OpenAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.torn = int64(len("first "))
	if err := a.Append([]byte("third")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "first third" {
		t.Errorf("%q", got)
	}
}
