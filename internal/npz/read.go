package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/x448/float16"
)

// Header says what an array is.
type Header struct {
	Type    string // of an element, as NumPy writes it: "<f4", "|u1", ">i8", …
	Shape   []int
	Fortran bool // the first axis is the innermost in the file; Read turns it round
}

// elementType is a type of elements that is read, but for the order of its bytes.
type elementType struct {
	name string
	size int
	read func(r io.Reader, order binary.ByteOrder, h Header) (any, error)
}

// types are the types of elements that are read, as NumPy writes them but for the order of their
// bytes.
var types = map[string]elementType{
	"b1": {"bool", 1, readAs[bool]}, "i1": {"int8", 1, readAs[int8]}, "i2": {"int16", 2, readAs[int16]}, "i4": {"int32", 4, readAs[int32]},
	"i8": {"int64", 8, readAs[int64]}, "u1": {"uint8", 1, readAs[uint8]}, "u2": {"uint16", 2, readAs[uint16]}, "u4": {"uint32", 4, readAs[uint32]},
	"u8": {"uint64", 8, readAs[uint64]}, "f2": {"float16", 2, readHalves}, "f4": {"float32", 4, readAs[float32]}, "f8": {"float64", 8, readAs[float64]},
}

// element returns the type of an element, and whether it is one that is read.
func (h Header) element() (elementType, bool) {
	if h.Type == "" || !strings.Contains("<>|", h.Type[:1]) {
		return elementType{}, false
	}
	t, ok := types[h.Type[1:]]
	return t, ok && (t.size == 1 || h.Type[0] != '|')
}

// Bytes returns the size of an array's data.
func (h Header) Bytes() int64 {
	t, _ := h.element()
	return int64(Len(h.Shape)) * int64(t.size)
}

// Element returns the name of the type of an element.
func (h Header) Element() string {
	t, _ := h.element()
	return t.name
}

// foreign names types that are not read, by the first letter or all of what NumPy writes.
var foreign = map[string]string{"c8": "complex64", "c16": "complex128", "c": "complex numbers", "f12": "long floats", "f16": "long floats", "S": "bytes", "a": "bytes",
	"U": "text", "O": "Python objects", "M": "dates", "m": "time spans", "V": "records"}

// unread says why a type is not read.
func unread(kind string) error {
	name := strings.TrimLeft(kind, "<>|=")
	said, ok := foreign[name]
	if !ok && name != "" {
		said, ok = foreign[name[:1]]
	}
	if !ok {
		said = fmt.Sprintf("the type %q", kind)
	}
	return fmt.Errorf("%s does not fit: bool, int8 to int64, uint8 to uint64, float16, float32 and float64 are read", said)
}

// Archive is an npz file of which the directory and the headers were read, and found to agree with
// each other and with the file's size.
type Archive struct {
	headers map[string]Header
	entries map[string]*zip.File
}

// mostPerByte is how many bytes deflate makes of one, at most.
const mostPerByte = 1032

// Open reads the directory of an archive, and the header of each array. Every error wraps
// ErrFormat.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	a, err := open(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return a, nil
}

func open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	a := &Archive{map[string]Header{}, map[string]*zip.File{}}
	left := uint64(max(size, 0))
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") && f.UncompressedSize64 == 0 {
			continue // a folder: other programs write one before the arrays that are in it
		}
		name := strings.TrimSuffix(f.Name, ".npy")
		if _, twice := a.entries[name]; twice {
			return nil, fmt.Errorf("array %q is there twice", name)
		}
		a.entries[name] = f
		// Entries that share their bytes would be read again and again.
		if f.CompressedSize64 > left {
			return nil, fmt.Errorf("its entries claim more than the %d bytes there are", size)
		}
		left -= f.CompressedSize64
		if f.UncompressedSize64/mostPerByte > f.CompressedSize64+1 {
			return nil, fmt.Errorf("array %q: %d bytes cannot hold the %d that are claimed", name, f.CompressedSize64, f.UncompressedSize64)
		}
	}
	for _, f := range z.File { // in order: of several that are damaged, the error names the first
		name := strings.TrimSuffix(f.Name, ".npy")
		if a.entries[name] == nil {
			continue
		}
		if a.headers[name], err = entryHeader(f); err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
	}
	return a, nil
}

