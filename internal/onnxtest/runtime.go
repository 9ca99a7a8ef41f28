package onnxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// RuntimeEnv names a Python that has onnx and onnxruntime: tests compare what they export with it.
const RuntimeEnv = "CLGRAD_ONNXRUNTIME"

// Runtime is a folder of models that onnx checks and onnxruntime runs. One that is nil does nothing.
type Runtime struct {
	Tolerance   float64 // how far numbers of models that are added may be off, in parts of the largest; 0: 1e-5
	python, dir string
}

// NewRuntime returns one, nil where RuntimeEnv is not set.
func NewRuntime(t testing.TB) *Runtime {
	python := os.Getenv(RuntimeEnv)
	if python == "" {
		return nil
	}
	return &Runtime{python: python, dir: t.TempDir()}
}

// Add adds a file of a model, with inputs and what it gives for them.
func (r *Runtime) Add(t testing.TB, name string, file []byte, m *onnx.Model, inputs []*tensor.Tensor,
	outputs []*onnx.Value) {
	t.Helper()
	if r == nil {
		return
	}
	dict := tensor.Dict{}
	if r.Tolerance > 0 {
		dict["tolerance"] = tensor.FullOf(inputs[0].Device(), tensor.Float32, r.Tolerance)
	}
	for i, info := range m.Inputs() {
		dict["in:"+info.Name] = inputs[i]
	}
	for i, info := range m.Outputs() {
		dict["out:"+info.Name] = outputs[i].Tensor()
	}
	path := filepath.Join(r.dir, strings.ReplaceAll(name, "/", "_"))
	if err := os.WriteFile(path+".onnx", file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := tensor.SaveNPZ(path+".npz", dict); err != nil {
		t.Fatal(err)
	}
}

// Check reports the models of which onnxruntime has other numbers.
func (r *Runtime) Check(t testing.TB) {
	t.Helper()
	if r == nil {
		return
	}
	script := filepath.Join("scripts", "onnxexport.py") // from the root of the module
	for range 8 {
		if _, err := os.Stat(script); err == nil {
			break
		}
		script = filepath.Join("..", script)
	}
	out, err := exec.Command(r.python, script, r.dir).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("%s", out)
}
