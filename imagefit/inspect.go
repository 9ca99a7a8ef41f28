package imagefit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/npz"
)

// About says what a model file or a checkpoint holds.
type About struct {
	Spec
	Params     int          `json:"params"`               // weights that were trained
	Arrays     []AboutArray `json:"arrays"`               // of the model
	Checkpoint *Checkpoint  `json:"checkpoint,omitempty"` // nil for a model file
}

// AboutArray says what an array of a model file is.
type AboutArray struct {
	Name    string `json:"name"`    // in the file
	Shape   []int  `json:"shape"`   // of the stored array
	Weights int    `json:"weights"` // elements
	Type    string `json:"type"`    // fp32, fp16 or int8
}

// Inspect reads a model file or a checkpoint without a device. Errors of the contents wrap
// ErrModel.
func Inspect(raw []byte) (*About, error) { return Bounds{}.Inspect(raw) }

// Inspect is the function Inspect within the bounds.
func (b Bounds) Inspect(raw []byte) (*About, error) {
	f, err := openModel(raw, b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	// A damaged file has a description, too: only reading all of it shows that it is whole.
	if _, err := f.weights(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if _, err := f.moments(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	about := &About{Spec: f.spec, Checkpoint: f.state}
	stored, shapes := f.stored(), f.spec.shapes()
	types := map[string]string{"<f4": FP32, "<f2": FP16, "|i1": Int8}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		a := AboutArray{Name: name, Shape: shapes[name], Weights: npz.Len(shapes[name]), Type: types[stored[name].Type]}
		about.Arrays = append(about.Arrays, a)
		if name != wavesName {
			about.Params += a.Weights
		}
	}
	return about, nil
}

// String names the encoding and its settings.
func (e Encoding) String() string {
	var b strings.Builder
	b.WriteString(e.Kind)
	for _, s := range []struct {
		format string
		value  any
		has    bool
	}{
		{", %d features", e.Features, e.Features != 0}, {", sigma %v", e.Sigma, e.Sigma != 0}, {", omega %v", e.Omega, e.Omega != 0},
		{", %d grids", e.Levels, e.Levels != 0}, {" of %d", e.Coarsest, e.Coarsest != 0}, {" to %d cells", e.Finest, e.Finest != 0},
		{", at most %d entries", e.Table, e.Table != 0}, {" of %d features", e.PerEntry, e.PerEntry != 0},
	} {
		if s.has {
			fmt.Fprintf(&b, s.format, s.value)
		}
	}
	return b.String()
}