// entryHeader reads the header of an entry whose length must be what the header says, to the byte.
func entryHeader(f *zip.File) (Header, error) {
	r, err := f.Open()
	if err != nil {
		return Header{}, err
	}
	defer r.Close()
	h, n, err := readHeader(r)
	if err != nil {
		return Header{}, err
	}
	if data := int64(f.UncompressedSize64) - n; data != h.Bytes() {
		return Header{}, fmt.Errorf("shape %v of %s is %d bytes, and there are %d", h.Shape, h.Element(), h.Bytes(), data)
	}
	return h, nil
}

// Names returns the names of the arrays, sorted.
func (a *Archive) Names() []string { return slices.Sorted(maps.Keys(a.headers)) }

// Header returns what an array is, and whether there is one of that name.
func (a *Archive) Header(name string) (Header, bool) {
	h, ok := a.headers[name]
	return h, ok
}

// Bytes returns the size of the data of all arrays.
func (a *Archive) Bytes() int64 {
	var n int64
	for _, h := range a.headers {
		if n += h.Bytes(); n < 0 {
			return math.MaxInt64
		}
	}
	return n
}

// Read reads one array. The error wraps ErrFormat.
func (a *Archive) Read(name string) (Array, error) {
	f, ok := a.entries[name]
	if !ok {
		return Array{}, fmt.Errorf("%w: there is no array %q", ErrFormat, name)
	}
	array, err := readEntry(f)
	if err != nil {
		return Array{}, fmt.Errorf("%w: array %q: %w", ErrFormat, name, err)
	}
	return array, nil
}

func readEntry(f *zip.File) (Array, error) {
	r, err := f.Open()
	if err != nil {
		return Array{}, err
	}
	defer r.Close()
	h, _, err := readHeader(r)
	if err != nil {
		return Array{}, err
	}
	return readData(r, h)
}

// Read reads all arrays. Every error wraps ErrFormat.
func Read(r io.ReaderAt, size int64) (map[string]Array, error) {
	a, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	arrays := map[string]Array{}
	for name := range a.entries {
		if arrays[name], err = a.Read(name); err != nil {
			return nil, err
		}
	}
	return arrays, nil
}

