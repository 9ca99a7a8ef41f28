package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/internal/safetensors"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// ErrCheckpoint is what a file is that holds no checkpoint, a damaged one, or one of something
// else.
var ErrCheckpoint = errors.New("not a usable checkpoint")

// State is what a checkpoint is of, each part by a name of the program's choice. Save reads them,
// Load writes them:
//
//	tensor.Dict                          its tensors, such as nn.StateDict returns them; Load copies into them
//	func() tensor.Dict                   those that it returns at each Save and Load
//	optim.Optimizer                      moments and steps, and so the place in its schedule; so of whatever has methods
//	                                     State() optim.State and Restore(optim.State) error, such as *optim.EMA
//	*tensor.RNG                          the seed, and the fills made so far
//	with methods State() S and           the S as JSON: *data.Loader and *optim.Plateau are such
//	Restore(S) error
//	another pointer                      what it points to, as JSON: a step, a struct of settings and results
//
// What nn.StateDict returned stays right when optimizers are made or freed; other views of
// parameters do not, since an optimizer moves those: give a function that makes them. JSON has
// neither NaN nor infinities, and of a struct the exported fields: one with tensors in others is
// refused, unless their tag is `json:"-"`.
type State map[string]any

// description is what a file says of itself, as JSON in its metadata.
type description struct {
	Version int               `json:"version"`
	Device  string            `json:"device"` // that it was made on: on another, the last bits may differ
	Parts   map[string]record `json:"parts"`
}

// record is what a file says of a part. Its tensors are under the part's name.
type record struct {
	Kind  string          `json:"kind"`
	State json.RawMessage `json:"state,omitempty"`
}

const (
	descriptionName = "clgrad.checkpoint"
	version         = 1
)

// Save waits for the device and writes a checkpoint. The file is complete or as it was, whenever
// the program ends. The errors are those of the file, a value that JSON has not, and the device's
// first failure. It panics with tensor.ErrValue for parts without a tensor or of another kind than
// those of [State], with tensor.ErrFreed for a freed tensor, and with tensor.ErrDevice for tensors
// of two devices.
func Save(path string, parts State) error {
	err := atomicfile.Check(path) // a run that was killed while it saved may have left a temporary file
	if err == nil {
		err = atomicfile.Write(path, func(w io.Writer) error { return write(w, parts) })
	}
	if err != nil {
		return fmt.Errorf("checkpoint: save: %w", err)
	}
	return nil
}

// Write is Save to w. Equal parts make equal bytes.
func Write(w io.Writer, parts State) error {
	if err := write(w, parts); err != nil {
		return fmt.Errorf("checkpoint: write: %w", err)
	}
	return nil
}

