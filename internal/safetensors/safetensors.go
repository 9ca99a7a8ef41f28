// Package safetensors reads and writes the format that Python's package of that name has: the
// length of a header, the header as JSON, and the data of named tensors, one after the other. It
// turns every way in which a file can be damaged into an error. What a file holds is known from its
// header, and found to agree with the file's size, before memory is asked for. Source: the section
// "Format" of the README of github.com/huggingface/safetensors.
package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// ErrFormat is what a file is that is damaged or holds what this package does not read.
var ErrFormat = errors.New("not a readable safetensors file")

// metadataName is the name in a header that is no tensor's.
const metadataName = "__metadata__"

// ChecksumName is the name in the metadata of the SHA-256, in hexadecimal digits, of the header
// without it, as Write writes that before it fills it up with spaces, and the data after it.
const ChecksumName = "clgrad.sha256"

// Entry says what a tensor is, and where its data are.
type Entry struct {
	Name       string
	Type       string // of an element: "F32", "U8", "BF16", …
	Shape      []int
	Begin, End int64 // in bytes, from where the data of the file begin
}

// Array is a tensor to write: its Data is a slice of bool, int8 to int64, uint8 to uint64, a float of package
// lowbit, float16.Float16, bfloat16.BFloat16, float32 or float64, in row-major order.
type Array struct {
	Shape []int
	Data  any
}

// Write writes tensors and metadata, with a checksum if that is asked for. Equal contents make
// equal bytes.
func Write(w io.Writer, arrays map[string]Array, metadata map[string]string, checksum bool) error {
	f, err := layout(arrays, metadata)
	if err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	if checksum {
		sum := sha256.New()
		sum.Write(f.header())
		if err := f.writeData(sum, arrays); err != nil {
			return fmt.Errorf("safetensors: write: %w", err)
		}
		f.Metadata = maps.Clone(f.Metadata)
		if f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		f.Metadata[ChecksumName] = digits(sum)
	}
	const align = 8
	header := f.header()
	header = append(header, strings.Repeat(" ", (align-len(header)%align)%align)...)
	if len(header) > mostHeader {
		return fmt.Errorf("safetensors: write: the names, shapes and metadata are %d bytes: at most %d can be read again", len(header), mostHeader)
	}
	if _, err = w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err == nil {
		_, err = w.Write(header)
	}
	if err == nil {
		err = f.writeData(w, arrays)
	}
	if err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	return nil
}

