package onnx_test

import (
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
