package tensor

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// writable panics unless t can be the destination of an in-place operation, and counts the write.
func writable(op string, t *Tensor, others ...*Tensor) Device {
	d := check(op, append([]*Tensor{t}, others...)...)
	if !t.Contiguous() {
		misuse(op, ErrShape, "the destination has gaps: write to a contiguous tensor", t)
	}
	t.st.version++
	return d
}

func (t *Tensor) fill(v float64) {
	launch(t.Device(), kernels.Fill, t.arg(), kernels.I(t.Len()), kernels.R(v))
}

func (t *Tensor) zero() { launch(t.Device(), kernels.Zero, t.arg(), kernels.I(t.Len())) }

// FillInPlace sets every element to v.
func (t *Tensor) FillInPlace(v float64) {
	writable("FillInPlace", t)
	t.fill(v)
}

// ZeroInPlace sets every element to 0.
func (t *Tensor) ZeroInPlace() {
	writable("ZeroInPlace", t)
	t.zero()
}

// SetInPlace copies src, of t's shape, over t's elements.
func (t *Tensor) SetInPlace(src *Tensor) {
	writable("SetInPlace", t, src)
	if !slices.Equal(t.shape, src.shape) {
		misuse("SetInPlace", ErrShape, "", t, src)
	}
	copyTo(t, src)
}

// Upload copies data, as many elements as t has, over t's elements in row-major order.
func Upload[T kernels.Real](t *Tensor, data []T) {
	writable("Upload", t)
	if len(data) != t.Len() {
		misuse("Upload", ErrShape, "data has another number of elements", t)
	}
	upload(t, data)
}
