package main

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"faces": main}) }

// noise returns a picture in which nobody is.
func noise(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.IntN(256) | i%4/3*255) // opaque
	}
	return img
}

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Scripts(t, func(folder string) error {
		model, err := os.ReadFile("../../testdata/onnx/perceptron.onnx")
		if err != nil {
			return err
		}
		var pixel, wide bytes.Buffer
		if err := png.Encode(&pixel, noise(1, 1)); err != nil {
			return err
		}
		if err := png.Encode(&wide, noise(1000, 3)); err != nil {
			return err
		}
		for name, data := range map[string][]byte{
			"other.onnx": model, "pixel.png": pixel.Bytes(), "wide.png": wide.Bytes(),
			"cut.png": wide.Bytes()[:wide.Len()/2],
		} {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestSuppress: of frames that lie on each other the best stays.
func TestSuppress(t *testing.T) {
	a, b := image.Rect(0, 0, 10, 10), image.Rect(2, 0, 12, 10) // 80 of 120 pixels are shared
	far, right := image.Rect(100, 100, 110, 110), image.Rect(10, 0, 20, 10)
	got := suppress([]face{{a, 0.8}, {b, 0.9}, {far, 0.7}, {right, 0.75}, {image.Rectangle{}, 0.71}})
	want := []face{{b, 0.9}, {right, 0.75}, {image.Rectangle{}, 0.71}, {far, 0.7}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := overlap(a, b); got != 80./120 {
		t.Errorf("the overlap is %v", got)
	}
	if got := suppress(nil); got != nil {
		t.Errorf("of nothing %v", got)
	}
}

// TestBoxes: frames are where the model's boxes are, in pixels of the picture, and within it.
func TestBoxes(t *testing.T) {
	path := exampletest.Model(t, "ultraface_version-RFB-320.onnx")
	exampletest.Set(t, threshold, 0.02) // of noise, so that there are some
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		model, err := onnx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		m := &detector{device: d}
		if m.width, m.height, err = check(model); err != nil || m.width != 320 || m.height != 240 {
			t.Fatalf("%d×%d, %v", m.width, m.height, err)
		}
		if m.session, err = model.Load(d); err != nil {
			t.Fatal(err)
		}
		defer m.session.Close()
		small, err := m.find(noise(320, 240))
		if err != nil || len(small) == 0 {
			t.Fatalf("%v, %v", small, err)
		}
		for range 3 { // the second run is recorded
			again, err := m.find(noise(320, 240))
			if err != nil || !slices.EqualFunc(small, again, func(a, b face) bool { return a.frame == b.frame }) {
				t.Errorf("%v, then %v, %v", small, again, err)
			}
		}
		for _, f := range small {
			if !f.frame.In(image.Rect(0, 0, 320, 240)) {
				t.Errorf("the frame %v is outside", f.frame)
			}
		}
	})
}
