package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"filetypes": main}) }

// standard returns what Magika says of its model standard_v3_3, but for the names of the labels.
func standard() *config {
	c := &config{Start: 1024, End: 1024, Block: 4096, Padding: 256, Least: 8, Threshold: 0.5}
	for i := range 214 {
		c.Labels = append(c.Labels, fmt.Sprintf("label%03d", i))
	}
	return c
}

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Scripts(t, func(folder string) error {
		model, err := os.ReadFile("../../testdata/onnx/perceptron.onnx")
		if err != nil {
			return err
		}
		text, err := json.Marshal(standard()) // with the names that the file has
		if err != nil {
			return err
		}
		program, err := os.ReadFile("main.go")
		if err != nil {
			return err
		}
		at := func(name string) string { return filepath.Join(folder, name) }
		for _, err := range []error{
			os.Mkdir(at("none"), 0o777), os.MkdirAll(at("some/deep"), 0o777), os.Symlink("nowhere", at("some/link")),
			os.WriteFile(at("other.onnx"), model, 0o666), os.WriteFile(at("standard.json"), text, 0o666),
			os.WriteFile(at("some/empty"), nil, 0o666), os.WriteFile(at("some/short"), []byte("äö"), 0o666),
			os.WriteFile(at("some/binary"), []byte{0xff}, 0o666),
			os.WriteFile(at("some/blank"), []byte(strings.Repeat(" \n", 9999)), 0o666),
			os.WriteFile(at("some/deep/main.go"), program, 0o666),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestFeatures: white space at the ends is dropped, what is long is cut, and what is short is padded.
func TestFeatures(t *testing.T) {
	c := &config{Start: 4, End: 3, Padding: 256}
	for _, test := range []struct {
		start, end string
		want       []int32
	}{
		{"abcdef", "abcdef", []int32{'a', 'b', 'c', 'd', 'd', 'e', 'f'}},
		{" \t\na b", " \t\na b", []int32{'a', ' ', 'b', 256, 'a', ' ', 'b'}},
		{"x\v\f\r ", "x\v\f\r ", []int32{'x', '\v', '\f', '\r', 256, 256, 'x'}},
		{"\xff\x00", "\x00\xff", []int32{255, 0, 256, 256, 256, 0, 255}},
		{" ", "\n", []int32{256, 256, 256, 256, 256, 256, 256}},
		{"", "", []int32{256, 256, 256, 256, 256, 256, 256}},
	} {
		if got := c.features([]byte(test.start), []byte(test.end)); !slices.Equal(got, test.want) {
			t.Errorf("%q, %q: %v, want %v", test.start, test.end, got, test.want)
		}
	}
}

// TestLabel: a label that is not sure enough has a question mark, and some are called otherwise.
func TestLabel(t *testing.T) {
	c := &config{Labels: []string{"go", "random", "sql"}, Thresholds: map[string]float32{"sql": 0.9}, Threshold: 0.5,
		Overwrite: map[string]string{"random": "unknown"}}
	for want, scores := range map[string][]float32{
		"go": {0.5, 0.3, 0.2}, "go?": {0.4, 0.3, 0.3}, "unknown": {0.1, 0.6, 0.3},
		"sql?": {0, 0.11, 0.89}, "sql": {0, 0.1, 0.9},
	} {
		if got, _ := c.label(scores); got != want {
			t.Errorf("%v: %s, want %s", scores, got, want)
		}
	}
}

// TestModel: all programs of a folder have one label, whatever the batch, and pictures have another.
func TestModel(t *testing.T) {
	path := exampletest.Model(t, "magika_standard_v3_3.onnx")
	c := standard()
	var files []*result
	for _, pattern := range []string{"../../tensor/[a-d]*.go", "../*/*.png"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) < 2 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			f, err := c.read(name)
			if err != nil || f.features == nil {
				t.Fatalf("%+v, %v", f, err)
			}
			files = append(files, &f)
		}
	}
	if len(files) <= batch {
		t.Fatalf("%d files are no two batches", len(files))
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		model, err := onnx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.check(model); err != nil {
			t.Fatal(err)
		}
		session, err := model.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if err := classify(session, d, c, files); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			other := files[0]
			if strings.HasSuffix(f.path, ".png") {
				other = files[len(files)-1]
			}
			if f.label != other.label || f.score < 0.9 {
				t.Errorf("%s is %s, %v, and %s is %s", f.path, f.label, f.score, other.path, other.label)
			}
		}
		if files[0].label == files[len(files)-1].label {
			t.Errorf("a program and a picture are both %s", files[0].label)
		}
	})
}
