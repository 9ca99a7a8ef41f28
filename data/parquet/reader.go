package parquet

import (
	"errors"
	"io"
	"sync"
)

// reader remembers an error of reading other than the end of the file, which is one of the file.
type reader struct {
	io.ReaderAt
	mu  sync.Mutex
	err error
}

// ReadAt is part of io.ReaderAt.
func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("it says that something lies before its start")
	}
	n, err := r.ReaderAt.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = err
		}
	}
	return n, err
}

// failed returns the first error of reading.
func (r *reader) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
