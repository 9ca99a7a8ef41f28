//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRead: a regular file is read up to its bound, by whatever link. Nothing else is opened, and
// nothing waits.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		most int64
		want string
		err  string
	}{
		{file, 5, "12345", ""},
		{link, 6, "12345", ""},
		{file, 4, "", "more than the 4 bytes"},
		{pipe, 5, "", "no regular file but a pipe"},
		{dir, 5, "", "no regular file but a folder"},
		{os.DevNull, 5, "", "no regular file but a device"},
		{filepath.Join(dir, "none"), 5, "", "no such file"},
	} {
		got, err := Read(c.path, c.most)
		var path *fs.PathError
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) ||
			err != nil && (!errors.As(err, &path) || path.Path != c.path) {
			t.Errorf("Read(%s, %d) = %q, %v; want %q, %s", c.path, c.most, got, err, c.want, c.err)
		}
	}
	if _, err := os.Stat("/proc/self/status"); err == nil { // which has no size
		if got, err := Read("/proc/self/status", 1<<20); err != nil || !strings.Contains(string(got), "Pid:") {
			t.Errorf("/proc/self/status: %q, %v", got, err)
		}
		if _, err := Read("/proc/self/status", 10); err == nil {
			t.Error("10 bytes of /proc/self/status are all")
		}
	}
}
