package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
)

// Tensor is an n-dimensional array of reals on a device: a view of storage that other tensors may
// share. Operations return new tensors, which share storage only where that is said; those whose name ends in InPlace
// write through the view. They panic with an *[Error] for misuse: with ErrValue if a tensor is nil, ErrFreed if it was
// freed, ErrDevice for tensors of two devices, and what each states besides.
type Tensor struct {
	st             *storage
	shape, strides []int // strides in elements
	off            int
	freed, kept    bool
	moored         bool // see MoveTo
}

// alloc returns a contiguous tensor with undefined contents.
func alloc(op string, d Device, shape []int) *Tensor {
	n := checkShape(op, shape)
	shape = append([]int{}, shape...) // never nil: New takes no shape for that of a vector
	t := &Tensor{st: newStorage(d, d.Real(), n), shape: shape, strides: rowMajor(shape)}
	return t.register()
}

// Empty returns a tensor whose contents are undefined until written. It panics with ErrShape for a shape with a negative
// dimension, more than MaxRank axes or 2³¹ elements, as all functions do that take one.
func Empty(d Device, shape ...int) *Tensor { return alloc("Empty", d, shape) }

// New returns a tensor that holds data in row-major order, converted to the device's real type. It
// panics with ErrShape unless the shape has as many elements as data. Without a shape, the tensor has
// one axis.
func New[T kernels.Real](d Device, data []T, shape ...int) *Tensor {
	if shape == nil {
		shape = []int{len(data)}
	}
	if n := checkShape("New", shape); n != len(data) {
		panic(&Error{Op: "New", Kind: ErrShape, Shapes: [][]int{shape}, Detail: fmt.Sprintf("data has %d elements", len(data))})
	}
	t := alloc("New", d, shape)
	upload(t, data)
	return t
}

// Scalar returns a tensor of rank 0.
func Scalar(d Device, v float64) *Tensor { return New(d, []float64{v}, []int{}...) }

// upload writes data over the elements of a contiguous tensor.
func upload[T kernels.Real](t *Tensor, data []T) {
	if t.st.buf == nil {
		return // the device failed and says so at the next download
	}
	// A failure sticks to the device.
	_ = t.Device().Upload(t.st.buf, t.off, convert(t.Device().Real(), data))
}

// convert returns data as host memory of type to, sharing it where the types agree.
func convert[T kernels.Real](to kernels.DType, data []T) *kernels.Mem {
	if kernels.DTypeOf[T]() == to {
		return kernels.MemOf(data)
	}
	if to == kernels.Float64 {
		return kernels.MemOf(converted[float64](data))
	}
	return kernels.MemOf(converted[float32](data))
}

func converted[To, From kernels.Real](data []From) []To {
	out := make([]To, len(data))
	for i, v := range data {
		out[i] = To(v)
	}
	return out
}

// Zeros returns a tensor of zeros. It panics with ErrShape as [Empty] does.
func Zeros(d Device, shape ...int) *Tensor {
	t := alloc("Zeros", d, shape)
	t.zero()
	return t
}

// Full returns a tensor whose elements are all v, rounded to the device's real type. It panics with ErrShape as [Empty]
// does.
func Full(d Device, v float64, shape ...int) *Tensor {
	t := alloc("Full", d, shape)
	t.fill(v)
	return t
}

// One returns a tensor of ones with the given shape, of one element in all. The device keeps it: it must not
// be written to, and costs no launch after the first call. It is the seed of every Backward from a scalar.
func One(d Device, shape ...int) *Tensor {
	if n := checkShape("One", shape); n != 1 {
		panic(&Error{Op: "One", Kind: ErrShape, Shapes: [][]int{shape}, Detail: "it has one element"})
	}
	c := d.core()
	if c.one.Load() == nil {
		c.one.CompareAndSwap(nil, Full(d, 1, []int{}...).Keep())
	}
	return c.one.Load().view(append([]int{}, shape...), rowMajor(shape), 0)
}

// IsOne reports whether t is what One returned.
func IsOne(t *Tensor) bool {
	one := t.Device().core().one.Load()
	return one != nil && t.st == one.st
}

// Device returns the device that t is on.
func (t *Tensor) Device() Device { return t.st.dev }

// Shape returns the dimensions. The caller must not change them.
func (t *Tensor) Shape() []int { return t.shape }

// Rank returns the number of axes.
func (t *Tensor) Rank() int { return len(t.shape) }

// Len returns the number of elements.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

// Free releases t. Its memory returns to the device once every view of it is freed. Using t afterwards
// panics with ErrFreed; freeing it again does nothing.
func (t *Tensor) Free() {
	if !t.freed {
		t.freed = true
		t.st.release()
	}
}

