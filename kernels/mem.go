package kernels

import "unsafe"

// Real is the floating-point type of a device.
type Real interface{ float32 | float64 }

// DType is the type of a buffer's elements.
type DType uint8

// The element types. A device's reals are Float32 or Float64; indices are Int32.
const (
	Float32 DType = iota
	Float64
	Int32
)

// Size returns the bytes of one element.
func (t DType) Size() int {
	if t == Float64 {
		return 8
	}
	return 4
}

// String returns the name that Go has for the type.
func (t DType) String() string { return [...]string{"float32", "float64", "int32"}[t] }

// DTypeOf returns the DType of T.
func DTypeOf[T float32 | float64 | int32]() DType {
	switch any(*new(T)).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	}
	return Int32
}

// Buffer is memory of a device: a *Mem on the Go device, a handle elsewhere.
type Buffer interface {
	DType() DType // of the elements
	Len() int     // elements
}

// Mem is host memory of one element type.
type Mem struct {
	dtype DType
	ptr   unsafe.Pointer
	n     int
}

// NewMem returns zeroed host memory of n elements.
func NewMem(t DType, n int) *Mem {
	switch t {
	case Float32:
		return MemOf(make([]float32, n))
	case Float64:
		return MemOf(make([]float64, n))
	}
	return MemOf(make([]int32, n))
}

// MemOf returns s as Mem; they share their elements.
func MemOf[T float32 | float64 | int32](s []T) *Mem {
	return &Mem{DTypeOf[T](), unsafe.Pointer(unsafe.SliceData(s)), len(s)}
}

// DType returns the element type.
func (m *Mem) DType() DType { return m.dtype }

// Len returns the number of elements.
func (m *Mem) Len() int { return m.n }

// Pointer returns the address of the first element, for copies to and from a device.
func (m *Mem) Pointer() unsafe.Pointer { return m.ptr }

// Slice returns elements [off, off+n) of m. It panics unless T is m's element type and the range is
// within m: either is a bug in a caller.
func Slice[T float32 | float64 | int32](m *Mem, off, n int) []T {
	if m.dtype != DTypeOf[T]() || off < 0 || n < 0 || off+n > m.n {
		panic("kernels: Slice: " + m.dtype.String() + " memory read as " + DTypeOf[T]().String() + ", or out of its range")
	}
	return unsafe.Slice((*T)(m.ptr), m.n)[off : off+n : off+n]
}

// ViewAs returns the first n elements of type t that fit in words, as Mem over the same memory.
func ViewAs(t DType, words []float64, n int) *Mem {
	if n*t.Size() > len(words)*8 {
		panic("kernels: ViewAs: more elements than the memory holds")
	}
	return &Mem{t, unsafe.Pointer(unsafe.SliceData(words)), n}
}

// CopyMem copies n elements from src to dst, which hold the same type.
func CopyMem(dst *Mem, dstOff int, src *Mem, srcOff, n int) {
	switch dst.dtype {
	case Float32:
		copy(Slice[float32](dst, dstOff, n), Slice[float32](src, srcOff, n))
	case Float64:
		copy(Slice[float64](dst, dstOff, n), Slice[float64](src, srcOff, n))
	default:
		copy(Slice[int32](dst, dstOff, n), Slice[int32](src, srcOff, n))
	}
}

// At returns element i of m as a float64.
func (m *Mem) At(i int) float64 {
	switch m.dtype {
	case Float32:
		return float64(Slice[float32](m, i, 1)[0])
	case Float64:
		return Slice[float64](m, i, 1)[0]
	}
	return float64(Slice[int32](m, i, 1)[0])
}
