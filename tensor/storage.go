package tensor

import (
	"fmt"
	"sync/atomic"

	"github.com/clgrad/clgrad/kernels"
)

var errClosed = fmt.Errorf("tensor: %w", ErrClosed)

// storage is device memory shared by the views of one allocation. When nobody holds the memory any
// more, not even the arguments of a launch to come, the garbage collector returns it to the device.
type storage struct {
	dev        Device
	buf        kernels.Buffer // nil if the device had failed before it could be allocated
	refs       atomic.Int32
	version    uint64 // incremented by every write after the first
	ints       intRange
	shape      []int               // of the tensor that it was made for
	moves      int                 // how many tensors left it for another: see base.Rehome
	transposes map[*Tensor]*Tensor // the transposes that leave with tensors: see base.Transposed
	recorded   bool                // it was made in a step that was recorded, which keeps nothing there
}

// newStorage allocates n elements, of a shape, for an operation. A failure is a sticky error of the
// device; launches are skipped from then on, so the missing buffer is never used.
func newStorage(op string, d Device, t kernels.DType, n int, shape []int) *storage {
	var s *storage
	buf := allocated(op, d, t, n)
	if buf != nil {
		s = buf.(deviceBuffer).storage()
	} else {
		s = new(storage)
	}
	s.dev, s.buf, s.shape = d, buf, shape
	s.refs.Store(1)
	return s
}

// allocated returns memory of n elements, or nil if the device has failed.
func allocated(op string, d Device, t kernels.DType, n int) kernels.Buffer {
	if d.Err() != nil {
		return nil
	}
	buf, err := d.allocate(op, t, n)
	if err != nil {
		d.core().fail(err)
		return nil
	}
	return buf
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

// deviceBuffer is what the buffers of devices are. The storage whose memory a buffer is lies within
// it, so that both are one allocation.
type deviceBuffer interface {
	kernels.Buffer
	storage() *storage // zero until the buffer is that of a tensor
	owner() *storage   // nil if it is no tensor's
}

// owned is the storage within a buffer.
type owned struct{ st storage }

func (o *owned) storage() *storage { return &o.st }

func (o *owned) owner() *storage {
	if o.st.dev == nil {
		return nil
	}
	return &o.st
}

// Shape returns that of the tensor that the storage was made for.
func (s *storage) Shape() []int { return s.shape }

// Changed counts a write.
func (s *storage) Changed() { s.version++ }

// Moves returns how many tensors left the storage.
func (s *storage) Moves() int { return s.moves }

// MadeRecorded says that the storage was made in a step that was recorded.
func (s *storage) MadeRecorded() { s.recorded = true }
