package imagefit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/npz"
)

// About says what a model file or a checkpoint holds.
type About struct {
	Spec
	Params     int          `json:"params"` // weights that were trained
	Arrays     []AboutArray `json:"arrays"` // of the model
	Checkpoint *Checkpoint  `json:"checkpoint,omitempty"`
}

// AboutArray says what an array of a model file is.
type AboutArray struct {
	Name    string `json:"name"`
	Shape   []int  `json:"shape"`
	Weights int    `json:"weights"`
	Type    string `json:"type"` // fp32, fp16 or int8
}

// Inspect reads a model file or a checkpoint without a device. Errors of the contents wrap ErrModel.
func Inspect(raw []byte) (*About, error) {
	arrays, err := npz.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	about := &About{}
	if _, ok := arrays[stateName]; ok {
		saved := &Saved{arrays: maps.Clone(arrays), moments: map[string]npz.Array{}}
		if err := saved.take(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrModel, err)
		}
		about.Checkpoint = &saved.Checkpoint
		dropState(arrays)
	}
	stored := maps.Clone(arrays)
	if about.Spec, err = takeModel(arrays); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		a := AboutArray{Name: name, Shape: arrays[name].Shape, Weights: npz.Len(arrays[name].Shape), Type: FP32}
		switch stored[name].Data.(type) {
		case []uint16:
			a.Type = FP16
		case []int8:
			a.Type = Int8
		}
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
