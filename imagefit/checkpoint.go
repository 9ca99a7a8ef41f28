package imagefit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// ErrCheckpoint is what a file is that does not hold a checkpoint, or one of something else.
var ErrCheckpoint = errors.New("not a usable checkpoint")

// Checkpoint is what a checkpoint holds beside the model and the moments of its optimizers. It is
// stored as JSON under the name "checkpoint".
type Checkpoint struct {
	Config Config   `json:"config"`       // of the fit
	Image  string   `json:"image_sha256"` // of its pixels
	Device string   `json:"device"`       // that it was made on: on another, the last bits may differ
	Steps  int      `json:"steps"`        // done
	Calls  uint32   `json:"rng_calls"`    // of the stream of pixels
	Flat   flatness `json:"mse"`          // readings so far
	// Seconds of training so far; 0 in files that older versions wrote.
	Seconds float64 `json:"seconds"`
	Aim     int     `json:"aim,omitempty"` // the step at which a schedule ends that is planned for a PSNR
}

const stateName = "checkpoint"

// mostSeconds of training that a checkpoint may have: a century, less than a Duration holds.
const mostSeconds = 100 * 366 * 24 * 3600

// digest identifies the pixels of an image.
func (m *Image) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %s\n", m.Width, m.Height, m.Colour)
	const piece = 1 << 14 // not all of them in memory once more
	buf := make([]byte, 0, 4*piece)
	for p := range slices.Chunk(m.Pixels, piece) {
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, p) // a slice of floats does not fail
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// WriteCheckpoint waits for the device and writes everything from which Resume continues bit for
// bit: a model file that holds the moments of the optimizers, too. Only of a float32 device, which
// is what a checkpoint's arrays are.
func (f *Fit) WriteCheckpoint(w io.Writer) error {
	if f.device.DefaultType() != kernels.Float32 {
		return errors.New("imagefit: write checkpoint: the device is of float64, checkpoints are of float32")
	}
	arrays, err := f.Model.arrays()
	if err != nil {
		return fmt.Errorf("imagefit: write checkpoint: %w", err)
	}
	for _, o := range f.opts {
		for name, t := range o.State().Tensors {
			data, err := t.Float32s()
			if err != nil {
				return fmt.Errorf("imagefit: write checkpoint: %w", err)
			}
			t.Free()
			if err := checkMoment(name, data); err != nil {
				return fmt.Errorf("imagefit: write checkpoint: %w: %w: lower the learning rate", ErrDiverged, err)
			}
			arrays[name] = npz.Array{Shape: t.Shape(), Data: data}
		}
	}
	for _, m := range moments {
		f.Model.splitTable(arrays, m)
	}
	state := Checkpoint{f.Config, f.digest, f.device.Name(), f.Steps(), f.rng.Calls, f.flat, f.Trained().Seconds(), f.aim}
	if err := errors.Join(addJSON(arrays, metadataName, f.Model.Spec), addJSON(arrays, stateName, state)); err != nil {
		return fmt.Errorf("imagefit: write checkpoint: %w", err)
	}
	return npz.Write(w, arrays)
}

// moments are the prefixes of the names of AdamW's memory.
var moments = []string{"m.", "v."}

func isMoment(name string) bool {
	return slices.ContainsFunc(moments, func(m string) bool { return strings.HasPrefix(name, m) })
}

// A Saved is a checkpoint that was read and found whole.
type Saved struct {
	Checkpoint
	spec    Spec
	arrays  map[string]npz.Array // of the model
	moments map[string]npz.Array
}

// ReadCheckpoint reads a checkpoint. Errors of the contents wrap ErrCheckpoint.
func ReadCheckpoint(path string) (*Saved, error) {
	raw, err := regular.Read(path, math.MaxInt64)
	if err != nil {
		return nil, fmt.Errorf("imagefit: read checkpoint: %w", err)
	}
	s, err := DecodeCheckpoint(raw)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %s: %w", path, err)
	}
	return s, nil
}

// DecodeCheckpoint is ReadCheckpoint of a file's contents.
func DecodeCheckpoint(raw []byte) (*Saved, error) { return Bounds{}.DecodeCheckpoint(raw) }

