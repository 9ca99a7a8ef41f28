package data

import (
	"fmt"
	"io"

	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/x448/float16"
)

// LoadNPZ reads the arrays of a NumPy archive by name, as tensor.LoadNPZ reads tensors: booleans
// and uint8 as uint8, other integers as int32, floats as they are; a number without an axis is one
// row. A damaged file, another type or an integer beyond int32 is an error that wraps
// tensor.ErrFormat and names the array.
func LoadNPZ(path string) (map[string]Array, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: load: %w", err)
	}
	defer f.Close()
	arrays, err := ReadNPZ(f, size)
	if err != nil {
		return nil, fmt.Errorf("data: load %s: %w", path, err)
	}
	return arrays, nil
}

// ReadNPZ is LoadNPZ from size bytes of r.
func ReadNPZ(r io.ReaderAt, size int64) (map[string]Array, error) {
	files, err := npz.Read(r, size)
	if err != nil {
		return nil, err
	}
	arrays := map[string]Array{}
	for name, a := range files {
		if len(a.Shape) == 0 {
			a.Shape = []int{1}
		}
		arrays[name] = arrayOf(a.Data, a.Shape)
	}
	return arrays, nil
}

// arrayOf returns a slice of an element type as an array.
func arrayOf(held any, shape []int) Array {
	switch data := held.(type) {
	case []bool:
		return New(data, shape...)
	case []uint8:
		return New(data, shape...)
	case []int8:
		return New(data, shape...)
	case []int16:
		return New(data, shape...)
	case []int32:
		return New(data, shape...)
	case []int64:
		return New(data, shape...)
	case []uint16:
		return New(data, shape...)
	case []uint32:
		return New(data, shape...)
	case []uint64:
		return New(data, shape...)
	case []float16.Float16:
		return New(data, shape...)
	case []float32:
		return New(data, shape...)
	}
	return New(held.([]float64), shape...)
}
