package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestLearns: a few passes see most of the noise, and images are drawn whose pixels are as dark as those of digits.
func TestLearns(t *testing.T) {
	exampletest.Long(t)
	images, _ := exampletest.Digits(t)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		m := newDenoiser(d, rng)
		if loss, err := train(d, m, images, rng, 15); err != nil || loss > 0.45 {
			t.Errorf("loss %v, err %v", loss, err)
		}
		drawn := sample(d, m, rng, 100)
		got, err := drawn.Mean().Item()
		if err != nil {
			t.Fatal(err)
		}
		want, err := pixels(images.Tensor(d)).Mean().Item()
		if err != nil || got < want-0.15 || got > want+0.15 {
			t.Errorf("the mean of pixels is %v, that of digits %v, err %v", got, want, err)
		}
		path := filepath.Join(t.TempDir(), "d.png")
		if err := draw(path, drawn); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if img, err := png.Decode(f); err != nil || img.Bounds().Dx() != 400 {
			t.Errorf("%v, err %v", img.Bounds(), err)
		}
	})
}

// TestSchedule: almost nothing of a digit is left at the end.
func TestSchedule(t *testing.T) {
	_, left := schedule(devtest.CPU(t))
	v, err := left.Float32s()
	if err != nil || len(v) != times || v[0] != 1-1e-3 || v[times-1] > 0.005 {
		t.Errorf("%v, err %v", v, err)
	}
}
