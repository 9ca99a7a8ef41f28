package onnxpb

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// MaxElements is how many elements a tensor may have.
const MaxElements = math.MaxInt32

// AllGraphs returns the graphs that an attribute holds.
func (a *Attribute) AllGraphs() []*Graph {
	if a.Graph != nil {
		return append([]*Graph{a.Graph}, a.Graphs...)
	}
	return a.Graphs
}

// Len returns how many elements the shape says.
func (t *Tensor) Len() (int, error) {
	n := int64(1)
	for _, d := range t.Dims {
		if d < 0 {
			return 0, fmt.Errorf("%w: tensor %q has shape %v", ErrFormat, t.Name, t.Dims)
		}
		if d != 0 && n > MaxElements/d {
			return 0, fmt.Errorf("%w: tensor %q has shape %v, which is more than %d elements", ErrFormat, t.Name, t.Dims, MaxElements)
		}
		n *= d
	}
	return int(n), nil
}

// Bytes returns the elements as a raw_data field has them: little-endian, 4 and 2 bits packed from the low ones on.
// external is the data of a tensor that has it in another file.
func (t *Tensor) Bytes(external []byte) ([]byte, error) {
	n, err := t.Len()
	if err != nil {
		return nil, err
	}
	bits := t.Type.Bits()
	if bits == 0 {
		return nil, fmt.Errorf("%w: tensor %q of %v has no bytes", ErrFormat, t.Name, t.Type)
	}
	want := (n*bits + 7) / 8
	raw := t.Raw
	switch {
	case t.Outside:
		raw = external
	case !t.HasRaw && t.Field != 0:
		if raw, err = t.typed(want); err != nil {
			return nil, err
		}
	}
	if len(raw) != want {
		return nil, fmt.Errorf("%w: tensor %q, %v %v, has %d bytes of elements, and its shape says %d", ErrFormat, t.Name, t.Type, t.Dims, len(raw), want)
	}
	return raw, nil
}

// typed returns the elements of a typed field as bytes: at most want of them and some.
func (t *Tensor) typed(want int) ([]byte, error) {
	size := t.Type.Bits() / 8 // of an entry; entries of less than a byte hold a byte
	if size == 0 {
		size = 1
	}
	if t.Type == Complex64 || t.Type == Complex128 {
		size /= 2 // two entries an element
	}
	fields := map[DataType]int{Float: floatData, Complex64: floatData, Double: doubleData, Complex128: doubleData, Int64: int64Data,
		Uint32: uint64Data, Uint64: uint64Data}
	field := int32Data
	if f, ok := fields[t.Type]; ok {
		field = f
	}
	if t.Field != field {
		return nil, fmt.Errorf("%w: tensor %q of %v has its elements in field %d, the specification has %d", ErrFormat, t.Name, t.Type, t.Field, field)
	}
	out := make([]byte, 0, min(want, 1<<20))
	put := func(x uint64) error {
		if len(out) > want {
			return fmt.Errorf("%w: tensor %q, %v %v, has more elements than its shape says", ErrFormat, t.Name, t.Type, t.Dims)
		}
		for i := range size {
			out = append(out, byte(x>>(8*i)))
		}
		return nil
	}
	for _, b := range t.Packed {
		for len(b) > 0 {
			var x uint64
			var n int
			switch field {
			case floatData:
				var v uint32
				v, n = protowire.ConsumeFixed32(b)
				x = uint64(v)
			case doubleData:
				x, n = protowire.ConsumeFixed64(b)
			default:
				x, n = protowire.ConsumeVarint(b)
			}
			if n < 0 {
				return nil, fmt.Errorf("%w: tensor %q: field %d: %v", ErrFormat, t.Name, field, wireError(n))
			}
			b = b[n:]
			if err := put(x); err != nil {
				return nil, err
			}
		}
	}
	for _, x := range t.Single {
		if err := put(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}
