package torchfile

import (
	"fmt"
	"math"
)

// storage is the memory of tensors, a file of the archive.
type storage struct {
	key      string
	typ      string // of the elements, "" if the tensors say it
	elements int64  // of bytes, if they say it
}

// tensor is a view of a storage.
type tensor struct {
	storage        storage
	typ            string
	offset         int64
	shape, strides []int64
}

// storageTypes are the elements of storages by the names of their classes in package torch.
var storageTypes = map[string]string{
	"FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
	"LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
	"BoolStorage": "bool",
}

// storageOf returns the storage that a pickle names: ("storage", class, key, device, elements).
func storageOf(id any) (storage, error) {
	t, ok := id.(*tuple)
	if !ok || len(t.items) < 5 || t.items[0] != "storage" {
		return storage{}, fmt.Errorf("it names something outside that is no storage")
	}
	class, ok := t.items[1].(global)
	key, ok2 := t.items[2].(string)
	n, ok3 := t.items[4].(int64)
	if !ok || !ok2 || !ok3 || n < 0 {
		return storage{}, fmt.Errorf("it names a storage in a way that is not known")
	}
	typ, known := storageTypes[class.name]
	if !known && class.name != "UntypedStorage" {
		return storage{}, fmt.Errorf("it has elements of torch.%s, which tensors here have not", class.name)
	}
	return storage{key, typ, n}, nil
}

// rebuilt returns the tensor of the arguments of _rebuild_tensor_v2: storage, offset, shape, strides, …
// A type is that of elements of a storage without one.
func rebuilt(a []any, typ any) (any, error) {
	if len(a) < 4 {
		return nil, fmt.Errorf("it has a tensor of too few values")
	}
	s, ok := a[0].(storage)
	offset, ok2 := a[1].(int64)
	shape, err := integers(a[2])
	if err != nil || !ok || !ok2 {
		return nil, fmt.Errorf("it has a tensor in a way that is not known")
	}
	strides, err := integers(a[3])
	if err != nil || len(strides) != len(shape) {
		return nil, fmt.Errorf("it has a tensor with %d axes and %d strides", len(shape), len(strides))
	}
	t := tensor{s, s.typ, offset, shape, strides}
	if t.typ == "" {
		g, ok := typ.(global)
		if !ok || g.module != "torch" {
			return nil, fmt.Errorf("it has a tensor without a type")
		}
		t.typ = g.name
	}
	return t, t.check()
}

func integers(v any) ([]int64, error) {
	t, ok := v.(*tuple)
	if !ok {
		return nil, fmt.Errorf("no tuple")
	}
	list := make([]int64, len(t.items))
	for i, item := range t.items {
		if list[i], ok = item.(int64); !ok {
			return nil, fmt.Errorf("no integer")
		}
	}
	return list, nil
}

// check returns an error unless the tensor lies within its storage.
func (t tensor) check() error {
	size, ok := sizes[t.typ]
	if !ok {
		return fmt.Errorf("it has elements of torch.%s, which tensors here have not", t.typ)
	}
	if last := len(t.shape) - 1; t.typ == pairs && (last < 0 || t.shape[last] > 1 && t.strides[last] != 1) {
		return fmt.Errorf("it has a tensor of torch.%s whose last axis is not contiguous: pairs are along that", pairs)
	}
	have := t.storage.elements
	if t.storage.typ == "" {
		have /= int64(size)
	}
	n, last := int64(1), t.offset
	for i, d := range t.shape {
		if d < 0 || t.strides[i] < 0 || d > math.MaxInt32 || t.strides[i] > math.MaxInt32 {
			return fmt.Errorf("it has a tensor of shape %v with strides %v", t.shape, t.strides)
		}
		if n *= d; n > math.MaxInt32 {
			return fmt.Errorf("it has a tensor of shape %v: elements are at most %d", t.shape, math.MaxInt32)
		}
		last += max(d-1, 0) * t.strides[i]
	}
	if t.offset < 0 || n > 0 && (last < 0 || last >= have) {
		return fmt.Errorf("it has a tensor of shape %v, strides %v from element %d on, of a storage of %d", t.shape, t.strides, t.offset, have)
	}
	return nil
}

func (t tensor) len() int64 {
	n := int64(1)
	for _, d := range t.shape {
		n *= d
	}
	return n
}
