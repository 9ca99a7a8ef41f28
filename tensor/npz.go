package tensor

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/kernels"
)

// Dict is tensors by name: the state of a network or an optimizer.
type Dict map[string]*Tensor

// SaveNPZ writes tensors as a NumPy archive, readable by numpy.load, in the real type of their device.
// The file is complete or not there. A tensor with several axes and no elements cannot be saved.
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
		a, err := toArray(t)
		if err != nil {
			return err
		}
		arrays[name] = a
	}
	return npz.Write(w, arrays)
}

// toArray waits for the device and returns t as an array of an npz file.
func toArray(t *Tensor) (npz.Array, error) {
	if t.Device().Real() == kernels.Float64 {
		data, err := t.Float64s()
		return npz.Array{Shape: t.Shape(), Data: data}, err
	}
	data, err := t.Float32s()
	return npz.Array{Shape: t.Shape(), Data: data}, err
}

// LoadNPZ reads a NumPy archive of float32 or float64 arrays in C order onto a device. A damaged file is
// an error, and no tensor is left behind.
func LoadNPZ(d Device, path string) (Dict, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tensor: load: %w", err)
	}
	tensors, err := ReadNPZ(d, bytes.NewReader(raw), int64(len(raw)))
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
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		tensors[name] = t
	}
	return tensors, nil
}

func fromArray(d Device, a npz.Array) (t *Tensor, err error) {
	shape := append([]int{}, a.Shape...) // never nil: a scalar has no axes
	err = Maybe(func() {
		switch data := a.Data.(type) {
		case []float32:
			t = New(d, data, shape...)
		case []float64:
			t = New(d, data, shape...)
		}
	})
	if err == nil && t == nil {
		err = fmt.Errorf("%w: elements are %T, not floats", npz.ErrFormat, a.Data)
	}
	return t, err
}

// WriteNPY writes one tensor in NumPy's format for a single array. The errors are those of w, and the device's first
// failure.
func WriteNPY(w io.Writer, t *Tensor) error {
	a, err := toArray(t)
	if err != nil {
		return err
	}
	return npz.WriteOne(w, a)
}

// ReadNPY reads one array of float32 or float64 in C order onto a device.
func ReadNPY(d Device, r io.Reader) (*Tensor, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("tensor: read npy: %w", err)
	}
	a, err := npz.ReadOne(raw)
	if err != nil {
		return nil, fmt.Errorf("tensor: read npy: %w", err)
	}
	return fromArray(d, a)
}
