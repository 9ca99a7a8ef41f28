package kernels

import (
	"fmt"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// Float is the type of a launch's floats.
type Float interface{ float32 | float64 }

// Element is a type that memory holds. Floats of 16 bits are stored and moved; kernels compute in
// floats.
type Element interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float16.Float16 | bfloat16.BFloat16
}

// DType is the type of elements.
type DType uint8

// The element types. The floats of a launch are Float32 or Float64.
const (
	Float32 DType = iota
	Float64
	Int32
	Uint8
	Float16
	Bool     // 0 and 1, in the memory of a Uint8
	BFloat16 // the upper half of a float32
	Int8
	Int16
	Int64
	Uint16
	Uint32
	Uint64
	Float8E4M3FN // this and what follows is for storage: see [DType.Storage]
	Float8E5M2
	Float8E4M3FNUZ
	Float8E5M2FNUZ
	Float8E8M0
	Float4E2M1
	Int4
	Uint4
	Int2
	Uint2
	dtypes = iota // how many there are
)

// dtypeInfo says everything of a type.
type dtypeInfo struct {
	name    string // NumPy's, and that of its package ml_dtypes
	c       string // in OpenCL C: a float of 16 bits is its bits
	size    int    // bytes
	class   dtypeClass
	widened DType // see Widened
	moved   DType // see Moved
	stored  *storageType
}

type dtypeClass uint8

const (
	floats dtypeClass = iota
	signed
	unsigned
	storage
)

var dtypeTable = [dtypes]dtypeInfo{
	Float32:  {"float32", "REAL", 4, floats, Float32, Float32, nil},
	Float64:  {"float64", "REAL", 8, floats, Float64, Float64, nil},
	Float16:  {"float16", "ushort", 2, floats, Float32, Uint16, nil},
	BFloat16: {"bfloat16", "ushort", 2, floats, Float32, Uint16, nil},
	Bool:     {"bool", "uchar", 1, unsigned, Int32, Uint8, nil},
	Int8:     {"int8", "char", 1, signed, Int32, Uint8, nil},
	Int16:    {"int16", "short", 2, signed, Int32, Uint16, nil},
	Int32:    {"int32", "int", 4, signed, Int32, Int32, nil},
	Int64:    {"int64", "long", 8, signed, Int64, Int64, nil},
	Uint8:    {"uint8", "uchar", 1, unsigned, Int32, Uint8, nil},
	Uint16:   {"uint16", "ushort", 2, unsigned, Int32, Uint16, nil},
	Uint32:   {"uint32", "uint", 4, unsigned, Int64, Int32, nil},
	Uint64:   {"uint64", "ulong", 8, unsigned, Uint64, Int64, nil},

	Float8E4M3FN:   {"float8_e4m3fn", "uchar", 1, storage, Float32, Uint8, storageOf[lowbit.Float8E4M3FN]()},
	Float8E5M2:     {"float8_e5m2", "uchar", 1, storage, Float32, Uint8, storageOf[lowbit.Float8E5M2]()},
	Float8E4M3FNUZ: {"float8_e4m3fnuz", "uchar", 1, storage, Float32, Uint8, storageOf[lowbit.Float8E4M3FNUZ]()},
	Float8E5M2FNUZ: {"float8_e5m2fnuz", "uchar", 1, storage, Float32, Uint8, storageOf[lowbit.Float8E5M2FNUZ]()},
	Float8E8M0:     {"float8_e8m0fnu", "uchar", 1, storage, Float32, Uint8, storageOf[lowbit.Float8E8M0]()},
	Float4E2M1:     {"float4_e2m1fn", "uchar", 1, storage, Float32, Uint8, storageOf[lowbit.Float4E2M1]()},
	Int4:           {"int4", "uchar", 1, storage, Int32, Uint8, storageOf[lowbit.Int4]()},
	Uint4:          {"uint4", "uchar", 1, storage, Int32, Uint8, storageOf[lowbit.Uint4]()},
	Int2:           {"int2", "uchar", 1, storage, Int32, Uint8, storageOf[lowbit.Int2]()},
	Uint2:          {"uint2", "uchar", 1, storage, Int32, Uint8, storageOf[lowbit.Uint2]()},
}

// Size returns the bytes of one element.
func (t DType) Size() int { return dtypeTable[t].size }

// String returns the name that NumPy has for the type, or its package ml_dtypes.
func (t DType) String() string {
	if !t.Valid() {
		return fmt.Sprintf("type %d", uint8(t))
	}
	return dtypeTable[t].name
}

// Valid reports whether t is one of the types.
func (t DType) Valid() bool { return t < dtypes }

// Float reports whether the elements are floats that operations compute with.
func (t DType) Float() bool { return dtypeTable[t].class == floats }

// Integer reports whether the elements are integers that operations compute with, the 0 and 1 of Bool
// among them.
func (t DType) Integer() bool {
	return dtypeTable[t].class == signed || dtypeTable[t].class == unsigned
}

// Storage reports whether t is for storage alone: a float of 8 bits or fewer, or an integer of 4 or 2.
// Operations move such elements, a byte each, and convert them; no other takes them.
func (t DType) Storage() bool { return dtypeTable[t].class == storage }

// Signed reports whether the elements are integers of either sign.
func (t DType) Signed() bool { return dtypeTable[t].class == signed }

// Half reports whether t is a float of 16 bits, which operations compute in float32.
func (t DType) Half() bool { return t == Float16 || t == BFloat16 }

// Computed returns the type that elements are computed in: Float32 of floats of 16 bits, and else t.
func (t DType) Computed() DType {
	if t.Half() {
		return Float32
	}
	return t
}

// Widened returns the type that maps of elements of type t compute in: Float32 of floats of 16 bits,
// Int32 of integers of 16 and fewer, Int64 of Uint32, and else t. It holds all numbers of t.
func (t DType) Widened() DType { return dtypeTable[t].widened }

// Moved returns the type as which elements are moved, whatever they are: Uint8, Uint16, Int32 or
// Int64 by their size, and Float32 and Float64 as themselves.
func (t DType) Moved() DType { return dtypeTable[t].moved }

// Stored returns the type of the memory that holds elements: Uint8 for Bool and types for storage, and
// else t.
func (t DType) Stored() DType {
	if t == Bool || t.Storage() {
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
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case float16.Float16:
		return Float16
	}
	return BFloat16
}
