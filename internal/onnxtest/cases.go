// Package onnxtest runs the backend tests of the ONNX project: folders that hold a model, inputs and outputs.
package onnxtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// Case is a folder of tests: a model, and sets of inputs and outputs.
type Case struct {
	Name  string // "node/test_abs"
	Model string
	Sets  []string // folders of input_*.pb and output_*.pb
	Light []string // files of outputs, of a model whose inputs are made up
	Rtol  float64
	Atol  float64
}

// Cases returns the cases below a folder, sorted by name: every folder that holds a model.onnx, and those of float
// models whose data.json names a file of light models.
func Cases(root string) ([]Case, error) {
	var cases []Case
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != "model.onnx" && e.Name() != "data.json" {
			return err
		}
		dir := filepath.Dir(path)
		c := Case{Name: filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir), Model: path, Rtol: 1e-3, Atol: 1e-7}
		if e.Name() == "data.json" {
			if light, err := c.light(path); err != nil || !light {
				return err
			}
		} else if c.Sets, err = filepath.Glob(filepath.Join(dir, "test_data_set_*")); err != nil {
			return err
		}
		cases = append(cases, c)
		return nil
	})
	slices.SortFunc(cases, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return cases, err
}

// light sets the files of a case that a data.json describes, and reports whether they are there.
func (c *Case) light(path string) (bool, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	data := struct {
		Rtol, Atol float64
		URL        string
	}{c.Rtol, c.Atol, ""}
	if err := json.Unmarshal(b, &data); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	c.Rtol, c.Atol = data.Rtol, data.Atol
	_, file, ok := strings.Cut(data.URL, "/test/data/")
	if !ok {
		return false, nil
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	c.Model = filepath.Join(root, filepath.FromSlash(file))
	c.Light, err = filepath.Glob(strings.TrimSuffix(c.Model, ".onnx") + "_output_*.pb")
	return len(c.Light) > 0, err
}

// Run runs a case on a device. The error says what differs.
func (c Case) Run(d tensor.Device, options onnx.Options) error {
	model, err := onnx.Open(c.Model)
	if err != nil {
		return err
	}
	session, err := model.Load(d, options)
	if err != nil {
		return err
	}
	defer session.Close()
	if c.Light != nil {
		inputs, err := Made(d, model)
		if err != nil {
			return err
		}
		return c.set(d, session, model, inputs, c.Light)
	}
	if len(c.Sets) == 0 {
		return errors.New("the case has no data")
	}
	for _, dir := range c.Sets {
		inputs, err := Inputs(d, model, dir)
		if err != nil {
			return err
		}
		outputs, err := filepath.Glob(filepath.Join(dir, "output_*.pb"))
		if err != nil {
			return err
		}
		if err := c.set(d, session, model, inputs, outputs); err != nil {
			return err
		}
	}
	return nil
}

// Inputs returns the inputs of a set.
func Inputs(d tensor.Device, model *onnx.Model, dir string) ([]*onnx.Value, error) {
	infos := model.Inputs()
	var inputs []*onnx.Value
	for i := range len(infos) {
		path := filepath.Join(dir, fmt.Sprintf("input_%d.pb", i))
		if _, err := os.Stat(path); err != nil {
			break
		}
		v, err := onnx.ReadValue(d, path, infos[i].Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		inputs = append(inputs, v)
	}
	return inputs, nil
}

// Made returns the inputs of light models: 0, 1/n, 2/n, …
func Made(d tensor.Device, model *onnx.Model) ([]*onnx.Value, error) {
	var inputs []*onnx.Value
	for _, info := range model.Inputs() {
		shape, n := []int{}, 1
		for _, dim := range info.Dims {
			size := 1
			fmt.Sscan(dim, &size)
			shape, n = append(shape, size), n*size
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(float64(i) / float64(n))
		}
		inputs = append(inputs, onnx.FromTensor(tensor.New(d, x, shape...)))
	}
	return inputs, nil
}

func (c Case) set(d tensor.Device, session *onnx.Session, model *onnx.Model, inputs []*onnx.Value, files []string) error {
	outputs, err := session.Run(inputs...)
	if err != nil {
		return err
	}
	if len(files) > len(outputs) {
		return fmt.Errorf("%d outputs, and %d are expected", len(outputs), len(files))
	}
	for i, path := range files {
		want, err := onnx.ReadValue(d, path, model.Outputs()[i].Type)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if err := c.compare(outputs[i], want); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	return nil
}

// compare returns an error unless both values have the same type and shape, and numbers within the tolerances.
func (c Case) compare(got, want *onnx.Value) error {
	switch {
	case want.IsOptional() || want.IsSequence():
		if got.IsOptional() != want.IsOptional() || got.IsSequence() != want.IsSequence() || len(got.Sequence()) != len(want.Sequence()) {
			return fmt.Errorf("%v, and expected is %v", got, want)
		}
		for i, w := range want.Sequence() {
			if err := c.compare(got.Sequence()[i], w); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	case got.IsStrings() != want.IsStrings() || got.IsSequence() || got.IsOptional() || !slices.Equal(got.Shape(), want.Shape()):
		return fmt.Errorf("%v, and expected is %v", got, want)
	case want.IsStrings():
		if !reflect.DeepEqual(got.Strings(), want.Strings()) {
			return fmt.Errorf("%q, and expected is %q", got.Strings(), want.Strings())
		}
		return nil
	}
	g, w := got.Tensor(), want.Tensor()
	if g.Type() != w.Type() {
		return fmt.Errorf("%v, and expected is %v", got, want)
	}
	rtol := c.Rtol
	if w.Type() == tensor.BFloat16 {
		rtol = max(rtol, 1.0/64) // two units in the last place, as the tests have it
	}
	x, err := g.Float64s()
	if err != nil {
		return err
	}
	y, err := w.Float64s()
	if err != nil {
		return err
	}
	for i := range y {
		if x[i] == y[i] || math.IsNaN(x[i]) && math.IsNaN(y[i]) {
			continue
		}
		if diff := math.Abs(x[i] - y[i]); !(diff <= c.Atol+rtol*math.Abs(y[i])) || math.IsInf(y[i], 0) {
			return fmt.Errorf("element %d of %v is %v, and expected is %v", i, want, x[i], y[i])
		}
	}
	return nil
}
