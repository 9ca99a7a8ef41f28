// Package regular reads regular files. A pipe may never say anything, and a device may have no end:
// where a flag, a variable or a caller names a file, neither is read.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a regular file and returns its size. The error for a folder, a pipe, a socket or a
// device is an *fs.PathError that says which it is.
func Open(path string) (*os.File, int64, error) { return open(path, false) }

// OpenOrPipe is Open for a format whose end is known while it is read: a pipe is opened as well.
// Its size is -1.
func OpenOrPipe(path string) (*os.File, int64, error) { return open(path, true) }

func open(path string, pipes bool) (*os.File, int64, error) {
	info, err := os.Stat(path) // opening a pipe waits for its other end
	if err == nil {
		err = check(path, info, pipes)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	if err == nil {
		err = check(path, info, pipes) // it may be another by now
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// check returns the error for what is no regular file, and no pipe where pipes may be.
func check(path string, info fs.FileInfo, pipes bool) error {
	what := Kind(info.Mode())
	if what == "" || pipes && what == pipe {
		return nil
	}
	return &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file but " + what)}
}

const pipe = "a pipe"

// Kind says what a file is that is not regular: "a folder", "a pipe", "a socket" or "a device". It
// returns "" for a regular file.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return pipe
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Read returns the contents of a regular file, which has at most so many bytes.
func Read(path string, most int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than the %d bytes that are read", most)}
	if size > most {
		return nil, tooLarge
	}
	raw := make([]byte, 0, size+1)
	for int64(len(raw)) <= most { // it may grow, and files of /proc have no size
		if len(raw) == cap(raw) {
			raw = append(raw, 0)[:len(raw)]
		}
		n, err := f.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		if errors.Is(err, io.EOF) {
			return raw, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, tooLarge
}
