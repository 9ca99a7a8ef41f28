package onnx

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// FuzzLoad: bytes are refused with an error, or are a model that loads, or runs, or is refused with an error then.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("../testdata/onnx/*.onnx")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no models: %v", err)
	}
	if flag.Lookup("test.fuzz").Value.String() != "" { // models that others use, where they are there
		more, _ := filepath.Glob("../../shared/onnx/models/*.onnx")
		paths = append(paths, more...)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 1<<20 {
			f.Add(b)
		}
	}
	debug.SetMemoryLimit(1 << 30)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil || len(m.Missing()) > 0 {
			return
		}
		d, err := tensor.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		s, err := m.Load(d)
		if err != nil {
			return
		}
		defer s.Close()
		var inputs []*Value
		for _, i := range m.Inputs() {
			typ, ok := i.TensorType()
			if !ok {
				return
			}
			shape := make([]int, len(i.Dims))
			for k := range shape {
				shape[k] = 2
			}
			if len(shape) > tensor.MaxRank {
				return
			}
			inputs = append(inputs, FromTensor(tensor.FullOf(d, tensor.Float32, 1, shape...).To(typ)))
		}
		for range 2 {
			if _, err := s.Run(inputs...); err != nil {
				return
			}
		}
	})
}
