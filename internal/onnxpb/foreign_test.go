package onnxpb

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestForeign: a file of another kind is told by that; a model that is cut off is none.
func TestForeign(t *testing.T) {
	archive := func(names ...string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("x"))
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	tensor := &Tensor{Name: "x", Type: Float, Dims: []int64{1}, HasRaw: true, Raw: make([]byte, 4)}
	for want, file := range map[string]string{
		"it is empty":                   "",
		"git lfs pull":                  "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12\n",
		"a picture, PNG":                "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"torch.onnx.export":             archive("model/data.pkl", "model/version"),
		"npz":                           archive("w.npy"),
		"a zip archive":                 archive("readme.txt"),
		"a page of HTML":                "\n<!DOCTYPE html><html><head>",
		"gzip":                          "\x1f\x8b\x08\x00\x00\x00\x00\x00",
		"HDF5":                          "\x89HDF\r\n\x1a\n",
		"safetensors":                   "\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"dtype\":\"F32\"}}",
		"a model of TensorFlow: export": "\x08\x01\x12\xff\x01\x0a\x10tensorflow.Node",
		"a model of TensorFlow":         "\x0a\x2a\x0a\x01x\x12\x0bPlaceholder",
		"TensorFlow Lite":               "\x1c\x00\x00\x00TFL3\x14\x00",
		"own format":                    "\x1c\x00\x00\x00ORTM\x14\x00",
		"GGUF":                          "GGUF\x03\x00\x00\x00",
		"a pickle of Python":            "\x80\x02}q\x00.",
		"a tensor of ONNX":              string(tensor.Append(nil)),
		"JSON":                          "{\"a\": 1}",
		"it is text":                    "model: größer\n",
	} {
		_, err := ReadModel([]byte(file))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", file[:min(len(file), 20)], err, want)
		}
	}
	m := &Model{IRVersion: 8, ProducerName: "tensorflow", Graph: &Graph{Name: "main", Nodes: []*Node{{Op: "Relu", Inputs: []string{"x"}}}}}
	b := m.Append(nil)
	for i := 1; i < len(b); i++ {
		if _, err := ReadModel(b[:i]); err != nil && strings.Contains(err.Error(), "it is ") && !strings.Contains(err.Error(), "truncated") {
			t.Errorf("%d bytes of a model: %v", i, err)
		}
	}
}
