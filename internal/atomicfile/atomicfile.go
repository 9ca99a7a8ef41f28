// Package atomicfile writes files that are either complete or as they were.
//
// A symbolic link is followed: the file that it leads to is replaced, or made, and the link stays.
// Of a file with several hard links, only the name that is written changes. A new file has the
// permissions that the umask leaves, one that is replaced keeps its own. What is no regular file (a
// device, a pipe) cannot be replaced: it is written to as it stands.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Error is what went wrong with the file, as against with what was to be written into it: a full
// disk, a folder that may not be written to.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string { return "cannot write " + e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Failed returns the Error of a file. Its message names the file that was asked for, not a
// temporary one.
func Failed(path string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return &Error{path, err}
}

// Write calls write with a temporary file beside path, flushes it to the disk, and renames it to
// path. On an error, or a panic of write, path is as it was and the temporary file is gone. An
// error of the file is an *Error; one that write has for other reasons is returned as it is.
func Write(path string, write func(io.Writer) error) error {
	target, err := Target(path)
	if err != nil {
		return Failed(path, err)
	}
	old, err := os.Stat(target)
	switch {
	case err == nil && old.IsDir():
		return Failed(path, syscall.EISDIR)
	case err == nil && !old.Mode().IsRegular():
		return direct(path, write)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Failed(path, err)
	case err != nil:
		old = nil
	}
	f, err := create(target)
	if err != nil {
		return Failed(path, err)
	}
	inWork.Store(f.Name(), nil)
	complete := false
	defer func() {
		if !complete {
			f.Close()
			os.Remove(f.Name())
		}
		inWork.Delete(f.Name())
	}()
	if err := fill(f, path, write); err != nil {
		return err
	}
	if err := replace(f, target, old); err != nil {
		return Failed(path, err)
	}
	complete = true
	return nil
}

// inWork has the names of the temporary files that Write is at.
var inWork sync.Map

// Abandon removes the temporary files of all calls of Write that have not returned. It is for a
// program that ends at once.
func Abandon() {
	inWork.Range(func(name, _ any) bool {
		_ = os.Remove(name.(string)) // another run clears it, if it is still there
		return true
	})
}

// fill writes all of the contents. It distinguishes a file that cannot be written from contents
// that cannot be made.
func fill(f *os.File, path string, write func(io.Writer) error) error {
	t := &target{f: f}
	b := bufio.NewWriterSize(t, 1<<16)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if t.err != nil {
		return Failed(path, t.err)
	}
	return err
}

// target is a file that remembers the first error of writing to it.
type target struct {
	f   *os.File
	err error
}

func (t *target) Write(p []byte) (int, error) {
	n, err := t.f.Write(p)
	if t.err == nil {
		t.err = err
	}
	return n, err
}

// replace puts a complete temporary file in the place of another, or of none, and closes it.
func replace(f *os.File, path string, old fs.FileInfo) error {
	defer f.Close() // after the renaming: until then its lock says that it is in use
	if old != nil {
		keepOwner(f, old)
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func direct(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return Failed(path, err)
	}
	if err := fill(f, path, write); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return Failed(path, err)
	}
	return nil
}

// mostLinks is how many symbolic links are followed from one to the next, as many as Linux does.
const mostLinks = 40

// Target returns the path of the file that writing to path makes or replaces: where symbolic links
// lead, be there a file or not. What is no regular file is not replaced: of it, Target returns path
// itself, since a link such as /dev/stdout may lead to a pipe, which has no path.
func Target(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return path, nil
	}
	for range mostLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = folder(path) + to
		}
		path = to
	}
	return "", errors.New("too many links")
}

// Check returns the *Error that Write would meet at path, as far as it can be known: better before
// hours of work than after. A file that its permissions protect is an error, too, although renaming
// would replace it. Temporary files of the same path that killed programs left behind are removed.
func Check(path string) error {
	target, err := Target(path)
	if err != nil {
		return Failed(path, err)
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Failed(path, err)
	case info.IsDir():
		return Failed(path, syscall.EISDIR)
	case !info.Mode().IsRegular():
		return nil
	default:
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return Failed(path, err)
		}
		f.Close()
		if dir, err := os.Stat(folder(target) + "."); err == nil && !mayReplace(dir, info) {
			return Failed(path, syscall.EPERM)
		}
	}
	sweep(target)
	f, err := create(target)
	if err != nil {
		return Failed(path, err)
	}
	err = os.Remove(f.Name())
	f.Close()
	if err != nil {
		return Failed(path, err)
	}
	return nil
}
