package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
)

// LoadIDX reads a file of the format in which MNIST and its like come, compressed with gzip or not:
// uint8 as it is, int8, int16 and int32 as int32, and floats as they are. A damaged file, another
// type, or dimensions that a file of its size cannot have, are an error that wraps
// tensor.ErrFormat. Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits", the
// section on file formats. A device is an error: it has no end.
func LoadIDX(path string) (Array, error) {
	f, size, err := regular.OpenOrPipe(path)
	if err != nil {
		return Array{}, fmt.Errorf("data: load: %w", err)
	}
	defer f.Close()
	most := int64(math.MaxInt64)
	if size >= 0 && size < most/mostPerByte {
		most = size * mostPerByte
	}
	a, err := readIDX(f, most)
	if err != nil {
		return Array{}, fmt.Errorf("data: load %s: %w", path, err)
	}
	return a, nil
}

// mostPerByte is how many bytes deflate makes of one, at most.
const mostPerByte = 1032

// ReadIDX is LoadIDX of all of r.
func ReadIDX(r io.Reader) (Array, error) { return readIDX(r, math.MaxInt64) }

// readIDX reads an array of at most so many bytes.
func readIDX(r io.Reader, most int64) (Array, error) {
	disk := &source{r: r}
	a, err := decodeIDX(disk, most)
	switch {
	case err == nil:
		return a, nil
	case disk.err != nil:
		return Array{}, disk.err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it is cut off")
	}
	return Array{}, formatError{fmt.Errorf("not a readable IDX file: %w", err)}
}

// source remembers the error of a reader that has failed, as against one that has ended.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// formatError is an error of a file's contents.
type formatError struct{ error }

func (e formatError) Unwrap() error { return e.error }

func (e formatError) Is(target error) bool { return target == tensor.ErrFormat }

// idxType is a type of elements.
type idxType struct {
	name  string
	size  int
	array func(raw []byte, shape []int) Array
}

// idxTypes are the types by their codes.
var idxTypes = map[byte]idxType{
	0x08: {"uint8", 1, func(raw []byte, shape []int) Array { return New(raw, shape...) }},
	0x09: {"int8", 1, bigEndian(1, func(b []byte) int32 { return int32(int8(b[0])) })},
	0x0b: {"int16", 2, bigEndian(2, func(b []byte) int32 { return int32(int16(binary.BigEndian.Uint16(b))) })},
	0x0c: {"int32", 4, bigEndian(4, func(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) })},
	0x0d: {"float32", 4, bigEndian(4, func(b []byte) float32 { return math.Float32frombits(binary.BigEndian.Uint32(b)) })},
	0x0e: {"float64", 8, bigEndian(8, func(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) })},
}

func bigEndian[T int32 | float32 | float64](size int, number func([]byte) T) func(raw []byte, shape []int) Array {
	return func(raw []byte, shape []int) Array {
		data := make([]T, len(raw)/size)
		for i := range data {
			data[i] = number(raw[i*size:])
		}
		return New(data, shape...)
	}
}

func decodeIDX(r io.Reader, most int64) (Array, error) {
	b := bufio.NewReader(r)
	if start, _ := b.Peek(2); bytes.Equal(start, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return Array{}, err
		}
		b = bufio.NewReader(z)
	}
	kind, shape, size, err := idxHeader(b, most)
	if err != nil {
		return Array{}, err
	}
	raw, err := io.ReadAll(io.LimitReader(b, size)) // memory grows with what is there, whatever the header claims
	if err != nil {
		return Array{}, err
	}
	if int64(len(raw)) < size {
		return Array{}, fmt.Errorf("shape %v of %s is %d bytes, and there are %d", shape, kind.name, size, len(raw))
	}
	switch _, err := b.ReadByte(); {
	case err == nil:
		return Array{}, fmt.Errorf("it has more after shape %v of %s, which is %d bytes", shape, kind.name, size)
	case err != io.EOF: // a checksum of gzip, for example
		return Array{}, err
	}
	return kind.array(raw, shape), nil
}

// idxHeader reads what stands before the data: two zeros, the type, the number of axes, and their
// dimensions.
func idxHeader(r io.Reader, most int64) (kind idxType, shape []int, size int64, err error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return kind, nil, 0, err
	}
	if magic[0] != 0 || magic[1] != 0 || magic[3] == 0 {
		return kind, nil, 0, errors.New("it does not begin with two zeros, a type, and a number of axes")
	}
	kind, ok := idxTypes[magic[2]]
	if !ok {
		return kind, nil, 0, fmt.Errorf("its type is 0x%02x: 0x08 to 0x0e, without 0x0a, are read", magic[2])
	}
	dims := make([]byte, 4*int(magic[3]))
	if _, err := io.ReadFull(r, dims); err != nil {
		return kind, nil, 0, err
	}
	for ; len(dims) > 0; dims = dims[4:] {
		dim := binary.BigEndian.Uint32(dims)
		if dim > math.MaxInt32 {
			return kind, nil, 0, fmt.Errorf("one of its dimensions is %d", dim)
		}
		shape = append(shape, int(dim))
	}
	if slices.Contains(shape, 0) {
		return kind, shape, 0, nil
	}
	size = int64(kind.size)
	for _, dim := range shape {
		if size > min(most, math.MaxInt)/int64(dim) {
			return kind, nil, 0, fmt.Errorf("shape %v of %s is more than the file can hold", shape, kind.name)
		}
		size *= int64(dim)
	}
	return kind, shape, size, nil
}
