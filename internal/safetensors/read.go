package safetensors

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// elementType is a type of elements that is read.
type elementType struct {
	rank int // the order of the data that Python's package writes: the highest first
	bits int
	read func(r io.Reader, n int) (any, error)
}

// types are the types of elements that are read, by their names in a header.
var types = map[string]elementType{
	"BOOL": {0, 8, readAs[bool]}, "F4": {1, 4, readPairs}, "U8": {2, 8, readAs[uint8]}, "I8": {3, 8, readAs[int8]},
	"F8_E5M2": {4, 8, readBits[lowbit.Float8E5M2, uint8]}, "F8_E4M3": {5, 8, readBits[lowbit.Float8E4M3FN, uint8]},
	"F8_E8M0": {6, 8, readBits[lowbit.Float8E8M0, uint8]}, "F8_E4M3FNUZ": {7, 8, readBits[lowbit.Float8E4M3FNUZ, uint8]},
	"F8_E5M2FNUZ": {8, 8, readBits[lowbit.Float8E5M2FNUZ, uint8]},
	"I16":         {9, 16, readAs[int16]}, "U16": {10, 16, readAs[uint16]},
	"F16": {11, 16, readBits[float16.Float16, uint16]}, "BF16": {12, 16, readBits[bfloat16.BFloat16, uint16]},
	"I32": {13, 32, readAs[int32]}, "U32": {14, 32, readAs[uint32]}, "F32": {15, 32, readAs[float32]},
	"F64": {16, 64, readAs[float64]}, "I64": {17, 64, readAs[int64]}, "U64": {18, 64, readAs[uint64]},
}

// unread says why a type is not read.
func unread(kind string) error {
	said := fmt.Sprintf("the type %q", kind)
	for prefix, name := range map[string]string{"F6": "floats of 6 bits", "C": "complex numbers"} {
		if strings.HasPrefix(kind, prefix) {
			said = fmt.Sprintf("%s (%q)", name, kind)
		}
	}
	return fmt.Errorf("%s does not fit: BOOL, I8 to I64, U8 to U64, F4, F8, F16, BF16, F32 and F64 are read", said)
}

// bytesOf returns the size of a tensor's data, which an int holds, and how many elements it has.
func bytesOf(kind elementType, shape []int) (size int64, n int, err error) {
	n = 1
	for _, d := range shape {
		if d == 0 {
			return 0, 0, nil
		}
	}
	for _, d := range shape {
		if d < 0 || n > math.MaxInt/kind.bits/d {
			return 0, 0, fmt.Errorf("impossible shape %v", shape)
		}
		n *= d
	}
	if n*kind.bits%8 != 0 {
		return 0, 0, fmt.Errorf("shape %v: elements of %d bits fill no whole number of bytes", shape, kind.bits)
	}
	return int64(n * kind.bits / 8), n, nil
}

// File is a file of which the header was read, and found to agree with itself and with the file's
// size.
type File struct {
	Metadata map[string]string // nil if there are none
	Entries  []Entry           // as their data lie, one after the other
	r        io.ReaderAt
	data     int64 // where the data begin
}

// mostHeader bounds the length of a header, as Python's package does.
const mostHeader = 100_000_000

// Open reads the header of a file. What is wrong with its contents wraps ErrFormat.
func Open(r io.ReaderAt, size int64) (*File, error) {
	const before = 8 // bytes of the length
	var raw [before]byte
	if size < before {
		return nil, fmt.Errorf("%w: it has %d bytes, and the length of the header alone takes %d", ErrFormat, size, before)
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), raw[:]); err != nil {
		return nil, cutOff(err)
	}
	length := binary.LittleEndian.Uint64(raw[:])
	switch {
	case length > mostHeader:
		return nil, fmt.Errorf("%w: a header of %d bytes in a file of %d: a header has %d at most", ErrFormat, length, size, mostHeader)
	case int64(length) > size-before:
		return nil, fmt.Errorf("%w: a header of %d bytes in a file of %d: it is cut off", ErrFormat, length, size)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, before, int64(length)), text); err != nil {
		return nil, cutOff(err)
	}
	f := &File{r: r, data: before + int64(length)}
	if err := f.parse(text); err != nil {
		return nil, fmt.Errorf("%w: its header: %w", ErrFormat, err)
	}
	if err := f.check(size - f.data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

// cutOff says of a file that ends early that it does. Other errors are those of reading, not of the
// contents.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is cut off", ErrFormat)
	}
	return err
}

