package tensor

import (
	"errors"
	"sync/atomic"

	"github.com/clgrad/clgrad/kernels"
)

var errClosed = errors.New("tensor: device is closed")

// storage is device memory shared by the views of one allocation. When nobody holds the memory any more, not
// even the arguments of a launch to come, the garbage collector returns it to the device.
type storage struct {
	dev     Device
	buf     kernels.Buffer // nil if the device had failed before it could be allocated
	refs    atomic.Int32
	version uint64 // incremented by every write after the first
	ints    intRange
}

// newStorage allocates n elements. A failure sticks to the device; launches are skipped from then on, so
// the missing buffer is never used.
func newStorage(d Device, t kernels.DType, n int) *storage {
	s := &storage{dev: d}
	s.refs.Store(1)
	if d.Err() != nil {
		return s
	}
	buf, err := d.Alloc(t, n)
	if err != nil {
		d.core().fail(err)
		return s
	}
	s.buf = buf
	return s
}

func (s *storage) retain() { s.refs.Add(1) }

func (s *storage) release() {
	switch refs := s.refs.Add(-1); {
	case refs > 0:
	case refs < 0:
		panic("tensor: storage released more often than it was retained")
	case s.buf != nil:
		s.dev.Release(s.buf)
		s.buf = nil
	}
}
