package imagefit

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// TestNumPy runs the program of docs/model-format.md on models of every encoding, as every kind of
// weights, and on a checkpoint: it draws what Render does. CLGRAD_REQUIRE_NUMPY makes the lack of
// NumPy a failure.
func TestNumPy(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	python := "/usr/bin/python3" // the distribution's, which its package of NumPy belongs to
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		if os.Getenv("CLGRAD_REQUIRE_NUMPY") != "" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skip("no NumPy here")
	}
	page, err := os.ReadFile("../docs/model-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```python\n")
	program, _, ok := strings.Cut(program, "```\n")
	if !ok {
		t.Fatal("the page holds no program")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "draw.py")
	if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(30, 22)
	for _, kind := range Encodings {
		cfg := smallOf(kind)
		cfg.Steps = 100
		if kind == Hash {
			img = grayAlpha(img)
		}
		f := run(t, d, img, cfg)
		for _, weights := range append([]string{"checkpoint"}, WeightFormats...) {
			var raw bytes.Buffer
			if weights == "checkpoint" {
				err = f.WriteCheckpoint(&raw)
			} else {
				err = f.Model.Write(&raw, weights)
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := DecodeModel(d, raw.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Render(context.Background(), 30, 22)
			m.Free()
			if err != nil {
				t.Fatal(err)
			}
			model, result := filepath.Join(dir, "model.npz"), filepath.Join(dir, "out.npy")
			if err := os.WriteFile(model, raw.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(python, script, model, result).CombinedOutput(); err != nil {
				t.Fatalf("%s %s: %v\n%s", kind, weights, err, out)
			}
			file, err := os.ReadFile(result)
			if err != nil {
				t.Fatal(err)
			}
			drawn, err := npz.ReadOne(file)
			if err != nil {
				t.Fatal(err)
			}
			got := drawn.Data.([]float64)
			if len(got) != len(want.Pixels) {
				t.Fatalf("%s %s: %v", kind, weights, drawn.Shape)
			}
			for i, v := range want.Pixels {
				if math.Abs(got[i]-float64(v)) > 1e-3 {
					t.Fatalf("%s %s: value %d is %v, Render has %v", kind, weights, i, got[i], v)
				}
			}
		}
		f.Free()
	}
}
