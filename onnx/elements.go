package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// typeTable maps the types of elements to those of tensors. Strings and complex numbers are no tensors.
var typeTable = map[onnxpb.DataType]tensor.Type{
	onnxpb.Float: tensor.Float32, onnxpb.Double: tensor.Float64, onnxpb.Float16: tensor.Float16, onnxpb.BFloat16: tensor.BFloat16,
	onnxpb.Bool: tensor.Bool, onnxpb.Int8: tensor.Int8, onnxpb.Int16: tensor.Int16, onnxpb.Int32: tensor.Int32, onnxpb.Int64: tensor.Int64,
	onnxpb.Uint8: tensor.Uint8, onnxpb.Uint16: tensor.Uint16, onnxpb.Uint32: tensor.Uint32, onnxpb.Uint64: tensor.Uint64,
	onnxpb.Float8E4M3FN: tensor.Float8E4M3FN, onnxpb.Float8E4M3FNUZ: tensor.Float8E4M3FNUZ, onnxpb.Float8E5M2: tensor.Float8E5M2,
	onnxpb.Float8E5M2FNUZ: tensor.Float8E5M2FNUZ, onnxpb.Float8E8M0: tensor.Float8E8M0, onnxpb.Float4E2M1: tensor.Float4E2M1,
	onnxpb.Int4: tensor.Int4, onnxpb.Uint4: tensor.Uint4, onnxpb.Int2: tensor.Int2, onnxpb.Uint2: tensor.Uint2,
}

// elementTable says how elements of a type come to a device from a file, and from another device.
var elementTable = map[tensor.Type]elementType{
	tensor.Bool:    {uploadBools, copyBools},
	tensor.Float32: elementsOf[float32](), tensor.Float64: elementsOf[float64](),
	tensor.Float16: elementsOf[float16.Float16](), tensor.BFloat16: elementsOf[bfloat16.BFloat16](),
	tensor.Int8: elementsOf[int8](), tensor.Int16: elementsOf[int16](), tensor.Int32: elementsOf[int32](), tensor.Int64: elementsOf[int64](),
	tensor.Uint8: elementsOf[uint8](), tensor.Uint16: elementsOf[uint16](), tensor.Uint32: elementsOf[uint32](), tensor.Uint64: elementsOf[uint64](),
	tensor.Float8E4M3FN: elementsOf[lowbit.Float8E4M3FN](), tensor.Float8E4M3FNUZ: elementsOf[lowbit.Float8E4M3FNUZ](),
	tensor.Float8E5M2: elementsOf[lowbit.Float8E5M2](), tensor.Float8E5M2FNUZ: elementsOf[lowbit.Float8E5M2FNUZ](),
	tensor.Float8E8M0: elementsOf[lowbit.Float8E8M0](), tensor.Float4E2M1: elementsOf[lowbit.Float4E2M1](),
	tensor.Int4: elementsOf[lowbit.Int4](), tensor.Uint4: elementsOf[lowbit.Uint4](), tensor.Int2: elementsOf[lowbit.Int2](), tensor.Uint2: elementsOf[lowbit.Uint2](),
}

type elementType struct {
	upload func(d tensor.Device, raw []byte, shape []int) *tensor.Tensor
	copy   func(d tensor.Device, t *tensor.Tensor) (*tensor.Tensor, error)
}

func elementsOf[T tensor.Element]() elementType {
	return elementType{
		upload: func(d tensor.Device, raw []byte, shape []int) *tensor.Tensor {
			return tensor.New(d, elements[T](raw), shape...)
		},
		copy: func(d tensor.Device, t *tensor.Tensor) (*tensor.Tensor, error) {
			x, err := tensor.Read[T](t)
			if err != nil {
				return nil, err
			}
			return tensor.New(d, x, t.Shape()...), nil
		},
	}
}

func uploadBools(d tensor.Device, raw []byte, shape []int) *tensor.Tensor {
	bools := make([]bool, len(raw))
	for i, b := range raw {
		bools[i] = b != 0
	}
	return tensor.New(d, bools, shape...)
}

func copyBools(d tensor.Device, t *tensor.Tensor) (*tensor.Tensor, error) {
	x, err := t.Bools()
	if err != nil {
		return nil, err
	}
	return tensor.New(d, x, t.Shape()...), nil
}

