package imagefit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
)

// A modelFile is a model file or a checkpoint whose description was read and found to be that of
// its arrays. The arrays are not in memory yet.
type modelFile struct {
	archive *npz.Archive
	spec    Spec
	state   *Checkpoint // nil: it is a model alone
}

// mostJSON bounds the description of a model, and of a checkpoint, which holds a number for every
// reading of its run.
const mostJSON = 1 << 26

// openModel reads what a file says of itself, and compares it with the names, types and shapes of
// its arrays.
func openModel(raw []byte, b Bounds) (*modelFile, error) {
	if kind := kindOf(raw); kind != "" {
		return nil, fmt.Errorf("it is %s", kind)
	}
	archive, err := npz.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	f := &modelFile{archive: archive}
	if err := readJSON(archive, metadataName, &f.spec); err != nil {
		return nil, err
	}
	if _, ok := archive.Header(stateName); ok {
		f.state = &Checkpoint{}
		if err := readJSON(archive, stateName, f.state); err != nil {
			return nil, err
		}
	}
	if err := f.spec.check(len(archive.Names())); err != nil {
		return nil, err
	}
	if f.state != nil {
		if err := f.state.check(f.spec); err != nil {
			return nil, err
		}
	}
	if err := f.compare(); err != nil {
		return nil, err
	}
	// As they are stored, as float32, and on a device that may have the same memory.
	return f, b.allow(fmt.Sprintf("reading %d numbers", f.numbers()), int64(len(raw))+archive.Bytes()+8*f.numbers())
}

// numbers returns how many there are in the arrays.
func (f *modelFile) numbers() int64 {
	var n int64
	for _, name := range f.archive.Names() {
		h, _ := f.archive.Header(name)
		n += int64(npz.Len(h.Shape))
	}
	return n
}

// readJSON reads into v what addJSON stored.
func readJSON(archive *npz.Archive, name string, v any) error {
	h, ok := archive.Header(name)
	if !ok || h.Type != "|u1" {
		return fmt.Errorf("it has no %q", name)
	}
	if h.Bytes() > mostJSON {
		return fmt.Errorf("%q has %d bytes, %d are read", name, h.Bytes(), mostJSON)
	}
	a, err := archive.Read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(a.Data.([]uint8), v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// stored returns the arrays that a file has, with the description, as they are stored.
func (f *modelFile) stored() map[string]npz.Header {
	all := map[string]npz.Header{}
	for name, shape := range f.spec.shapes() {
		switch {
		case f.spec.Weights == FP16 && compact(name, shape):
			all[name] = npz.Header{Type: "<f2", Shape: shape}
		case f.spec.Weights == Int8 && compact(name, shape):
			all[name] = npz.Header{Type: "|i1", Shape: shape}
			all[name+scaleSuffix] = npz.Header{Type: "<f4", Shape: shape[1:]}
		default:
			all[name] = npz.Header{Type: "<f4", Shape: shape}
		}
		if f.state != nil && name != wavesName {
			for _, m := range moments {
				all[m+name] = npz.Header{Type: "<f4", Shape: shape}
			}
		}
	}
	return all
}

// compare says how the arrays that are there differ from those that the description calls for.
func (f *modelFile) compare() error {
	stored := f.stored()
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		want := stored[name]
		h, ok := f.archive.Header(name)
		switch {
		case !ok:
			return fmt.Errorf("there is no array %q", name)
		case !slices.Equal(h.Shape, want.Shape):
			return fmt.Errorf("array %q has shape %v, the metadata says %v", name, h.Shape, want.Shape)
		case h.Fortran && len(h.Shape) > 1:
			return fmt.Errorf("array %q is in Fortran order: save it with numpy.ascontiguousarray", name)
		case h.Type[0] == '>' && h.Element() == want.Element():
			return fmt.Errorf("array %q is big-endian: save it with astype(%q)", name, want.Type)
		case h.Type == "<u2" && want.Type == "<f2": // older files hold the bits of fp16
		case h.Type != want.Type:
			return fmt.Errorf("array %q holds %s: with the weights %s it holds %s", name, h.Element(), f.spec.Weights, want.Element())
		}
	}
	for _, name := range f.archive.Names() {
		if _, ok := stored[name]; !ok && name != metadataName && name != stateName {
			return fmt.Errorf("array %q belongs to no such model", name)
		}
	}
	return nil
}

// weights reads the arrays of the model as float32, under the names of the file.
func (f *modelFile) weights() (map[string]npz.Array, error) {
	packed := map[string]npz.Array{}
	for name := range f.stored() {
		if f.state != nil && isMoment(name) {
			continue
		}
		var err error
		if packed[name], err = f.archive.Read(name); err != nil {
			return nil, err
		}
	}
	arrays := unpack(packed)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		if err := checkNumbers(name, arrays[name].Data.([]float32)); err != nil {
			return nil, err
		}
	}
	return arrays, nil
}

// moments reads the arrays of the optimizers, under the names of the file.
func (f *modelFile) moments() (map[string]npz.Array, error) {
	arrays := map[string]npz.Array{}
	for name := range f.stored() {
		if !isMoment(name) {
			continue
		}
		a, err := f.archive.Read(name)
		if err == nil {
			err = checkMoment(name, a.Data.([]float32))
		}
		if err != nil {
			return nil, err
		}
		arrays[name] = a
	}
	return arrays, nil
}

// ReadModel reads a model file, or the model in a checkpoint, onto a device. Errors of the contents
// wrap ErrModel.
func ReadModel(d tensor.Device, path string) (*Model, error) {
	raw, err := regular.Read(path, math.MaxInt64)
	if err != nil {
		return nil, fmt.Errorf("imagefit: read model: %w", err)
	}
	m, err := DecodeModel(d, raw)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %s: %w", path, err)
	}
	return m, nil
}

// DecodeModel is ReadModel of a file's contents.
func DecodeModel(d tensor.Device, raw []byte) (*Model, error) { return Bounds{}.DecodeModel(d, raw) }

// DecodeModel is the function DecodeModel within the bounds.
func (b Bounds) DecodeModel(d tensor.Device, raw []byte) (*Model, error) {
	f, err := openModel(raw, b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	arrays, err := f.weights()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	f.spec.joinTable(arrays, "")
	m := newModel(d, f.spec, tensor.NewRNG(0))
	if err := m.load(arrays); err != nil {
		m.Free()
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return m, d.Err()
}

// load copies arrays into the model's tensors of the same names.
func (m *Model) load(arrays map[string]npz.Array) error {
	for name, t := range m.tensors() {
		a, ok := arrays[name].Data.([]float32)
		if !ok || len(a) != t.Len() {
			return fmt.Errorf("array %q does not fit", name)
		}
		from := tensor.NewOf(m.device, t.Type(), a, t.Shape()...)
		t.SetInPlace(from)
		from.Free()
	}
	return m.device.Err()
}
