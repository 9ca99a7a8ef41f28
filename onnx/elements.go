package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// typeTable maps the types of elements to those of tensors. Strings and complex numbers are no tensors.
var typeTable = map[onnxpb.DataType]tensor.Type{
	onnxpb.Float: tensor.Float32, onnxpb.Double: tensor.Float64, onnxpb.Float16: tensor.Float16, onnxpb.BFloat16: tensor.BFloat16,
	onnxpb.Bool: tensor.Bool, onnxpb.Int8: tensor.Int8, onnxpb.Int16: tensor.Int16, onnxpb.Int32: tensor.Int32, onnxpb.Int64: tensor.Int64,
	onnxpb.Uint8: tensor.Uint8, onnxpb.Uint16: tensor.Uint16, onnxpb.Uint32: tensor.Uint32, onnxpb.Uint64: tensor.Uint64,
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
	err = tensor.Try(func() { y = upload(d, typ, raw, shape) })
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return y, nil
}

// upload returns little-endian elements as a tensor.
func upload(d tensor.Device, typ tensor.Type, raw []byte, shape []int) *tensor.Tensor {
	switch typ {
	case tensor.Float32:
		return tensor.New(d, elements[float32](raw), shape...)
	case tensor.Float64:
		return tensor.New(d, elements[float64](raw), shape...)
	case tensor.Float16:
		return tensor.New(d, elements[float16.Float16](raw), shape...)
	case tensor.BFloat16:
		return tensor.New(d, elements[bfloat16.BFloat16](raw), shape...)
	case tensor.Int8:
		return tensor.New(d, elements[int8](raw), shape...)
	case tensor.Int16:
		return tensor.New(d, elements[int16](raw), shape...)
	case tensor.Int32:
		return tensor.New(d, elements[int32](raw), shape...)
	case tensor.Int64:
		return tensor.New(d, elements[int64](raw), shape...)
	case tensor.Uint8:
		return tensor.New(d, raw, shape...)
	case tensor.Uint16:
		return tensor.New(d, elements[uint16](raw), shape...)
	case tensor.Uint32:
		return tensor.New(d, elements[uint32](raw), shape...)
	case tensor.Uint64:
		return tensor.New(d, elements[uint64](raw), shape...)
	}
	bools := make([]bool, len(raw))
	for i, b := range raw {
		bools[i] = b != 0
	}
	return tensor.New(d, bools, shape...)
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
	switch t.Type() {
	case tensor.Float32:
		return moved[float32](d, t)
	case tensor.Float64:
		return moved[float64](d, t)
	case tensor.Float16:
		return moved[float16.Float16](d, t)
	case tensor.BFloat16:
		return moved[bfloat16.BFloat16](d, t)
	case tensor.Int8:
		return moved[int8](d, t)
	case tensor.Int16:
		return moved[int16](d, t)
	case tensor.Int32:
		return moved[int32](d, t)
	case tensor.Int64:
		return moved[int64](d, t)
	case tensor.Uint8:
		return moved[uint8](d, t)
	case tensor.Uint16:
		return moved[uint16](d, t)
	case tensor.Uint32:
		return moved[uint32](d, t)
	case tensor.Uint64:
		return moved[uint64](d, t)
	}
	x, err := t.Bools()
	if err != nil {
		return nil, err
	}
	return tensor.New(d, x, t.Shape()...), nil
}

func moved[T tensor.Element](d tensor.Device, t *tensor.Tensor) (*tensor.Tensor, error) {
	x, err := tensor.Read[T](t)
	if err != nil {
		return nil, err
	}
	return tensor.New(d, x, t.Shape()...), nil
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
