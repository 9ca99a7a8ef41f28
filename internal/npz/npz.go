// Package npz reads and writes NumPy archives of named arrays, through npyio: it adds shapes of any
// rank, and turns every way in which a file can be damaged into an error.
package npz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
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

// ReadOne reads a .npy file. Every error wraps ErrFormat.
func ReadOne(raw []byte) (Array, error) {
	a, err := decode(raw)
	if err != nil {
		return Array{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return a, nil
}

// Read reads all arrays. Every error wraps ErrFormat.
func Read(r io.ReaderAt, size int64) (map[string]Array, error) {
	z, err := npz.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	arrays := map[string]Array{}
	for _, key := range z.Keys() {
		name := strings.TrimSuffix(key, ".npy")
		a, err := entry(z, key)
		if err != nil {
			return nil, fmt.Errorf("%w: array %q: %w", ErrFormat, name, err)
		}
		if _, twice := arrays[name]; twice {
			return nil, fmt.Errorf("%w: array %q is there twice", ErrFormat, name)
		}
		arrays[name] = a
	}
	return arrays, nil
}

func entry(z *npz.Reader, key string) (Array, error) {
	f, err := z.Open(key)
	if err != nil {
		return Array{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(f) // to the end: that is where the checksum is compared
	if err != nil {
		return Array{}, err
	}
	return decode(raw)
}

// decode reads one .npy file. npyio's header parser indexes without looking, so a damaged header can
// panic in it; that is an error of the file.
func decode(raw []byte) (a Array, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = Array{}, fmt.Errorf("damaged header (%v)", p)
		}
	}()
	if err := checkHeader(raw); err != nil {
		return Array{}, err
	}
	r, err := npy.NewReader(bytes.NewReader(raw))
	if err != nil {
		return Array{}, err
	}
	descr := r.Header.Descr
	if descr.Fortran && len(descr.Shape) > 1 {
		return Array{}, errors.New("in Fortran order: save it with numpy.ascontiguousarray")
	}
	n := 1
	for _, d := range descr.Shape {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return Array{}, fmt.Errorf("impossible shape %v", descr.Shape)
		}
		n *= d
	}
	switch descr.Type {
	case "<f4":
		return read[float32](r, descr.Shape, n, raw)
	case "<f8":
		return read[float64](r, descr.Shape, n, raw)
	case "|u1":
		return read[uint8](r, descr.Shape, n, raw)
	case "|i1":
		return read[int8](r, descr.Shape, n, raw)
	case "<u2":
		return read[uint16](r, descr.Shape, n, raw)
	}
	return Array{}, fmt.Errorf("elements of type %q: float32, float64, uint8, int8 and uint16 are read", descr.Type)
}

// checkHeader refuses a header that claims to be longer than the file, before npyio allocates it. Its length follows
// the magic string and the version: two bytes in version 1, four in later ones.
func checkHeader(raw []byte) error {
	const magic = "\x93NUMPY"
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok || len(rest) < 6 {
		return errors.New("it does not begin as a .npy file does")
	}
	length := uint64(binary.LittleEndian.Uint16(rest[2:]))
	if rest[0] > 1 {
		length = uint64(binary.LittleEndian.Uint32(rest[2:]))
	}
	if length > uint64(len(rest)) {
		return fmt.Errorf("a header of %d bytes in a file of %d", length, len(raw))
	}
	return nil
}

func read[T float32 | float64 | uint8 | int8 | uint16](r *npy.Reader, shape []int, n int, raw []byte) (Array, error) {
	var zero T
	if n > len(raw)/int(unsafe.Sizeof(zero)) { // before npyio allocates for what a header claims
		return Array{}, fmt.Errorf("shape %v needs more than the %d bytes there are", shape, len(raw))
	}
	data := make([]T, 0)
	if n > 0 {
		if err := r.Read(&data); err != nil {
			return Array{}, err
		}
	}
	if len(data) != n {
		return Array{}, fmt.Errorf("shape %v with %d elements", shape, len(data))
	}
	return Array{Shape: slices.Clone(shape), Data: data}, nil
}
