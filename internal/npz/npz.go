// Package npz reads and writes NumPy archives of named arrays: of booleans, integers, and floats of
// up to 64 bits. It turns every way in which a file can be damaged into an error. What an archive
// holds is known from its directory and the headers of its arrays, before memory is asked for.
package npz

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/x448/float16"
)

// ErrFormat is what a file is that is damaged or holds what this package does not read.
var ErrFormat = errors.New("not a readable npz file")

// Array is one array in row-major order: its Data is a slice of bool, int8, int16, int32, int64,
// uint8, uint16, uint32, uint64, float16.Float16, float32 or float64.
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

// Write writes arrays in the order of their names, so that equal contents make equal bytes.
func Write(w io.Writer, arrays map[string]Array) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		entry, err := z.Create(name + ".npy")
		if err == nil {
			err = write(entry, arrays[name])
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

// WriteOne writes one array as a .npy file.
func WriteOne(w io.Writer, a Array) error {
	if err := write(w, a); err != nil {
		return fmt.Errorf("npz: write: %w", err)
	}
	return nil
}

func write(w io.Writer, a Array) error {
	switch data := a.Data.(type) {
	case []bool:
		return writeAs(w, "|b1", a.Shape, data)
	case []int8:
		return writeAs(w, "|i1", a.Shape, data)
	case []int16:
		return writeAs(w, "<i2", a.Shape, data)
	case []int32:
		return writeAs(w, "<i4", a.Shape, data)
	case []int64:
		return writeAs(w, "<i8", a.Shape, data)
	case []uint8:
		return writeAs(w, "|u1", a.Shape, data)
	case []uint16:
		return writeAs(w, "<u2", a.Shape, data)
	case []uint32:
		return writeAs(w, "<u4", a.Shape, data)
	case []uint64:
		return writeAs(w, "<u8", a.Shape, data)
	case []float16.Float16:
		return writeAs(w, "<f2", a.Shape, bits(data))
	case []float32:
		return writeAs(w, "<f4", a.Shape, data)
	case []float64:
		return writeAs(w, "<f8", a.Shape, data)
	}
	return fmt.Errorf("NumPy has no %s: convert the tensor with To(tensor.Float32), or write safetensors", elementName(a.Data))
}

// elementName returns the name of the elements of a slice: bfloat16 of one of bfloat16.BFloat16.
func elementName(data any) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", data), "[]")
	return strings.ToLower(name[strings.LastIndex(name, ".")+1:])
}

// piece is how many elements are encoded at a time, so that an array is not in memory twice.
const piece = 1 << 14

// writeAs writes a header and the elements. Source: NumPy's documentation of its format, version
// 1.0.
func writeAs[T any](w io.Writer, kind string, shape []int, data []T) error {
	if Len(shape) != len(data) {
		return fmt.Errorf("shape %v with %d elements", shape, len(data))
	}
	dims := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(shape)), ", "), "[]")
	if len(shape) == 1 {
		dims += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, dims)
	const before, align = len(magic) + 4, 64 // the data begin at a multiple
	text += strings.Repeat(" ", align-1-(before+len(text))%align) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(len(text)))
	if _, err := w.Write(append(head, text...)); err != nil {
		return err
	}
	for part := range slices.Chunk(data, piece) {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// bits returns floats as what encoding/binary writes.
func bits(data []float16.Float16) []uint16 {
	out := make([]uint16, len(data))
	for i, h := range data {
		out[i] = h.Bits()
	}
	return out
}
