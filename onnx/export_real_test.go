package onnx_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// TestExportReal: models that others trained are loaded for training, and written as their files have them, and again
// by the operations on nodes that they call.
func TestExportReal(t *testing.T) {
	files, _ := filepath.Glob("../../shared/onnx/models/*.onnx")
	if len(files) == 0 {
		t.Skip("../shared/onnx has no models")
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	r := onnxtest.NewRuntime(t)
	if r != nil {
		r.Tolerance = 1e-3
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".onnx")
		t.Run(name, func(t *testing.T) {
			m, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Load(d, onnx.Options{Training: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			nn.Eval(s)
			dict, err := tensor.LoadNPZ(d, "../../shared/onnx/pairs/"+name+".npz")
			if err != nil {
				t.Fatal(err)
			}
			var inputs []*tensor.Tensor
			var o onnx.ExportOptions
			for _, info := range m.Inputs() {
				inputs, o.Inputs = append(inputs, dict["in:"+info.Name]), append(o.Inputs, info.Name)
			}
			for _, info := range m.Outputs() {
				o.Outputs = append(o.Outputs, info.Name)
			}
			o.Forward = func(in []*tensor.Tensor) []*autograd.Node {
				var nodes []*autograd.Node
				for _, x := range in {
					nodes = append(nodes, autograd.Const(x))
				}
				return s.Forward(nodes...)
			}
			model := struct{ Base *onnx.Session }{s}
			exported(t, d, &model, inputs, o).wantSame(t, r, o.Forward, inputs...)
			exported(t, d, s, nil, onnx.ExportOptions{}).wantSame(t, nil, o.Forward, inputs...)
		})
	}
	r.Check(t)
}

// TestExportRealDouble: what is written by the operations computes in double what the file computes in double. In single
// precision all runtimes are off by 2·10⁻³ of the largest number in two models: basic_pitch takes logarithms of numbers
// near 0, which have lost their digits before, and mlsd compares a picture with its maxima, where neighbours are alike.
func TestExportRealDouble(t *testing.T) {
	files, _ := filepath.Glob("../../shared/onnx/models/*.onnx")
	if len(files) == 0 || testing.Short() {
		t.Skip("../shared/onnx has no models, or the test is short")
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	double := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".onnx")
		t.Run(name, func(t *testing.T) {
			m, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Load(d, onnx.Options{Training: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			nn.Eval(s)
			dict, err := tensor.LoadNPZ(d, "../../shared/onnx/pairs/"+name+".npz")
			if err != nil {
				t.Fatal(err)
			}
			var inputs []*tensor.Tensor
			var o onnx.ExportOptions
			for _, info := range m.Inputs() {
				inputs, o.Inputs = append(inputs, dict["in:"+info.Name]), append(o.Inputs, info.Name)
			}
			o.Forward = func(in []*tensor.Tensor) []*autograd.Node {
				var nodes []*autograd.Node
				for _, x := range in {
					nodes = append(nodes, autograd.Const(x))
				}
				return s.Forward(nodes...)
			}
			var b bytes.Buffer
			if err := onnx.Export(&b, &struct{ Base *onnx.Session }{s}, inputs, o); err != nil {
				t.Fatal(err)
			}
			written, err := onnx.Parse(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			want, got := inDouble(t, double, m, inputs), inDouble(t, double, written, inputs)
			for i := range want {
				largest, off := 0.0, 0.0
				for k, w := range want[i] {
					largest, off = max(largest, math.Abs(w)), max(off, math.Abs(got[i][k]-w))
				}
				if !(off <= 1e-12*largest) {
					t.Errorf("output %d is off by %v, of numbers up to %v", i, off, largest)
				}
			}
		})
	}
}

// inDouble returns what a model computes, as its file has it, on a device of double.
func inDouble(t *testing.T, d tensor.Device, m *onnx.Model, inputs []*tensor.Tensor) [][]float64 {
	t.Helper()
	s, err := m.Load(d, onnx.Options{Eager: true, Skip: onnx.Passes()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var values []*onnx.Value
	for _, x := range inputs {
		var y *tensor.Tensor
		if x.Type().Float() {
			numbers, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			y = tensor.NewOf(d, tensor.Float64, numbers, append([]int{}, x.Shape()...)...)
		} else {
			numbers, err := x.To(tensor.Int64).Int64s()
			if err != nil {
				t.Fatal(err)
			}
			y = tensor.NewOf(d, x.Type(), numbers, append([]int{}, x.Shape()...)...)
		}
		values = append(values, onnx.FromTensor(y))
	}
	out, err := s.Run(values...)
	if err != nil {
		t.Fatal(err)
	}
	list := make([][]float64, len(out))
	for i, v := range out {
		if list[i], err = v.Tensor().Float64s(); err != nil {
			t.Fatal(err)
		}
		v.Free()
	}
	return list
}
