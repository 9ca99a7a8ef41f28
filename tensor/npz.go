package tensor

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// ErrFormat is what a file is that is damaged, or holds what does not fit a tensor.
var ErrFormat = npz.ErrFormat

// Dict is tensors by name: the state of a network or an optimizer.
type Dict map[string]*Tensor

// Sub returns the tensors whose names begin with prefix, by the rest of their names: those of a part
// of a model, or of a dictionary in a checkpoint.
//
//	checkpoint, err := tensor.LoadPyTorch(d, "run.pt") // {"epoch": 3, "model": {"conv.weight": …}}
//	err = nn.LoadStateDict(net, checkpoint.Sub("model."))
func (d Dict) Sub(prefix string) Dict {
	sub := Dict{}
	for name, t := range d {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			sub[rest] = t
		}
	}
	return sub
}

// SaveNPZ writes tensors as a NumPy archive, readable by numpy.load, each in its own type. The file is
// complete or not there. A BFloat16 and types for storage are errors: NumPy has no name for them.
func SaveNPZ(path string, tensors Dict) error {
	if err := atomicfile.Write(path, func(w io.Writer) error { return WriteNPZ(w, tensors) }); err != nil {
		return fmt.Errorf("tensor: save: %w", err)
	}
	return nil
}

// WriteNPZ is SaveNPZ to w. Equal tensors make equal bytes.
func WriteNPZ(w io.Writer, tensors Dict) error {
	arrays := map[string]npz.Array{}
	for name, t := range tensors {
		a, err := toArray("WriteNPZ", t)
		if err != nil {
			return err
		}
		arrays[name] = a
	}
	return npz.Write(w, arrays)
}

// toArray waits for the device and returns t as an array of a file.
func toArray(op string, t *Tensor) (npz.Array, error) {
	host, err := t.download(op)
	if err != nil {
		return npz.Array{}, err
	}
	a := npz.Array{Shape: t.Shape()}
	switch n := t.Len(); t.typ {
	case Bool:
		a.Data, err = t.Bools()
	case Float32:
		a.Data = kernels.Slice[float32](host, 0, n)
	case Float64:
		a.Data = kernels.Slice[float64](host, 0, n)
	case Float16:
		a.Data = kernels.Slice[float16.Float16](host, 0, n)
	case BFloat16:
		a.Data = kernels.Slice[bfloat16.BFloat16](host, 0, n)
	case Int8:
		a.Data = kernels.Slice[int8](host, 0, n)
	case Int16:
		a.Data = kernels.Slice[int16](host, 0, n)
	case Int32:
		a.Data = kernels.Slice[int32](host, 0, n)
	case Int64:
		a.Data = kernels.Slice[int64](host, 0, n)
	case Uint8:
		a.Data = kernels.Slice[uint8](host, 0, n)
	case Uint16:
		a.Data = kernels.Slice[uint16](host, 0, n)
	case Uint32:
		a.Data = kernels.Slice[uint32](host, 0, n)
	case Uint64:
		a.Data = kernels.Slice[uint64](host, 0, n)
	default:
		a.Data = storedAs(t.typ, kernels.Slice[uint8](host, 0, n))
	}
	return a, err
}

// LoadNPZ reads a NumPy archive onto a device, whichever order its bytes and axes have.
// Arrays keep their type: bool, integers of 8 to 64 bits, and floats of 16 to 64. Float64 is an error
// where the device has none. A damaged file, or another type, is an error that wraps ErrFormat and names
// the array and its type. No tensor is left behind.
func LoadNPZ(d Device, path string) (Dict, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tensor: load: %w", err)
	}
	defer f.Close()
	tensors, err := ReadNPZ(d, f, size)
	if err != nil {
		return nil, fmt.Errorf("tensor: load %s: %w", path, err)
	}
	return tensors, nil
}

// ReadNPZ is LoadNPZ from size bytes of r.
func ReadNPZ(d Device, r io.ReaderAt, size int64) (Dict, error) {
	arrays, err := npz.Read(r, size)
	if err != nil {
		return nil, err
	}
	tensors := Dict{}
	for name, a := range arrays {
		t, err := fromArray(d, a)
		if err != nil {
			for _, t := range tensors {
				t.Free()
			}
			return nil, fmt.Errorf("%w: array %q: %w", ErrFormat, name, err)
		}
		tensors[name] = t
	}
	return tensors, nil
}

// fromArray returns an array of a file as a tensor.
func fromArray(d Device, a npz.Array) (*Tensor, error) {
	switch data := a.Data.(type) {
	case []bool:
		return fromData(d, data, a.Shape)
	case []int8:
		return fromData(d, data, a.Shape)
	case []int16:
		return fromData(d, data, a.Shape)
	case []int32:
		return fromData(d, data, a.Shape)
	case []int64:
		return fromData(d, data, a.Shape)
	case []uint8:
		return fromData(d, data, a.Shape)
	case []uint16:
		return fromData(d, data, a.Shape)
	case []uint32:
		return fromData(d, data, a.Shape)
	case []uint64:
		return fromData(d, data, a.Shape)
	case []float16.Float16:
		return fromData(d, data, a.Shape)
	case []bfloat16.BFloat16:
		return fromData(d, data, a.Shape)
	case []float32:
		return fromData(d, data, a.Shape)
	case []float64:
		return fromData(d, data, a.Shape)
	case []lowbit.Float8E4M3FN:
		return fromData(d, data, a.Shape)
	case []lowbit.Float8E5M2:
		return fromData(d, data, a.Shape)
	case []lowbit.Float8E4M3FNUZ:
		return fromData(d, data, a.Shape)
	case []lowbit.Float8E5M2FNUZ:
		return fromData(d, data, a.Shape)
	case []lowbit.Float8E8M0:
		return fromData(d, data, a.Shape)
	}
	return fromData(d, a.Data.([]lowbit.Float4E2M1), a.Shape)
}

func fromData[T Element](d Device, data []T, shape []int) (t *Tensor, err error) {
	err = Try(func() { t = New(d, data, append([]int{}, shape...)...) }) // never nil: a scalar has no axes
	if errors.Is(err, ErrShape) {
		err = fmt.Errorf("shape %v does not fit: a tensor has at most %d axes and 2³¹−1 elements", shape, MaxRank)
	}
	return t, err
}

// WriteNPY writes one tensor in NumPy's format for a single array. The errors are those of w, and
// the device's first failure.
func WriteNPY(w io.Writer, t *Tensor) error {
	a, err := toArray("WriteNPY", t)
	if err != nil {
		return err
	}
	return npz.WriteOne(w, a)
}

// ReadNPY reads a file of one array, as LoadNPZ does of many. Of r it reads no more than that, and
// a byte that may follow.
func ReadNPY(d Device, r io.Reader) (*Tensor, error) {
	a, err := npz.ReadStream(r)
	if err != nil {
		return nil, fmt.Errorf("tensor: read npy: %w", err)
	}
	t, err := fromArray(d, a)
	if err != nil {
		return nil, fmt.Errorf("tensor: read npy: %w: %w", ErrFormat, err)
	}
	return t, nil
}
