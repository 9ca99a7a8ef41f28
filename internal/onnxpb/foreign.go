package onnxpb

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// formats are files of other kinds, by how they begin at an offset.
var formats = []struct {
	offset int
	begins string
	kind   string
}{
	{0, "version https://git-lfs.github.com/", "a pointer of Git LFS, and the model is not here yet: run git lfs pull"},
	{0, "\x89PNG", "a picture, PNG"},
	{0, "\xff\xd8\xff", "a picture, JPEG"},
	{0, "GIF8", "a picture, GIF"},
	{0, "%PDF", "a document, PDF"},
	{0, "\x1f\x8b", "compressed by gzip: decompress it"},
	{0, "\xfd7zXZ", "compressed by xz: decompress it"},
	{0, "\x28\xb5\x2f\xfd", "compressed by zstd: decompress it"},
	{0, "BZh", "compressed by bzip2: decompress it"},
	{0, "7z\xbc\xaf", "a 7-Zip archive"},
	{257, "ustar", "a tar archive"},
	{0, "\x89HDF", "HDF5, as Keras writes: export the model to ONNX, as with tf2onnx"},
	{0, "\x93NUMPY", "an array of NumPy"},
	{0, "GGUF", "a model in the format GGUF"},
	{4, "TFL3", "a model of TensorFlow Lite: export it to ONNX, as with tf2onnx --tflite"},
	{4, "ORTM", "a model in ONNX Runtime's own format: take the .onnx file that it was made of"},
	{0, "\x80\x02", "a pickle of Python, as older PyTorch writes: export the model with torch.onnx.export"},
	{0, "\x80\x03", "a pickle of Python"},
	{0, "\x80\x04", "a pickle of Python"},
}

// foreign says what a file is that is no model, "" if that is not known.
func foreign(b []byte) string {
	for _, f := range formats {
		if len(b) > f.offset && bytes.HasPrefix(b[f.offset:], []byte(f.begins)) {
			return f.kind
		}
	}
	head := b[:min(len(b), 4096)]
	text := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n\ufeff"))
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return archive(b, head)
	case len(b) > 9 && b[8] == '{' && bytes.Equal(b[5:8], make([]byte, 3)): // behind the length of a header
		return "weights in the format safetensors, without a graph"
	case bytes.HasPrefix(text, []byte("<!doctype html")) || bytes.HasPrefix(text, []byte("<html")):
		return "a page of HTML: a download has brought that in place of the file"
	case bytes.HasPrefix(text, []byte("<?xml")):
		return "XML"
	case tensorFlow(b, head):
		return "a model of TensorFlow: export it to ONNX, as with tf2onnx"
	case isTensor(b):
		return "a tensor of ONNX, and no model"
	case len(text) > 0 && text[0] == '{' && printable(head):
		return "JSON"
	case printable(head):
		return "text"
	}
	return ""
}

// archive says what a zip file is.
func archive(b, head []byte) string {
	tail := b[max(0, len(b)-1<<16):] // its list of files
	switch {
	case bytes.Contains(head, []byte("data.pkl")) || bytes.Contains(tail, []byte("data.pkl")):
		return "a checkpoint of PyTorch: export the model with torch.onnx.export"
	case bytes.Contains(tail, []byte(".npy")):
		return "arrays of NumPy, npz"
	case bytes.Contains(tail, []byte("model.weights.h5")):
		return "a model of Keras: export it to ONNX, as with model.export(format=\"onnx\")"
	}
	return "a zip archive"
}

// tensorFlow reports whether b begins as a SavedModel or a GraphDef, whose fields are not those of a model of ONNX.
func tensorFlow(b, head []byte) bool {
	saved, graph := bytes.HasPrefix(b, []byte{8, 1, 18}), bytes.HasPrefix(b, []byte{10})
	if !saved && !graph {
		return false
	}
	tail := b[max(0, len(b)-1<<16):]
	for _, word := range []string{"Placeholder", "VarHandleOp", "NoOp", "tensorflow", "serving_default", "saved_model"} {
		if bytes.Contains(head, []byte(word)) || bytes.Contains(tail, []byte(word)) {
			return true
		}
	}
	return false
}

// isTensor reports whether b is a TensorProto with the elements that its shape says.
func isTensor(b []byte) bool {
	t, err := ReadTensor(b)
	if err != nil || !t.Type.Valid() || t.Type.Bits() == 0 {
		return false
	}
	_, err = t.Bytes(nil)
	return err == nil
}

// printable reports whether bytes are text.
func printable(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && len(b) >= utf8.UTFMax || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		b = b[n:]
	}
	return true
}
