package onnxpb

import "fmt"

// DataType is TensorProto.DataType.
type DataType int32

// The types of elements, by the specification's numbers.
const (
	Undefined DataType = iota
	Float
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Double
	Uint32
	Uint64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	Uint4
	Int4
	Float4E2M1
	Float8E8M0
	Uint2
	Int2
	dataTypes = iota
)

var dataTypeTable = [dataTypes]struct {
	name string
	bits int // 0: of no fixed length
}{
	{"undefined", 0}, {"float", 32}, {"uint8", 8}, {"int8", 8}, {"uint16", 16}, {"int16", 16}, {"int32", 32}, {"int64", 64},
	{"string", 0}, {"bool", 8}, {"float16", 16}, {"double", 64}, {"uint32", 32}, {"uint64", 64}, {"complex64", 64},
	{"complex128", 128}, {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8},
	{"uint4", 4}, {"int4", 4}, {"float4e2m1", 4}, {"float8e8m0", 8}, {"uint2", 2}, {"int2", 2},
}

// Valid reports whether t is a type that the specification has.
func (t DataType) Valid() bool { return t > Undefined && t < dataTypes }

// String returns the specification's name.
func (t DataType) String() string {
	if !t.Valid() {
		return fmt.Sprintf("data type %d", int32(t))
	}
	return dataTypeTable[t].name
}

// Bits returns the bits of an element in a file, 0 of a string.
func (t DataType) Bits() int {
	if !t.Valid() {
		return 0
	}
	return dataTypeTable[t].bits
}
