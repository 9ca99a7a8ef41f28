package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Appender adds records to a file, each whole or not at all: by one call of the system, which is undone if
// the disk is full. Several goroutines may use it, and several programs on one system may add to one file.
type Appender struct {
	path  string // absolute: the program may change its folder
	mutex sync.Mutex
	file  appended
	torn  int64 // where a part of a record begins that could not be taken back; −1: there is none
}

// appended is what an Appender needs of an *os.File.
type appended interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
}

// OpenAppend opens a file to add to, and makes it if there is none. The error is an *Error.
func OpenAppend(path string) (*Appender, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, Failed(path, err)
	}
	f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, Failed(path, err)
	}
	return &Appender{path: full, file: f, torn: -1}, nil
}

// Append adds a record, or returns an *Error and leaves the file as it was.
func (a *Appender) Append(record []byte) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err := a.append(record); err != nil {
		return Failed(a.path, err)
	}
	return nil
}

func (a *Appender) append(record []byte) error {
	if a.torn >= 0 {
		if err := os.Truncate(a.path, a.torn); err != nil {
			return err
		}
		a.torn = -1
	}
	before, err := a.file.Stat()
	if err != nil {
		return err
	}
	n, err := a.file.Write(record)
	if err == nil || n == 0 || !before.Mode().IsRegular() {
		return err
	}
	// Where another program wrote behind the part meanwhile, it stays.
	if after, statErr := a.file.Stat(); statErr == nil && after.Size() == before.Size()+int64(n) {
		if os.Truncate(a.path, before.Size()) != nil {
			a.torn = before.Size()
		}
	}
	return err
}

// Close closes the file. A second call does nothing.
func (a *Appender) Close() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err := a.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return Failed(a.path, err)
	}
	return nil
}