// typeOf returns the type of tensors whose elements are of an ONNX type.
func typeOf(t onnxpb.DataType) (tensor.Type, error) {
	if typ, ok := typeTable[t]; ok {
		return typ, nil
	}
	return 0, fmt.Errorf("%w: elements of type %v", ErrUnsupported, t)
}

// dataTypeOf is the inverse of typeOf.
func dataTypeOf(t tensor.Type) onnxpb.DataType {
	for data, typ := range typeTable {
		if typ == t {
			return data
		}
	}
	return onnxpb.Undefined
}

// newTensor returns the elements of a tensor of a file on a device. dir is where external data may be.
func newTensor(d tensor.Device, t *onnxpb.Tensor, dir string) (*tensor.Tensor, error) {
	var outside []byte
	if t.Outside {
		var err error
		if outside, err = readExternal(t, dir); err != nil {
			return nil, err
		}
	}
	typ, err := typeOf(t.Type)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	raw, err := t.Bytes(outside)
	if err != nil {
		return nil, err
	}
	shape := make([]int, len(t.Dims))
	for i, n := range t.Dims {
		shape[i] = int(n)
	}
	var y *tensor.Tensor
	if t.Type.Bits() < 8 {
		n, _ := t.Len() // Bytes has found it
		raw = unpacked(t.Type, raw, n)
	}
	err = tensor.Try(func() { y = elementTable[typ].upload(d, raw, shape) })
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return y, nil
}

// unpacked returns elements of 4 or 2 bits, packed from the low bits of a byte on, as one of n a byte. Those of signed
// integers have their sign.
func unpacked(t onnxpb.DataType, raw []byte, n int) []byte {
	bits := t.Bits()
	x := make([]byte, n)
	for i := range x {
		b := raw[i*bits/8] >> (i * bits % 8) << (8 - bits) // in the high bits
		if t == onnxpb.Int4 || t == onnxpb.Int2 {
			x[i] = byte(int8(b) >> (8 - bits))
		} else {
			x[i] = b >> (8 - bits)
		}
	}
	return x
}

// elements returns bytes as numbers in memory that is aligned for them. Every processor that Go programs of this
// module run on is little-endian, as ONNX is.
func elements[T any](raw []byte) []T {
	size := int(unsafe.Sizeof(*new(T)))
	x := make([]T, len(raw)/size)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size), raw)
	return x
}

// copied returns a copy of t on another device.
func copied(d tensor.Device, t *tensor.Tensor) (*tensor.Tensor, error) {
	return elementTable[t.Type()].copy(d, t)
}

// readExternal reads elements that a file beside the model holds.
func readExternal(t *onnxpb.Tensor, dir string) ([]byte, error) {
	var location string
	offset, length := int64(0), int64(-1)
	for _, e := range t.External {
		var err error
		switch e.Key {
		case "location":
			location = e.Value
		case "offset":
			offset, err = strconv.ParseInt(e.Value, 10, 64)
		case "length":
			length, err = strconv.ParseInt(e.Value, 10, 64)
		}
		if err != nil || offset < 0 {
			return nil, fmt.Errorf("%w: tensor %q: external data has %s %q", ErrFormat, t.Name, e.Key, e.Value)
		}
	}
	if dir == "" {
		return nil, fmt.Errorf("%w: tensor %q is in the file %q, and a model of bytes has no folder: use Open", ErrFormat, t.Name, location)
	}
	if !filepath.IsLocal(location) {
		return nil, fmt.Errorf("%w: tensor %q is in the file %q, which is not within the model's folder", ErrFormat, t.Name, location)
	}
	root, err := os.OpenRoot(dir) // follows no link out of the folder
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(location))
	if err != nil {
		return nil, fmt.Errorf("tensor %q: external data: %w", t.Name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if length < 0 {
		length = info.Size() - offset
	}
	if length < 0 || offset > info.Size()-length {
		return nil, fmt.Errorf("%w: tensor %q: external data of %d bytes from %d on are not in %q, which has %d", ErrFormat, t.Name, length, offset, location, info.Size())
	}
	b := make([]byte, length)
	_, err = f.ReadAt(b, offset)
	return b, err
}
