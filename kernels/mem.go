package kernels

import (
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/x448/float16"
)

// Buffer is memory of a device: a *HostBuffer on the Go device, a handle elsewhere.
type Buffer interface {
	DType() DType // of the elements
	Len() int     // elements
}

// HostBuffer is host memory of one element type.
type HostBuffer struct {
	dtype DType
	ptr   unsafe.Pointer
	n     int
}

// NewHostBuffer returns zeroed host memory of n elements.
func NewHostBuffer(t DType, n int) *HostBuffer {
	t = t.Stored()
	words := make([]uint64, (n*t.Size()+7)/8)
	return &HostBuffer{t, unsafe.Pointer(unsafe.SliceData(words)), n}
}

// HostBufferOf returns s as Mem; they share their elements.
func HostBufferOf[T Element](s []T) *HostBuffer {
	return &HostBuffer{DTypeOf[T](), unsafe.Pointer(unsafe.SliceData(s)), len(s)}
}

// DType returns the element type.
func (m *HostBuffer) DType() DType { return m.dtype }

// Len returns the number of elements.
func (m *HostBuffer) Len() int { return m.n }

// Pointer returns the address of the first element, for copies to and from a device.
func (m *HostBuffer) Pointer() unsafe.Pointer { return m.ptr }

// Slice returns elements [off, off+n) of m. It panics unless T is m's element type, or one that
// elements are moved as alike, and the range is within m: either is a bug in a caller.
func Slice[T Element](m *HostBuffer, off, n int) []T {
	if t := DTypeOf[T](); m.dtype != t && m.dtype.Moved() != t.Moved() || off < 0 || n < 0 || off+n > m.n {
		panic("kernels: Slice: " + m.dtype.String() + " memory read as " + DTypeOf[T]().String() + ", or out of its range")
	}
	return unsafe.Slice((*T)(m.ptr), m.n)[off : off+n : off+n]
}

// ViewAs returns the first n elements of type t that fit in words, as Mem over the same memory.
func ViewAs(t DType, words []float64, n int) *HostBuffer {
	if n < 0 || n > len(words)*8/t.Size() {
		panic("kernels: ViewAs: more elements than the memory holds")
	}
	return &HostBuffer{t, unsafe.Pointer(unsafe.SliceData(words)), n}
}

// CopyHostBuffer copies n elements from src to dst, which hold the same type.
func CopyHostBuffer(dst *HostBuffer, dstOff int, src *HostBuffer, srcOff, n int) {
	if dst.dtype != src.dtype || min(n, dstOff, srcOff) < 0 || dstOff+n > dst.n || srcOff+n > src.n {
		panic("kernels: CopyHostBuffer: other types, or out of range")
	}
	size := dst.dtype.Size()
	copy(dst.bytes()[dstOff*size:(dstOff+n)*size], src.bytes()[srcOff*size:])
}

// bytes returns the memory.
func (m *HostBuffer) bytes() []byte { return unsafe.Slice((*byte)(m.ptr), m.n*m.dtype.Size()) }

// elements returns the elements of m, whose type takes as many bytes as T.
func elements[T Element](m *HostBuffer) []T { return unsafe.Slice((*T)(m.ptr), m.n) }

// At returns element i of m as a float64, which holds those of every type but integers of 64 bits
// beyond 2⁵³: they are rounded.
func (m *HostBuffer) At(i int) float64 {
	switch m.dtype {
	case Float32:
		return float64(elements[float32](m)[i])
	case Float64:
		return elements[float64](m)[i]
	case Int8:
		return float64(elements[int8](m)[i])
	case Int16:
		return float64(elements[int16](m)[i])
	case Int32:
		return float64(elements[int32](m)[i])
	case Int64:
		return float64(elements[int64](m)[i])
	case Uint8:
		return float64(elements[uint8](m)[i])
	case Uint16:
		return float64(elements[uint16](m)[i])
	case Uint32:
		return float64(elements[uint32](m)[i])
	case Uint64:
		return float64(elements[uint64](m)[i])
	case Float16:
		return float64(elements[float16.Float16](m)[i].Float32())
	}
	return float64(elements[bfloat16.BFloat16](m)[i].Float32())
}

// Set sets element i of m to v, rounded to nearest; of an integer type, cut off, and to its end
// beyond its range.
func (m *HostBuffer) Set(i int, v float64) {
	switch m.dtype {
	case Float32:
		elements[float32](m)[i] = float32(v)
	case Float64:
		elements[float64](m)[i] = v
	case Int8:
		elements[int8](m)[i] = convert.ToInteger[int8](v)
	case Int16:
		elements[int16](m)[i] = convert.ToInteger[int16](v)
	case Int32:
		elements[int32](m)[i] = convert.ToInteger[int32](v)
	case Int64:
		elements[int64](m)[i] = convert.ToInteger[int64](v)
	case Uint8:
		elements[uint8](m)[i] = convert.ToInteger[uint8](v)
	case Uint16:
		elements[uint16](m)[i] = convert.ToInteger[uint16](v)
	case Uint32:
		elements[uint32](m)[i] = convert.ToInteger[uint32](v)
	case Uint64:
		elements[uint64](m)[i] = convert.ToInteger[uint64](v)
	case Float16:
		elements[float16.Float16](m)[i] = convert.ToFloat16(v)
	default:
		elements[bfloat16.BFloat16](m)[i] = convert.ToBFloat16(v)
	}
}
