package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

func TestTrain(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net, err := train(d)
		if err != nil {
			t.Fatal(err)
		}
		if accuracy, err := test(d, net); err != nil || accuracy < 0.97 {
			t.Errorf("%.3f of the points are separated, err %v", accuracy, err)
		}
	})
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.png")
	var out strings.Builder
	if err := run(&out, "cpu", path); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 30 || !strings.Contains(out.String(), "@@@") {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
}
