package imagefit

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/clgrad/clgrad/internal/npz"
)

// Write writes the model as a NumPy archive: its arrays by name, and its Spec as JSON in bytes.
// weights is FP32, FP16 or Int8: how matrices are stored. docs/model-format.md describes the file.
func (m *Model) Write(w io.Writer, weights string) error {
	if !slices.Contains(WeightFormats, weights) {
		return fmt.Errorf("imagefit: write model: %w: there are no weights %q: there are %v", ErrConfig, weights, WeightFormats)
	}
	arrays, err := m.arrays()
	if err != nil {
		return fmt.Errorf("imagefit: write model: %w", err)
	}
	if arrays, err = pack(weights, arrays); err != nil {
		return fmt.Errorf("imagefit: write model: %w", err)
	}
	spec := m.Spec
	spec.Weights = weights
	if err := addJSON(arrays, metadataName, spec); err != nil {
		return fmt.Errorf("imagefit: write model: %w", err)
	}
	return npz.Write(w, arrays)
}

// addJSON stores a value as JSON in an array of bytes.
func addJSON(arrays map[string]npz.Array, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	arrays[name] = npz.Array{Shape: []int{len(text)}, Data: text}
	return nil
}

// Check waits for the device and returns an error that wraps ErrDiverged if a weight is not a
// finite number. Neither Write nor WriteCheckpoint write such a model.
func (m *Model) Check() error {
	_, err := m.arrays()
	return err
}

// arrays waits for the device and returns the model's tensors as a file has them, the table of a
// hash encoding in one array for each grid, or what Check does.
func (m *Model) arrays() (map[string]npz.Array, error) {
	arrays := map[string]npz.Array{}
	for name, t := range m.tensors() {
		data, err := t.Float32s()
		if err != nil {
			return nil, err
		}
		if err := checkNumbers(name, data); err != nil {
			return nil, fmt.Errorf("%w: %w, after %d steps: lower the learning rate", ErrDiverged, err, m.Steps)
		}
		arrays[name] = npz.Array{Shape: t.Shape(), Data: data}
	}
	m.splitTable(arrays, "")
	return arrays, nil
}

// splitTable replaces an array of a hash table's shape, called prefix + tableName, by one for each
// grid.
func (s Spec) splitTable(arrays map[string]npz.Array, prefix string) {
	whole, ok := arrays[prefix+tableName]
	if !ok {
		return
	}
	delete(arrays, prefix+tableName)
	at := 0
	for l, g := range s.Encoding.levels(s.Width, s.Height) {
		n := g.Entries * s.Encoding.PerEntry
		arrays[prefix+levelName(l)] = npz.Array{Shape: []int{g.Entries, s.Encoding.PerEntry}, Data: whole.Data.([]float32)[at : at+n]}
		at += n
	}
}

// joinTable is the inverse of splitTable, for arrays of float32 whose shapes have been checked.
func (s Spec) joinTable(arrays map[string]npz.Array, prefix string) {
	if s.Encoding.Kind != Hash {
		return
	}
	var whole []float32
	for l := range s.Encoding.Levels {
		whole = append(whole, arrays[prefix+levelName(l)].Data.([]float32)...)
		delete(arrays, prefix+levelName(l))
	}
	arrays[prefix+tableName] = npz.Array{Shape: []int{len(whole) / s.Encoding.PerEntry, s.Encoding.PerEntry}, Data: whole}
}