// ReadOne reads a .npy file. Every error wraps ErrFormat.
func ReadOne(raw []byte) (Array, error) {
	a, err := decode(raw)
	if err != nil {
		return Array{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return a, nil
}

// ReadStream is ReadOne of a stream: it reads no more than the header says, and a byte. An error
// that does not wrap ErrFormat is that of r.
func ReadStream(r io.Reader) (Array, error) {
	head, err := io.ReadAll(io.LimitReader(r, int64(mostHeader+versionTwo)))
	if err != nil {
		return Array{}, err
	}
	h, n, err := readHeader(bytes.NewReader(head))
	if err != nil {
		return Array{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	rest, err := io.ReadAll(io.LimitReader(r, max(h.Bytes()-int64(len(head))+n, 0)+1)) // it grows with what is there
	if err != nil {
		return Array{}, err
	}
	return ReadOne(append(head, rest...))
}

func decode(raw []byte) (Array, error) {
	r := bytes.NewReader(raw)
	h, n, err := readHeader(r)
	if err != nil {
		return Array{}, err
	}
	if data := int64(len(raw)) - n; data != h.Bytes() {
		return Array{}, fmt.Errorf("shape %v of %s is %d bytes, and there are %d", h.Shape, h.Element(), h.Bytes(), data)
	}
	return readData(r, h)
}

// magic is how a .npy file begins.
const magic = "\x93NUMPY"

// mostHeader bounds the text of a header: NumPy itself refuses longer ones unless it is to trust
// the file.
const mostHeader = 10000

// versionTwo is the bytes before that text in a file of a later version than 1.
const versionTwo = len(magic) + 6

// readHeader reads what stands before the data of a .npy file, which is n bytes. npyio's parser of
// that text indexes without looking, so a damaged header can panic in it: that is an error of the
// file.
func readHeader(r io.Reader) (h Header, n int64, err error) {
	defer func() {
		if recover() != nil {
			h, n, err = Header{}, 0, errors.New("damaged header: it is no dictionary of descr, fortran_order and shape")
		}
	}()
	raw := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(r, raw); err != nil || string(raw[:len(magic)]) != magic {
		return Header{}, 0, errors.New("it does not begin as a .npy file does")
	}
	// The length of the text follows the version: two bytes in version 1, four in later ones.
	length := uint32(binary.LittleEndian.Uint16(raw[8:]))
	if raw[6] > 1 {
		raw = append(raw, 0, 0)
		if _, err := io.ReadFull(r, raw[10:]); err != nil {
			return Header{}, 0, errors.New("it ends in its header")
		}
		length = binary.LittleEndian.Uint32(raw[8:])
	}
	if length > mostHeader {
		return Header{}, 0, fmt.Errorf("a header of %d bytes", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return Header{}, 0, fmt.Errorf("a header of %d bytes that is cut off", length)
	}
	raw = append(raw, text...)
	parsed, err := npy.NewReader(bytes.NewReader(raw))
	if err != nil {
		return Header{}, 0, err
	}
	h = Header{parsed.Header.Descr.Type, slices.Clone(parsed.Header.Descr.Shape), parsed.Header.Descr.Fortran}
	kind, ok := h.element()
	if !ok {
		return Header{}, 0, unread(h.Type)
	}
	elements := 1
	for _, d := range h.Shape {
		if d < 0 || d > 0 && elements > math.MaxInt/kind.size/d {
			return Header{}, 0, fmt.Errorf("impossible shape %v", h.Shape)
		}
		elements *= d
	}
	return h, int64(len(raw)), nil
}

// readData reads what follows a header whose size is known to be that of the file.
func readData(r io.Reader, h Header) (Array, error) {
	var order binary.ByteOrder = binary.LittleEndian
	if h.Type[0] == '>' {
		order = binary.BigEndian
	}
	kind, _ := h.element()
	data, err := kind.read(r, order, h)
	if err != nil {
		return Array{}, err
	}
	return Array{Shape: h.Shape, Data: data}, nil
}

// readAs reads an array, piece by piece so that it is not in memory twice, and then to the end:
// that is where the checksum of an archive's entry is compared.
func readAs[T any](r io.Reader, order binary.ByteOrder, h Header) (any, error) {
	data := make([]T, Len(h.Shape))
	for part := range slices.Chunk(data, piece) {
		if err := binary.Read(r, order, part); err != nil {
			return nil, err
		}
	}
	switch n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); {
	case n > 0 || errors.Is(err, zip.ErrFormat): // as zip calls an entry that is longer than it claims
		return nil, errors.New("it extends past its end")
	case err != nil:
		return nil, err
	}
	if h.Fortran && len(h.Shape) > 1 {
		return rowMajor(data, h.Shape), nil
	}
	return data, nil
}

func readHalves(r io.Reader, order binary.ByteOrder, h Header) (any, error) {
	raw, err := readAs[uint16](r, order, h)
	if err != nil {
		return nil, err
	}
	data := make([]float16.Float16, Len(h.Shape))
	for i, b := range raw.([]uint16) {
		data[i] = float16.Frombits(b)
	}
	return data, nil
}

// rowMajor returns data that lie in Fortran order in that of C.
func rowMajor[T any](data []T, shape []int) []T {
	out := make([]T, len(data))
	index := make([]int, len(shape))
	for i := range out {
		at, step := 0, 1
		for d, n := range shape {
			at += index[d] * step
			step *= n
		}
		out[i] = data[at]
		for d := len(shape) - 1; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return out
}