// DecodeCheckpoint is the function DecodeCheckpoint within the bounds.
func (b Bounds) DecodeCheckpoint(raw []byte) (*Saved, error) {
	f, err := openModel(raw, b)
	if err == nil && f.state == nil {
		err = errors.New("it is a model, without the state that training resumes from: --checkpoint writes a file with both")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	s, err := f.saved()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return s, nil
}

// saved reads the arrays of a checkpoint.
func (f *modelFile) saved() (*Saved, error) {
	s := &Saved{Checkpoint: *f.state, spec: f.spec}
	var err error
	if s.arrays, err = f.weights(); err != nil {
		return nil, err
	}
	if s.moments, err = f.moments(); err != nil {
		return nil, err
	}
	s.spec.joinTable(s.arrays, "")
	for _, m := range moments {
		s.spec.joinTable(s.moments, m)
	}
	return s, nil
}

// UnmarshalJSON reads what Marshal wrote, and files of older versions, which called the setting
// Eager otherwise.
func (c *Config) UnmarshalJSON(text []byte) error {
	type plain Config // without this method
	older := struct {
		*plain
		NoFuse bool `json:"no_fuse"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(text, &older); err != nil {
		return err
	}
	c.Eager = c.Eager || older.NoFuse
	return nil
}

// check finds what no checkpoint of a model is.
func (c *Checkpoint) check(spec Spec) error {
	if c.Config.Schedule == "" { // written before there was a choice
		c.Config.Schedule = Exponential
	}
	if err := c.Config.Validate(); err != nil {
		return err
	}
	if c.Steps != spec.Steps {
		return fmt.Errorf("it has done %d steps, its model %d", c.Steps, spec.Steps)
	}
	if !(c.Seconds >= 0 && c.Seconds <= mostSeconds) {
		return fmt.Errorf("it has trained for %v seconds", c.Seconds)
	}
	if c.Aim < 0 {
		return fmt.Errorf("its schedule ends at step %d", c.Aim)
	}
	if spec.Weights != FP32 {
		return fmt.Errorf("its weights are %s: those of a checkpoint are %s", spec.Weights, FP32)
	}
	for _, mse := range c.Flat {
		if mse < 0 {
			return fmt.Errorf("a mean squared error of its run is %v", mse)
		}
	}
	return nil
}

// Resume returns the fit that a checkpoint was written of. Its next step is the one that would have
// come next; on the device that the checkpoint was made on, everything from there on has the same
// bits. The image must be the same, and so must the settings be, apart from those that say when to
// stop or report. The error wraps ErrCheckpoint and says how they differ; where only settings do,
// it wraps ErrSettings, too.
func Resume(d tensor.Device, img *Image, s *Saved, cfg Config) (*Fit, error) {
	if err := s.compare(img, cfg); err != nil {
		return nil, fmt.Errorf("imagefit: resume: %w: %w", ErrCheckpoint, err)
	}
	f, err := New(d, img, cfg)
	if err != nil {
		return nil, err
	}
	if err := f.restore(s); err != nil {
		f.Free()
		return nil, fmt.Errorf("imagefit: resume: %w: %w", ErrCheckpoint, err)
	}
	return f, nil
}

// ErrSettings is what a checkpoint is whose settings are not those that it is to continue with.
var ErrSettings = errors.New("its settings differ")

// compare says how the checkpoint differs from what is to be resumed.
func (s *Saved) compare(img *Image, cfg Config) error {
	if s.spec.Width != img.Width || s.spec.Height != img.Height || s.spec.Colour != img.Colour {
		return fmt.Errorf("it is of an image of %d×%d pixels (%v), this one has %d×%d (%v)", s.spec.Width, s.spec.Height, s.spec.Colour,
			img.Width, img.Height, img.Colour)
	}
	if s.Image != img.digest() {
		return errors.New("it is of another image of the same size")
	}
	if d := differences(s.Config, cfg); len(d) > 0 {
		return fmt.Errorf("%w: %s", ErrSettings, strings.Join(d, "; "))
	}
	spec, err := newSpec(img, cfg)
	if err != nil {
		return err
	}
	spec.Steps = s.spec.Steps
	if spec != s.spec {
		return fmt.Errorf("its model is not what its settings make: %+v, not %+v", s.spec, spec)
	}
	return nil
}

// differences lists the settings that change what is learned and are not the same.
func differences(saved, wanted Config) []string {
	saved.Steps, saved.LogEvery, saved.UntilFlat = wanted.Steps, wanted.LogEvery, wanted.UntilFlat
	a, b := fields(saved), fields(wanted)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			list = append(list, fmt.Sprintf("%s is %v in the checkpoint, %v here", name, a[name], b[name]))
		}
	}
	return list
}

// fields returns the settings by their names in JSON.
func fields(c Config) map[string]any {
	all := map[string]any{}
	e := reflect.ValueOf(c.Encoding)
	for i := range e.NumField() {
		all[jsonName(e.Type().Field(i))] = e.Field(i).Interface()
	}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Name != "Encoding" {
			all[jsonName(f)] = v.Field(i).Interface()
		}
	}
	return all
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// restore copies the checkpoint's state.
func (f *Fit) restore(s *Saved) error {
	if err := f.Model.load(s.arrays); err != nil {
		return err
	}
	for _, o := range f.opts {
		state := optim.State{Steps: s.Steps, Tensors: tensor.Dict{}}
		own := o.State().Tensors
		for name, t := range own {
			a := s.moments[name]
			data, ok := a.Data.([]float32)
			if ok && slices.Equal(a.Shape, t.Shape()) {
				state.Tensors[name] = tensor.NewOf(f.device, t.Type(), data, a.Shape...)
			}
			t.Free()
		}
		err := o.Restore(state)
		for _, t := range state.Tensors {
			t.Free()
		}
		if err != nil {
			return err
		}
	}
	f.rng.Calls, f.flat, f.aim = s.Calls, s.Flat, s.Aim
	f.spent = time.Duration(s.Seconds * float64(time.Second))
	f.Model.Steps = s.Steps
	return f.device.Err()
}