func write(w io.Writer, parts State) error {
	all := open("Save", parts)
	defer all.free()
	about := description{Version: version, Device: all.device.Name(), Parts: map[string]record{}}
	for _, name := range all.names {
		state, err := all.parts[name].state()
		if err != nil {
			return fmt.Errorf("part %q: %w", name, err)
		}
		about.Parts[name] = record{all.parts[name].kind(), state}
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return tensor.WriteSafetensors(w, all.tensors, tensor.SafetensorsOptions{Metadata: map[string]string{descriptionName: string(text)}, Checksum: true})
}

// Load reads a checkpoint into the parts that it is of. What does not fit (another name, kind,
// shape or type, a damaged file, one of a device with other floats) is an error that wraps
// ErrCheckpoint and says what it is; then nothing has changed. The other errors are those of
// reading, fs.ErrNotExist among them, and the device's first failure. It panics as [Save] does, and
// with tensor.ErrValue for a tensor that repeats elements.
func Load(path string, parts State) error {
	f, size, err := regular.Open(path)
	if err != nil {
		return fmt.Errorf("checkpoint: load: %w", err)
	}
	defer f.Close()
	if err := read(f, size, parts); err != nil {
		return fmt.Errorf("checkpoint: load %s: %w", path, err)
	}
	return nil
}

// Read is Load from size bytes of r.
func Read(r io.ReaderAt, size int64, parts State) error {
	if err := read(r, size, parts); err != nil {
		return fmt.Errorf("checkpoint: read: %w", err)
	}
	return nil
}

func read(r io.ReaderAt, size int64, parts State) error {
	all := open("Load", parts)
	defer all.free()
	for _, t := range all.tensors {
		if !t.IsContiguous() { // whether it can be written to is known by doing it
			t.SetInPlace(t)
		}
	}
	f, err := safetensors.Open(r, size)
	if err != nil {
		return unusable(err)
	}
	about, err := summarize(f)
	if err == nil {
		err = all.compare(f, about)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	// All of it is read, and its checksum compared, before anything changes.
	arrays := map[string]any{}
	if err := f.Each(func(e safetensors.Entry, data any) error { arrays[e.Name] = data; return nil }); err != nil {
		return unusable(err)
	}
	if err := all.prepare(about); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	for _, e := range f.Entries {
		put(all.tensors[e.Name], arrays[e.Name])
	}
	for _, name := range all.names {
		if err := all.parts[name].commit(); err != nil {
			return fmt.Errorf("part %q: %w", name, err)
		}
	}
	return all.device.Err()
}

// unusable distinguishes what is wrong with a file's contents from what is wrong with its disk.
func unusable(err error) error {
	if errors.Is(err, safetensors.ErrFormat) {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return err
}

// summarize returns what a file says of itself.
func summarize(f *safetensors.File) (about description, err error) {
	text, ok := f.Metadata[descriptionName]
	if !ok {
		return about, errors.New("it is a safetensors file, but no checkpoint: tensor.LoadSafetensors reads it")
	}
	if f.Metadata[safetensors.ChecksumName] == "" {
		return about, errors.New("its checksum is gone: another program wrote it, or it was damaged")
	}
	if err := json.Unmarshal([]byte(text), &about); err != nil {
		return about, errors.New("what it says of itself is damaged")
	}
	if about.Version != version {
		return about, fmt.Errorf("it is of version %d, and this program reads version %d", about.Version, version)
	}
	return about, nil
}

// compare says how a file differs from the parts that it is to be read into.
func (all *opened) compare(f *safetensors.File, about description) error {
	for _, name := range slices.Sorted(maps.Keys(about.Parts)) {
		if p, ok := all.parts[name]; !ok {
			return fmt.Errorf("it has a part %q, and the program has none of that name", name)
		} else if p.kind() != about.Parts[name].Kind {
			return fmt.Errorf("its part %q is %s, and that of the program is %s", name, about.Parts[name].Kind, p.kind())
		}
	}
	for _, name := range all.names {
		if _, ok := about.Parts[name]; !ok {
			return fmt.Errorf("it has no part %q", name)
		}
	}
	found := map[string]bool{}
	for _, e := range f.Entries {
		t, ok := all.tensors[e.Name]
		if !ok {
			return fmt.Errorf("it has a tensor %q, and the program has none of that name", e.Name)
		}
		found[e.Name] = true
		if !slices.Equal(e.Shape, t.Shape()) {
			return fmt.Errorf("tensor %q has shape %v in it, and %v in the program", e.Name, e.Shape, t.Shape())
		}
		if want := written(t); e.Type != want {
			return fmt.Errorf("tensor %q is of type %s in it, and %s in the program", e.Name, e.Type, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all.tensors)) {
		if !found[name] {
			return fmt.Errorf("it has no tensor %q", name)
		}
	}
	return nil
}

// written returns the type that a tensor is written as.
func written(t *tensor.Tensor) string {
	return map[tensor.Type]string{tensor.Float32: "F32", tensor.Float64: "F64", tensor.Float16: "F16", tensor.BFloat16: "BF16",
		tensor.Int8: "I8", tensor.Int16: "I16", tensor.Int32: "I32", tensor.Int64: "I64", tensor.Uint8: "U8",
		tensor.Uint16: "U16", tensor.Uint32: "U32", tensor.Uint64: "U64", tensor.Bool: "BOOL",
		tensor.Float8E4M3FN: "F8_E4M3", tensor.Float8E5M2: "F8_E5M2", tensor.Float8E4M3FNUZ: "F8_E4M3FNUZ",
		tensor.Float8E5M2FNUZ: "F8_E5M2FNUZ", tensor.Float8E8M0: "F8_E8M0", tensor.Float4E2M1: "F4"}[t.Type()]
}

// prepare reads what a file says of the parts, and restores those that can refuse it. An error
// changes nothing.
func (all *opened) prepare(about description) error {
	var undo []func()
	for _, name := range all.names {
		back, err := all.parts[name].prepare(about.Parts[name].State)
		if err != nil {
			for _, back := range slices.Backward(undo) {
				back()
			}
			return fmt.Errorf("part %q: %w", name, err)
		}
		if back != nil {
			undo = append(undo, back)
		}
	}
	return nil
}

// put copies data that fit over a tensor.
func put(t *tensor.Tensor, data any) {
	switch data := data.(type) {
	case []float32:
		tensor.Upload(t, data)
	case []float64:
		tensor.Upload(t, data)
	case []int8:
		tensor.Upload(t, data)
	case []int16:
		tensor.Upload(t, data)
	case []int32:
		tensor.Upload(t, data)
	case []int64:
		tensor.Upload(t, data)
	case []uint8:
		tensor.Upload(t, data)
	case []uint16:
		tensor.Upload(t, data)
	case []uint32:
		tensor.Upload(t, data)
	case []uint64:
		tensor.Upload(t, data)
	case []bool:
		tensor.Upload(t, data)
	case []float16.Float16:
		tensor.Upload(t, data)
	case []bfloat16.BFloat16:
		tensor.Upload(t, data)
	case []lowbit.Float8E4M3FN:
		tensor.Upload(t, data)
	case []lowbit.Float8E5M2:
		tensor.Upload(t, data)
	case []lowbit.Float8E4M3FNUZ:
		tensor.Upload(t, data)
	case []lowbit.Float8E5M2FNUZ:
		tensor.Upload(t, data)
	case []lowbit.Float8E8M0:
		tensor.Upload(t, data)
	case []lowbit.Float4E2M1:
		tensor.Upload(t, data)
	}
}
