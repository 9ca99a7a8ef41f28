package onnx

import (
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
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
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
			inputs = append(inputs, FromTensor(tensor.FullOf(d, typ, 1, shape...)))
		}
		for range 2 {
			if _, err := s.Run(inputs...); err != nil {
				return
			}
		}
	})
}