// check sorts the entries as their data lie, and compares these with their shapes, with each other
// and with the size of all.
func (f *File) check(size int64) error {
	slices.SortFunc(f.Entries, compareEntries)
	var at int64
	for _, e := range f.Entries {
		kind, ok := types[e.Type]
		if !ok {
			return fmt.Errorf("tensor %q: %w", e.Name, unread(e.Type))
		}
		n, _, err := bytesOf(kind, e.Shape)
		switch {
		case err != nil:
			return fmt.Errorf("tensor %q: %w", e.Name, err)
		case e.End < e.Begin || e.End-e.Begin != n:
			return fmt.Errorf("tensor %q: shape %v of %s is %d bytes, and its data are from %d to %d", e.Name, e.Shape, e.Type, n, e.Begin, e.End)
		case e.Begin < at:
			return fmt.Errorf("tensor %q: its data begin at %d, inside of those of another, which end at %d", e.Name, e.Begin, at)
		case e.Begin > at:
			return fmt.Errorf("tensor %q: its data begin at %d, and no tensor has the bytes from %d on", e.Name, e.Begin, at)
		case e.End > size:
			return fmt.Errorf("tensor %q: its data end at %d, and there are %d bytes: it is cut off", e.Name, e.End, size)
		}
		at = e.End
	}
	if at != size {
		return fmt.Errorf("the data of its tensors end at %d, and there are %d bytes", at, size)
	}
	return nil
}

// compareEntries orders by place; of those at one place, those without data come first.
func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End), strings.Compare(a.Name, b.Name))
}

// Each calls give with every tensor, in the order of the file: with a slice of bool, int8 to int64,
// uint8 to uint64, a float of package lowbit, float16.Float16, bfloat16.BFloat16, float32 or float64, in
// row-major order. Where the metadata have a checksum, it is compared at the end. What is wrong with the
// contents wraps ErrFormat; other errors are those of reading, and of give.
func (f *File) Each(give func(e Entry, data any) error) error {
	claimed, summed := f.Metadata[ChecksumName]
	sum := sha256.New()
	if summed {
		bare := *f
		bare.Metadata = maps.Clone(f.Metadata)
		delete(bare.Metadata, ChecksumName)
		sum.Write(bare.header())
	}
	for _, e := range f.Entries {
		data, err := f.read(e, summed, sum)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", e.Name, err)
		}
		if err := give(e, data); err != nil {
			return err
		}
	}
	if summed && digits(sum) != claimed {
		return fmt.Errorf("%w: its checksum is not that of its contents: it was damaged, or changed by another program", ErrFormat)
	}
	return nil
}

func (f *File) read(e Entry, summed bool, sum hash.Hash) (any, error) {
	var r io.Reader = io.NewSectionReader(f.r, f.data+e.Begin, e.End-e.Begin)
	if summed {
		r = io.TeeReader(r, sum)
	}
	kind := types[e.Type]
	data, err := kind.read(r, int((e.End-e.Begin)*8/int64(kind.bits)))
	return data, cutOff(err)
}

// readAs reads a tensor piece by piece, so that it is not in memory twice.
func readAs[T any](r io.Reader, n int) (any, error) {
	data := make([]T, n)
	for part := range slices.Chunk(data, piece) {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// readBits is readAs of a type that holds its bits, which encoding/binary reads slowly by that name.
func readBits[T, B bits](r io.Reader, n int) (any, error) {
	raw, err := readAs[B](r, n)
	if err != nil {
		return nil, err
	}
	return asBits[T](raw.([]B)), nil
}

type bits interface{ ~uint8 | ~uint16 }

// asBits returns numbers as those of another type with the same bits.
func asBits[To, From bits](data []From) []To {
	out := make([]To, len(data))
	for i, b := range data {
		out[i] = To(b)
	}
	return out
}

// readPairs reads floats of four bits: of two in a byte the first is the low one.
func readPairs(r io.Reader, n int) (any, error) {
	raw, err := readAs[uint8](r, n/2)
	if err != nil {
		return nil, err
	}
	data := make([]lowbit.Float4E2M1, 0, n)
	for _, b := range raw.([]uint8) {
		data = append(data, lowbit.Float4E2M1(b&15), lowbit.Float4E2M1(b>>4))
	}
	return data, nil
}
