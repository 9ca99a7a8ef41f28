package kernels

import (
	"fmt"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/x448/float16"
)

// Real is the type of a launch's reals.
type Real interface{ float32 | float64 }

// Element is a type that memory holds. Floats of 16 bits are stored and moved; kernels compute in
// reals.
type Element interface {
	float32 | float64 | int32 | uint8 | float16.Float16 | bfloat16.BFloat16
}

// DType is the type of elements.
type DType uint8

// The element types. The reals of a launch are Float32 or Float64.
const (
	Float32 DType = iota
	Float64
	Int32
	Uint8
	Float16
	Bool            // 0 and 1, in the memory of a Uint8
	BFloat16        // the upper half of a float32
	dtypes   = iota // how many there are
)

// Size returns the bytes of one element.
func (t DType) Size() int { return [dtypes]int{4, 8, 4, 1, 2, 1, 2}[t] }

// String returns the name that NumPy has for the type.
func (t DType) String() string {
	if !t.Valid() {
		return fmt.Sprintf("type %d", uint8(t))
	}
	return [dtypes]string{"float32", "float64", "int32", "uint8", "float16", "bool", "bfloat16"}[t]
}

// Valid reports whether t is one of the types.
func (t DType) Valid() bool { return t < dtypes }

// Float reports whether the elements are floats.
func (t DType) Float() bool { return t == Float32 || t == Float64 || t.Half() }

// Integer reports whether the elements are integers, the 0 and 1 of Bool among them.
func (t DType) Integer() bool { return t == Int32 || t == Uint8 || t == Bool }

// Half reports whether t is a float of 16 bits, which operations compute in float32.
func (t DType) Half() bool { return t == Float16 || t == BFloat16 }

// Computed returns the type that elements are computed in: float32 of floats of 16 bits, and else t.
func (t DType) Computed() DType {
	if t.Half() {
		return Float32
	}
	return t
}

// Stored returns the type of the memory that holds elements: Uint8 for Bool, and else t.
func (t DType) Stored() DType {
	if t == Bool {
		return Uint8
	}
	return t
}

// DTypeOf returns the DType of T.
func DTypeOf[T Element]() DType {
	switch any(*new(T)).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int32:
		return Int32
	case uint8:
		return Uint8
	case float16.Float16:
		return Float16
	}
	return BFloat16
}

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
	switch t {
	case Float32:
		return HostBufferOf(make([]float32, n))
	case Float64:
		return HostBufferOf(make([]float64, n))
	case Int32:
		return HostBufferOf(make([]int32, n))
	case Uint8, Bool:
		return HostBufferOf(make([]uint8, n))
	case Float16:
		return HostBufferOf(make([]float16.Float16, n))
	}
	return HostBufferOf(make([]bfloat16.BFloat16, n))
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

// Slice returns elements [off, off+n) of m. It panics unless T is m's element type and the range is
// within m: either is a bug in a caller.
func Slice[T Element](m *HostBuffer, off, n int) []T {
	if m.dtype != DTypeOf[T]() || off < 0 || n < 0 || off+n > m.n {
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
	switch dst.dtype {
	case Float32:
		copyHostBuffer[float32](dst, dstOff, src, srcOff, n)
	case Float64:
		copyHostBuffer[float64](dst, dstOff, src, srcOff, n)
	case Int32:
		copyHostBuffer[int32](dst, dstOff, src, srcOff, n)
	case Uint8:
		copyHostBuffer[uint8](dst, dstOff, src, srcOff, n)
	case Float16:
		copyHostBuffer[float16.Float16](dst, dstOff, src, srcOff, n)
	default:
		copyHostBuffer[bfloat16.BFloat16](dst, dstOff, src, srcOff, n)
	}
}

func copyHostBuffer[T Element](dst *HostBuffer, dstOff int, src *HostBuffer, srcOff, n int) {
	copy(Slice[T](dst, dstOff, n), Slice[T](src, srcOff, n))
}

// At returns element i of m as a float64, which holds every element type.
func (m *HostBuffer) At(i int) float64 {
	switch m.dtype {
	case Float32:
		return float64(Slice[float32](m, i, 1)[0])
	case Float64:
		return Slice[float64](m, i, 1)[0]
	case Int32:
		return float64(Slice[int32](m, i, 1)[0])
	case Uint8:
		return float64(Slice[uint8](m, i, 1)[0])
	case Float16:
		return float64(Slice[float16.Float16](m, i, 1)[0].Float32())
	}
	return float64(Slice[bfloat16.BFloat16](m, i, 1)[0].Float32())
}

// Set sets element i of m to v, rounded to nearest; of an integer type, cut off, and to its end
// beyond its range.
func (m *HostBuffer) Set(i int, v float64) {
	switch m.dtype {
	case Float32:
		Slice[float32](m, i, 1)[0] = float32(v)
	case Float64:
		Slice[float64](m, i, 1)[0] = v
	case Int32:
		Slice[int32](m, i, 1)[0] = convert.ToInt32(v)
	case Uint8:
		Slice[uint8](m, i, 1)[0] = convert.ToUint8(v)
	case Float16:
		Slice[float16.Float16](m, i, 1)[0] = convert.ToFloat16(v)
	default:
		Slice[bfloat16.BFloat16](m, i, 1)[0] = convert.ToBFloat16(v)
	}
}
