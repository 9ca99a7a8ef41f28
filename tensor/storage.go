package tensor

import (
	"fmt"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

var errClosed = fmt.Errorf("tensor: %w", ErrClosed)

// storage is device memory shared by the views of one allocation. When nobody holds the memory any more, not
// even the arguments of a launch to come, the garbage collector returns it to the device.
type storage struct {
	dev     Device
	buf     kernels.Buffer // nil if the device had failed before it could be allocated
	refs    atomic.Int32
	version uint64 // incremented by every write after the first
	ints    intRange
	shape   []int               // of the tensor that it was made for
	moves   int                 // how many tensors left it for another: see base.Rehome
	turned  map[*Tensor]*Tensor // the transposes that leave with tensors: see base.Transposed
	made    *capture.Step       // the recorded step that it was made in, or nil
}

// newStorage allocates n elements, of a shape, for an operation. A failure sticks to the device; launches are skipped from then on, so
// the missing buffer is never used.
func newStorage(op string, d Device, t kernels.DType, n int, shape []int) *storage {
	s := &storage{dev: d, shape: shape}
	s.refs.Store(1)
	if d.Err() != nil {
		return s
	}
	buf, err := d.allocate(op, t, n)
	if err != nil {
		d.core().fail(err)
		return s
	}
	s.buf = buf
	buf.(deviceBuffer).of(s)
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

// deviceBuffer is what the buffers of devices are: they know the storage whose memory they are.
type deviceBuffer interface {
	kernels.Buffer
	of(s *storage)
	owner() *storage // nil if they are no tensor's
}

// owned is the part of a buffer that knows.
type owned struct{ st *storage }

func (o *owned) of(s *storage)   { o.st = s }
func (o *owned) owner() *storage { return o.st }

// Shape returns that of the tensor that the storage was made for.
func (s *storage) Shape() []int { return s.shape }

// Changed counts a write.
func (s *storage) Changed() { s.version++ }

// Moves returns how many tensors left the storage.
func (s *storage) Moves() int { return s.moves }

// MadeIn says that the storage was made in a recorded step.
func (s *storage) MadeIn(step *capture.Step) { s.made = step }