// MoveTo copies t's elements to place, of t's shape and contiguous, and makes t a view of it. Other views of t's
// old storage stay there. A gradient that saved t before finds that it changed. Package autograd moves parameters
// next to each other with it.
func (t *Tensor) MoveTo(place *Tensor) {
	place.SetInPlace(t)
	place.st.version = max(place.st.version, t.st.version) + 1
	place.st.retain()
	old := t.st
	t.st, t.strides, t.off, t.moored = place.st, place.strides, place.off, true
	old.release()
}

// Moored reports whether t was moved and not unmoored since: two that would move one tensor must not.
func (t *Tensor) Moored() bool { return t.moored }

// Unmoor forgets that t was moved.
func (t *Tensor) Unmoor() { t.moored = false }

// Freed reports whether t was freed.
func (t *Tensor) Freed() bool { return t.freed }

// Version counts the in-place writes to t's storage, through whichever view. Package autograd uses it
// to find values that changed after an operation saved them.
func (t *Tensor) Version() uint64 { return t.st.version }

// Contiguous reports whether t's elements lie in row-major order without gaps.
func (t *Tensor) Contiguous() bool {
	step := 1
	for d := len(t.shape) - 1; d >= 0; d-- {
		if t.shape[d] != 1 && t.strides[d] != step {
			return t.Len() == 0
		}
		step *= t.shape[d]
	}
	return true
}

// check panics unless the tensors can be the operands of op: there, not freed, and on one device.
func check(op string, ts ...*Tensor) Device {
	for _, t := range ts {
		if t == nil {
			panic(&Error{Op: op, Kind: ErrValue, Detail: "a tensor is nil"})
		}
	}
	d := ts[0].st.dev
	for _, t := range ts {
		if t.freed {
			misuse(op, ErrFreed, "keep it with Keep, or free it later", ts...)
		}
		if t.st.dev != d {
			panic(&Error{Op: op, Kind: ErrDevice, Shapes: [][]int{ts[0].shape, t.shape},
				Detail: fmt.Sprintf("%s and %s: copy one with New and Float64s", d.Name(), t.st.dev.Name())})
		}
	}
	return d
}

// Arg passes a contiguous tensor to [Launch], such as that of [Tensor.Packed]; it panics with ErrShape if t has gaps.
func (t *Tensor) Arg() kernels.Arg {
	check("Arg", t)
	if !t.Contiguous() {
		misuse("Arg", ErrShape, "a kernel needs a contiguous tensor: pass that of Packed", t)
	}
	return t.arg()
}

// Run passes n elements of a contiguous tensor from element off on, in row-major order, to [Launch]. It panics with
// ErrShape if t has gaps, and with ErrIndex for elements that t has not.
func (t *Tensor) Run(off, n int) kernels.Arg {
	a := t.Arg()
	if off < 0 || n < 0 || off+n > a.N {
		misuse("Run", ErrIndex, fmt.Sprintf("[%d, %d)", off, off+n), t)
	}
	a.Off, a.N = a.Off+off, n
	return a
}

// Touch counts a write to t's storage by a kernel that [Launch] ran.
func (t *Tensor) Touch() { t.st.version++ }

// arg is the kernel argument for a contiguous tensor.
func (t *Tensor) arg() kernels.Arg { return kernels.Vec(t.st.buf, t.off, t.Len()) }

// Float64s waits for the device and returns the elements in row-major order, in memory of the caller's. The error is
// the device's first failure.
func (t *Tensor) Float64s() ([]float64, error) { return download[float64](t, "Float64s") }

// Float32s is like Float64s, rounding to float32 on a float64 device.
func (t *Tensor) Float32s() ([]float32, error) { return download[float32](t, "Float32s") }

// Item waits for the device and returns the element of a tensor that has one, of any rank. The error is the device's
// first failure. It panics with ErrShape for more elements or none.
func (t *Tensor) Item() (float64, error) {
	check("Item", t)
	if t.Len() != 1 {
		misuse("Item", ErrShape, "only a tensor of one element has an item", t)
	}
	v, err := t.Float64s()
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

func download[T kernels.Real](t *Tensor, op string) ([]T, error) {
	d := check(op, t)
	c := t.contiguous()
	defer c.done()
	if err := d.Err(); err != nil {
		return nil, err
	}
	host := kernels.NewMem(d.Real(), t.Len())
	if err := d.Download(host, c.st.buf, c.off); err != nil {
		return nil, err
	}
	if d.Real() == kernels.Float64 {
		return fromReal[T](kernels.Slice[float64](host, 0, t.Len())), nil
	}
	return fromReal[T](kernels.Slice[float32](host, 0, t.Len())), nil
}

// fromReal converts what a device returned, without a copy where the types agree.
func fromReal[T, From kernels.Real](data []From) []T {
	if same, ok := any(data).([]T); ok {
		return same
	}
	return converted[T](data)
}

// String describes t, its shape and its device, without waiting for its elements.
func (t *Tensor) String() string {
	if t.freed {
		return fmt.Sprintf("tensor %v (freed)", t.shape)
	}
	return fmt.Sprintf("tensor %v on %s", t.shape, t.st.dev.Name())
}
