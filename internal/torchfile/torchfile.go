// Package torchfile reads the tensors of a file of torch.save: a zip archive with a pickle, of which
// nothing is executed, and the memory of each storage.
//
// Source: PyTorch, torch/serialization.py; Python, Lib/pickle.py.
package torchfile

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// ErrFormat is wrapped by the error of a file that is none of torch.save, or damaged.
var ErrFormat = errors.New("no file of PyTorch's state dicts, or a damaged one")

// Array is a tensor: Data is a slice of bool, int8 to int64, uint8 to uint64, a float of package lowbit,
// float16.Float16, bfloat16.BFloat16, float32 or float64, in row-major order.
type Array struct {
	Name  string
	Shape []int
	Data  any
}

// sizes are the bytes of elements, by PyTorch's names of their types.
var sizes = map[string]int{"bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
	"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1,
	"float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, pairs: 1}

// pairs is PyTorch's name of bytes with two floats of four bits each, the first in the low ones.
const pairs = "float4_e2m1fn_x2"

// mostPickle is how many bytes a pickle may have, which holds names and shapes.
const mostPickle = 64 << 20

// Each calls f with each tensor of a file of size bytes. The name of one in a dictionary is its key;
// of one in a dictionary in that, both keys with a point between. What is no tensor is left out. The
// error wraps [ErrFormat], or is of f or r.
func Each(r io.ReaderAt, size int64, f func(Array) error) error {
	a, err := open(r, size)
	if err != nil {
		return err
	}
	value, err := a.pickle()
	if err != nil {
		return err
	}
	found := finder{within: map[any]bool{}}
	if err := found.tensors(value, "", 0); err != nil {
		return formatted("%w", err)
	}
	list := found.list
	seen := map[string]bool{}
	total := int64(0)
	for _, n := range list {
		if seen[n.name] {
			return formatted("two tensors have the name %q", n.name)
		}
		seen[n.name] = true
		if total += n.len() * int64(sizes[n.typ]); total > 16*size+1<<20 {
			return formatted("its tensors take more than sixteen times its size")
		}
	}
	// Each storage is read once.
	slices.SortStableFunc(list, func(a, b named) int { return strings.Compare(a.storage.key, b.storage.key) })
	for _, n := range list {
		data, err := a.read(n.tensor)
		if err != nil {
			return formatted("tensor %q: %w", n.name, err)
		}
		shape := make([]int, len(n.shape))
		for i, d := range n.shape {
			shape[i] = int(d)
		}
		if n.typ == pairs {
			shape[len(shape)-1] *= 2
		}
		if err := f(Array{n.name, shape, data}); err != nil {
			return err
		}
	}
	return nil
}

func formatted(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
}

// archive is an open file.
type archive struct {
	size   int64
	files  map[string]*zip.File // by their names within its folder
	order  binary.ByteOrder
	key    string // of the storage that is held
	memory []byte
}

func open(r io.ReaderAt, size int64) (*archive, error) {
	var begin [2]byte
	if _, err := r.ReadAt(begin[:], 0); err == nil && begin[0] == 0x80 && begin[1] == 2 {
		return nil, formatted("it is of PyTorch before 1.6: load it with torch.load, and save it again")
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, formatted("%w", err)
	}
	a := &archive{size: size, files: map[string]*zip.File{}, order: binary.LittleEndian}
	folder := ""
	for _, f := range z.File {
		if path.Base(f.Name) == "data.pkl" && strings.Count(f.Name, "/") == 1 {
			folder = path.Dir(f.Name) + "/"
		}
	}
	if folder == "" {
		return nil, formatted("the archive has no data.pkl")
	}
	for _, f := range z.File {
		if name, ok := strings.CutPrefix(f.Name, folder); ok {
			a.files[name] = f
		}
		if strings.HasPrefix(f.Name, folder+"code/") || f.Name == folder+"constants.pkl" {
			return nil, formatted("it is a model of torch.jit: save the state dict of the model, as with torch.save(model.state_dict(), path)")
		}
	}
	if f := a.files["byteorder"]; f != nil {
		text, err := a.whole(f, 16)
		if err != nil {
			return nil, err
		}
		if string(text) == "big" {
			a.order = binary.BigEndian
		}
	}
	return a, nil
}

// whole returns a file of the archive, of at most so many bytes.
func (a *archive) whole(f *zip.File, most int64) ([]byte, error) {
	most = min(most, a.size)
	if f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 || f.UncompressedSize64 > uint64(most) {
		return nil, formatted("%s is compressed, or of more than %d bytes", path.Base(f.Name), most)
	}
	r, err := f.Open()
	if err != nil {
		return nil, formatted("%w", err)
	}
	defer r.Close()
	data := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, formatted("%s: %w", path.Base(f.Name), err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil && err != io.EOF { // the checksum
		return nil, formatted("%s: %w", path.Base(f.Name), err)
	}
	return data, nil
}

func (a *archive) pickle() (any, error) {
	text, err := a.whole(a.files["data.pkl"], mostPickle)
	if err != nil {
		return nil, err
	}
	value, err := unpickle(text)
	if err != nil {
		return nil, formatted("%w", err)
	}
	return value, nil
}

// named is a tensor and its name.
type named struct {
	name string
	tensor
}

// finder finds the tensors of a value.
type finder struct {
	list   []named
	within map[any]bool // what is looked through
	seen   int
}

// mostName is how long the name of a tensor may be.
const mostName = 1 << 12

func (f *finder) tensors(v any, name string, depth int) error {
	f.seen++
	switch {
	case depth > mostDepth:
		return fmt.Errorf("values lie in each other more than %d deep", mostDepth)
	case f.seen > mostItems:
		return fmt.Errorf("it has more than %d values", mostItems)
	case len(name) > mostName:
		return fmt.Errorf("a name is longer than %d bytes", mostName)
	}
	join := func(key string) string {
		if name == "" {
			return key
		}
		return name + "." + key
	}
	each := func(items []any) error {
		for i, item := range items {
			if err := f.tensors(item, join(strconv.Itoa(i)), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	switch v := v.(type) {
	case tensor:
		if name == "" {
			name = "tensor"
		}
		f.list = append(f.list, named{name, v})
	case *dict, *list:
		if f.within[v] {
			return fmt.Errorf("%q lies in itself", name)
		}
		f.within[v] = true
		defer delete(f.within, v)
		if l, ok := v.(*list); ok {
			return each(l.items)
		}
		d := v.(*dict)
		for i, key := range d.keys {
			text, ok := key.(string)
			if n, whole := key.(int64); whole {
				text, ok = strconv.FormatInt(n, 10), true
			}
			if !ok {
				continue
			}
			if err := f.tensors(d.values[i], join(text), depth+1); err != nil {
				return err
			}
		}
	case *tuple:
		return each(v.items)
	}
	return nil
}

// read returns the elements of a tensor.
func (a *archive) read(t tensor) (any, error) {
	if a.memory == nil || a.key != t.storage.key {
		f := a.files["data/"+t.storage.key]
		if f == nil {
			return nil, fmt.Errorf("the archive has no storage %q", t.storage.key)
		}
		memory, err := a.whole(f, a.size)
		if err != nil {
			return nil, err
		}
		a.key, a.memory = t.storage.key, memory
	}
	if have := int64(len(a.memory)) / int64(max(1, sizes[t.storage.typ])); have < t.storage.elements {
		return nil, fmt.Errorf("storage %q has %d elements, and says that it has %d", t.storage.key, have, t.storage.elements)
	}
	switch t.typ {
	case "bool":
		return elements(a, t, func(b []byte) bool { return b[0] != 0 }), nil
	case "int8":
		return elements(a, t, byteAs[int8]), nil
	case "uint8":
		return elements(a, t, byteAs[uint8]), nil
	case "int16":
		return elements(a, t, func(b []byte) int16 { return int16(a.order.Uint16(b)) }), nil
	case "uint16":
		return elements(a, t, a.order.Uint16), nil
	case "float16":
		return elements(a, t, func(b []byte) float16.Float16 { return float16.Frombits(a.order.Uint16(b)) }), nil
	case "bfloat16":
		return elements(a, t, func(b []byte) bfloat16.BFloat16 { return bfloat16.BFloat16(a.order.Uint16(b)) }), nil
	case "int32":
		return elements(a, t, func(b []byte) int32 { return int32(a.order.Uint32(b)) }), nil
	case "uint32":
		return elements(a, t, a.order.Uint32), nil
	case "float32":
		return elements(a, t, func(b []byte) float32 { return math.Float32frombits(a.order.Uint32(b)) }), nil
	case "int64":
		return elements(a, t, func(b []byte) int64 { return int64(a.order.Uint64(b)) }), nil
	case "uint64":
		return elements(a, t, a.order.Uint64), nil
	case "float8_e4m3fn":
		return elements(a, t, byteAs[lowbit.Float8E4M3FN]), nil
	case "float8_e5m2":
		return elements(a, t, byteAs[lowbit.Float8E5M2]), nil
	case "float8_e4m3fnuz":
		return elements(a, t, byteAs[lowbit.Float8E4M3FNUZ]), nil
	case "float8_e5m2fnuz":
		return elements(a, t, byteAs[lowbit.Float8E5M2FNUZ]), nil
	case "float8_e8m0fnu":
		return elements(a, t, byteAs[lowbit.Float8E8M0]), nil
	case pairs:
		var data []lowbit.Float4E2M1
		for _, b := range elements(a, t, byteAs[uint8]) {
			data = append(data, lowbit.Float4E2M1(b&15), lowbit.Float4E2M1(b>>4))
		}
		return data, nil
	}
	return elements(a, t, func(b []byte) float64 { return math.Float64frombits(a.order.Uint64(b)) }), nil
}

func byteAs[T ~uint8 | ~int8](b []byte) T { return T(b[0]) }

// elements returns those of a tensor in row-major order.
func elements[T any](a *archive, t tensor, of func(b []byte) T) []T {
	size := int64(sizes[t.typ])
	out := make([]T, t.len())
	index := make([]int64, len(t.shape))
	at := t.offset
	for i := range out {
		out[i] = of(a.memory[at*size:])
		for axis := len(index) - 1; axis >= 0; axis-- {
			index[axis]++
			at += t.strides[axis]
			if index[axis] < t.shape[axis] {
				break
			}
			at -= index[axis] * t.strides[axis]
			index[axis] = 0
		}
	}
	return out
}
