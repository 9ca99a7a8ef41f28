// Package npz reads and writes NumPy archives of named arrays. It writes through npyio, to which it adds shapes of any
// rank, and turns every way in which a file can be damaged into an error. What an archive holds is known from its
// directory and the headers of its arrays, before memory is asked for.
package npz

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"
)

// ErrFormat is what a file is that is damaged or holds what this package does not read.
var ErrFormat = errors.New("not a readable npz file")

// Array is one array in row-major order: its Data is a []float32, a []float64, a []uint8, a
// []int8 or a []uint16.
type Array struct {
	Shape []int
	Data  any
}

// Len returns the number of elements that a shape has.
func Len(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Write writes arrays in the order of their names, so that equal contents make equal bytes. An array
// with several axes and no elements cannot be written: npyio has no form for it.
func Write(w io.Writer, arrays map[string]Array) error {
	z := npz.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		v, err := value(arrays[name])
		if err == nil {
			err = z.Write(name+".npy", v)
		}
		if err != nil {
			return fmt.Errorf("npz: write %q: %w", name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("npz: write: %w", err)
	}
	return nil
}

// value returns the array as the Go value from which npyio derives its shape: a number, a slice, or an
// array of arrays laid over the same memory.
func value(a Array) (any, error) {
	data := reflect.ValueOf(a.Data)
	if n := Len(a.Shape); n != data.Len() {
		return nil, fmt.Errorf("shape %v with %d elements", a.Shape, data.Len())
	}
	switch {
	case len(a.Shape) == 0:
		return data.Index(0).Interface(), nil
	case len(a.Shape) == 1:
		return a.Data, nil
	case data.Len() == 0:
		return nil, fmt.Errorf("shape %v has no elements", a.Shape)
	}
	t := data.Type().Elem()
	for _, d := range slices.Backward(a.Shape) {
		t = reflect.ArrayOf(d, t)
	}
	return reflect.NewAt(t, unsafe.Pointer(data.Pointer())).Interface(), nil
}

// WriteOne writes one array as a .npy file.
func WriteOne(w io.Writer, a Array) error {
	v, err := value(a)
	if err == nil {
		err = npy.Write(w, v)
	}
	if err != nil {
		return fmt.Errorf("npz: write: %w", err)
	}
	return nil
}