// layout places tensors as Python's package does: those of larger elements first, so that all are
// aligned, and each kind by name.
func layout(arrays map[string]Array, metadata map[string]string) (*File, error) {
	for key, text := range metadata {
		if key == ChecksumName || !utf8.ValidString(key) || !utf8.ValidString(text) {
			return nil, fmt.Errorf("metadata %q: keys and values are UTF-8, and the key %q is taken", key, ChecksumName)
		}
	}
	f := &File{Metadata: metadata}
	for name, a := range arrays {
		kind, n, err := kindOf(a.Data)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if name == metadataName || !utf8.ValidString(name) {
			return nil, fmt.Errorf("tensor %q: a name is UTF-8, and not %q", name, metadataName)
		}
		size, elements, err := bytesOf(types[kind], a.Shape)
		if err == nil && elements != n {
			err = fmt.Errorf("shape %v with %d elements", a.Shape, n)
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		f.Entries = append(f.Entries, Entry{Name: name, Type: kind, Shape: a.Shape, End: size})
	}
	slices.SortFunc(f.Entries, func(a, b Entry) int {
		return cmp.Or(types[b.Type].rank-types[a.Type].rank, strings.Compare(a.Name, b.Name))
	})
	var at int64
	for i := range f.Entries {
		e := &f.Entries[i]
		e.Begin, e.End = at, at+e.End
		at = e.End
	}
	return f, nil
}

// kindOf returns the type of the elements of a slice, and how many there are.
func kindOf(data any) (string, int, error) {
	switch data := data.(type) {
	case []bool:
		return "BOOL", len(data), nil
	case []uint8:
		return "U8", len(data), nil
	case []float16.Float16:
		return "F16", len(data), nil
	case []bfloat16.BFloat16:
		return "BF16", len(data), nil
	case []int8:
		return "I8", len(data), nil
	case []int16:
		return "I16", len(data), nil
	case []int32:
		return "I32", len(data), nil
	case []int64:
		return "I64", len(data), nil
	case []uint16:
		return "U16", len(data), nil
	case []uint32:
		return "U32", len(data), nil
	case []uint64:
		return "U64", len(data), nil
	case []float32:
		return "F32", len(data), nil
	case []float64:
		return "F64", len(data), nil
	case []lowbit.Float8E4M3FN:
		return "F8_E4M3", len(data), nil
	case []lowbit.Float8E5M2:
		return "F8_E5M2", len(data), nil
	case []lowbit.Float8E4M3FNUZ:
		return "F8_E4M3FNUZ", len(data), nil
	case []lowbit.Float8E5M2FNUZ:
		return "F8_E5M2FNUZ", len(data), nil
	case []lowbit.Float8E8M0:
		return "F8_E8M0", len(data), nil
	case []lowbit.Float4E2M1:
		return "F4", len(data), nil
	case []lowbit.Int4, []lowbit.Uint4, []lowbit.Int2, []lowbit.Uint2:
		return "", 0, fmt.Errorf("the format has no integers of 4 and 2 bits, as %T has: convert with To(tensor.Int8)", data)
	}
	return "", 0, fmt.Errorf("%T is not written", data)
}

// info is a tensor in a header.
type info struct {
	Type    string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// header returns the header without what fills it up: metadata by key, if there are any, then
// tensors as their data lie.
func (f *File) header() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	put := func(name string, value any) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(quoted(name))
		b.WriteByte(':')
		b.Write(quoted(value))
	}
	if len(f.Metadata) > 0 {
		put(metadataName, f.Metadata)
	}
	for _, e := range f.Entries {
		put(e.Name, info{e.Type, append([]int{}, e.Shape...), []int64{e.Begin, e.End}})
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quoted returns a value as JSON. What a header holds can be encoded: strings, ints, lists and maps
// of them.
func quoted(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (f *File) writeData(w io.Writer, arrays map[string]Array) error {
	for _, e := range f.Entries {
		var err error
		switch data := arrays[e.Name].Data.(type) {
		case []uint8:
			_, err = w.Write(data)
		case []float16.Float16:
			err = writeAs(w, asBits[uint16](data))
		case []bfloat16.BFloat16:
			err = writeAs(w, asBits[uint16](data))
		case []bool:
			err = writeAs(w, data)
		case []int8:
			err = writeAs(w, data)
		case []int16:
			err = writeAs(w, data)
		case []int32:
			err = writeAs(w, data)
		case []int64:
			err = writeAs(w, data)
		case []uint16:
			err = writeAs(w, data)
		case []uint32:
			err = writeAs(w, data)
		case []uint64:
			err = writeAs(w, data)
		case []float32:
			err = writeAs(w, data)
		case []float64:
			err = writeAs(w, data)
		case []lowbit.Float8E4M3FN:
			err = writeAs(w, asBits[uint8](data))
		case []lowbit.Float8E5M2:
			err = writeAs(w, asBits[uint8](data))
		case []lowbit.Float8E4M3FNUZ:
			err = writeAs(w, asBits[uint8](data))
		case []lowbit.Float8E5M2FNUZ:
			err = writeAs(w, asBits[uint8](data))
		case []lowbit.Float8E8M0:
			err = writeAs(w, asBits[uint8](data))
		case []lowbit.Float4E2M1:
			err = writePairs(w, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// piece is how many elements are encoded at a time, so that a tensor is not in memory twice.
const piece = 1 << 14

func writeAs[T any](w io.Writer, data []T) error {
	for part := range slices.Chunk(data, piece) {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// writePairs writes floats of four bits, an even number, two in a byte: the first in the low bits.
func writePairs(w io.Writer, data []lowbit.Float4E2M1) error {
	pairs := make([]uint8, len(data)/2)
	for i := range pairs {
		pairs[i] = uint8(data[2*i]&15 | data[2*i+1]<<4)
	}
	return writeAs(w, pairs)
}

func digits(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }
