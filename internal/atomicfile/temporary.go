package atomicfile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// prefix returns what the names of all temporary files of a path begin with. It is short, so that a
// path may have the longest name that its file system takes, and tells by its digest whose they
// are.
func prefix(path string) string {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	return ".mlp-" + hex.EncodeToString(sum[:8]) + "-"
}

// folder returns the folder of a file, with a separator at its end, or "". Unlike filepath.Dir it
// leaves "link/.." as it is, which means the folder above the link's target.
func folder(path string) string { return strings.TrimSuffix(path, filepath.Base(path)) }

// create makes a temporary file beside path, which is locked as long as it is open.
func create(path string) (*os.File, error) {
	for {
		name := folder(path) + prefix(path) + rand.Text()[:16]
		// The umask makes of these permissions what it makes of those of any new file.
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_ = lock(f, true) // where there are no locks, nobody takes the file for left behind
		// Before it was locked, another program may have taken it for that.
		if holds(f) {
			return f, nil
		}
		f.Close()
	}
}

// sweep removes the temporary files of a path that no program holds: those of killed ones. One that
// cannot be removed is in nobody's way.
func sweep(path string) {
	dir := folder(path)
	entries, err := os.ReadDir(dir + ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix(path)) || !e.Type().IsRegular() {
			continue
		}
		f, err := os.OpenFile(dir+e.Name(), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		// A program that held it may have renamed it meanwhile.
		if lock(f, false) == nil && holds(f) {
			_ = os.Remove(f.Name())
		}
		f.Close()
	}
}

// holds reports whether the name of an open file is still that file's.
func holds(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(open, named)
}
