// Package samefile says whether two paths name one file, be it there or not yet.
package samefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// ID is the file that a path names: one that is there, or one that writing to the path would make.
type ID struct {
	info   fs.FileInfo // nil: there is none yet
	folder fs.FileInfo // that it would be made in; nil: there is none either
	dir    string
	base   string
}

// Of returns the file that a path names. Symbolic links are followed, also those that lead to
// nothing yet. The error is that of a path that leads nowhere.
func Of(path string) (ID, error) {
	path, err := atomicfile.Target(path)
	if err != nil {
		return ID{}, err
	}
	if info, err := os.Stat(path); err == nil {
		return ID{info: info}, nil
	}
	id := ID{base: filepath.Base(path)}
	// Clean would take "link/.." for nothing, where the folder above the link's target is meant.
	if id.dir = strings.TrimSuffix(path, id.base); id.dir == "" {
		id.dir = "."
	}
	if folder, err := os.Stat(id.dir); err == nil {
		id.folder = folder
		return id, nil
	}
	id.dir, err = filepath.Abs(id.dir)
	return id, err
}

// OfOpen returns the file that is open.
func OfOpen(f *os.File) (ID, error) {
	info, err := f.Stat()
	return ID{info: info}, err
}

// Device reports whether the file is a device, such as /dev/null or a terminal: writing to it
// replaces nothing.
func (a ID) Device() bool { return a.info != nil && a.info.Mode()&fs.ModeDevice != 0 }

// Same reports whether both are one file. Of two that are not there yet, it asks their folder
// whether it tells the names apart: some fold case, or forms of Unicode.
func (a ID) Same(b ID) bool {
	switch {
	case a.info != nil && b.info != nil:
		return os.SameFile(a.info, b.info)
	case a.info != nil || b.info != nil:
		return false
	case a.folder != nil && b.folder != nil:
		return os.SameFile(a.folder, b.folder) && oneName(a.dir, a.base, b.base)
	case a.folder != nil || b.folder != nil:
		return false
	}
	return a.dir == b.dir && a.base == b.base
}

// Key is equal for all IDs that are the same, and seldom for others.
func (a ID) Key() any {
	if a.info != nil {
		return key(a.info)
	}
	return folded(a.base)
}

// folded is equal for names that some file system takes for one.
func folded(name string) string { return cases.Fold().String(norm.NFD.String(name)) }

// oneName reports whether a folder takes two names for one. What folding it does, if any, only the
// folder knows: it is asked by files of these names in a folder of their own inside it, which folds
// as it does.
func oneName(dir, a, b string) bool {
	if a == b {
		return true
	}
	if folded(a) != folded(b) {
		return false
	}
	probe, err := os.MkdirTemp(dir, ".mlp-names-")
	if err != nil {
		return true // nothing can be written there, either
	}
	defer os.RemoveAll(probe)
	return folds(probe, a, b)
}

// folds reports whether a file that is made under one name is found under another.
var folds = func(dir, a, b string) bool {
	f, err := os.Create(filepath.Join(dir, a))
	if err != nil {
		return true
	}
	f.Close()
	_, err = os.Lstat(filepath.Join(dir, b))
	return err == nil
}
