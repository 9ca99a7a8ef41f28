package tensor

import (
	"errors"
	"fmt"
	"io"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/internal/safetensors"
	"github.com/clgrad/clgrad/internal/torchfile"
)

// SafetensorsOptions says what a file has beside its tensors. The zero value is nothing.
type SafetensorsOptions struct {
	Metadata map[string]string // in UTF-8
	// Checksum adds the metadata "clgrad.sha256", which reading compares with what was read: a file
	// that was damaged is refused. So is one that another program changed and whose metadata it
	// kept.
	Checksum bool
}

// SaveSafetensors writes tensors in the format of Python's package safetensors, each in its own
// type. The file is complete or not there. Integers of 4 and 2 bits, which the format has not, an odd number
// of Float4E2M1, and a name or metadata that is not UTF-8 are errors. It panics with ErrValue for more than one
// SafetensorsOptions.
func SaveSafetensors(path string, tensors Dict, options ...SafetensorsOptions) error {
	if err := atomicfile.Write(path, func(w io.Writer) error { return WriteSafetensors(w, tensors, options...) }); err != nil {
		return fmt.Errorf("tensor: save: %w", err)
	}
	return nil
}

// WriteSafetensors is SaveSafetensors to w. Equal tensors make equal bytes.
func WriteSafetensors(w io.Writer, tensors Dict, options ...SafetensorsOptions) error {
	const op = "WriteSafetensors"
	if len(options) > 1 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "pass one SafetensorsOptions"})
	}
	var o SafetensorsOptions
	if len(options) == 1 {
		o = options[0]
	}
	arrays := map[string]safetensors.Array{}
	for name, t := range tensors {
		a, err := toArray(op, t)
		if err != nil {
			return err
		}
		arrays[name] = safetensors.Array(a)
	}
	return safetensors.Write(w, arrays, o.Metadata, o.Checksum)
}

// LoadSafetensors reads a file of Python's package safetensors onto a device, and its metadata, nil
// if it has none:
//
//	BOOL                      Bool
//	I8 to I64, U8 to U64      Int8 to Int64, Uint8 to Uint64
//	F16, BF16                 Float16, BFloat16
//	F8_E4M3, F8_E5M2          Float8E4M3FN, Float8E5M2
//	F8_E4M3FNUZ, F8_E5M2FNUZ  Float8E4M3FNUZ, Float8E5M2FNUZ
//	F8_E8M0, F4               Float8E8M0, Float4E2M1
//	F32                       Float32
//	F64                       Float64; an error where the device has none
//
// A damaged file, one whose checksum is wrong, or another type, is an error that wraps ErrFormat
// and names the tensor, its type and, if it is that, the element. No tensor is left behind.
func LoadSafetensors(d Device, path string) (Dict, map[string]string, error) {
	tensors, metadata, err := loadSafetensors(d, path)
	if err != nil {
		return nil, nil, fmt.Errorf("tensor: load %s: %w", path, err)
	}
	return tensors, metadata, nil
}

func loadSafetensors(d Device, path string) (Dict, map[string]string, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return ReadSafetensors(d, f, size)
}

// ReadSafetensors is LoadSafetensors from size bytes of r.
func ReadSafetensors(d Device, r io.ReaderAt, size int64) (Dict, map[string]string, error) {
	mustDevice("ReadSafetensors", d)
	f, err := safetensors.Open(r, size)
	if err != nil {
		return nil, nil, formatError{err}
	}
	tensors := Dict{}
	err = f.Each(func(e safetensors.Entry, data any) error {
		t, err := fromArray(d, npz.Array{Shape: e.Shape, Data: data})
		if err != nil {
			return fmt.Errorf("%w: tensor %q: %w", safetensors.ErrFormat, e.Name, err)
		}
		tensors[e.Name] = t
		return nil
	})
	if err != nil {
		for _, t := range tensors {
			t.Free()
		}
		return nil, nil, formatError{err}
	}
	return tensors, f.Metadata, nil
}

// formatError is an error of package safetensors or torchfile, whose ErrFormat is that of this package,
// too.
type formatError struct{ error }

func (e formatError) Unwrap() error { return e.error }

func (e formatError) Is(target error) bool {
	return target == ErrFormat && (errors.Is(e.error, safetensors.ErrFormat) || errors.Is(e.error, torchfile.ErrFormat))
}
