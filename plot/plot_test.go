package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/plot"
	"github.com/clgrad/clgrad/tensor"
)

// texts returns the texts of a figure, and how many paths it draws.
func texts(t *testing.T, panels []plot.Panel, opts ...plot.Options) (found []string, paths int) {
	t.Helper()
	var b bytes.Buffer
	if err := plot.Write(&b, "svg", panels, opts...); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err == io.EOF {
			return found, paths
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			if s := strings.TrimSpace(string(token)); s != "" {
				found = append(found, s)
			}
		case xml.StartElement:
			if token.Name.Local == "path" {
				paths++
			}
		}
	}
}

func TestCurves(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	panel := plot.Panel{Title: "loss & more", XLabel: "step", YLabel: "mean", LogY: true,
		Curves: []plot.Curve{{Name: "train", Y: []float64{3, 1, 0.3, nan, 0.1, 0, 0.02, inf}}, {Name: "test", X: []float64{0, 7}, Y: []float64{2, 0.5}}}}
	found, paths := texts(t, []plot.Panel{panel})
	all := strings.Join(found, "|")
	for _, want := range []string{"loss & more", "step", "mean", "train", "test", "0.1", "0.05", "0", "2", "6"} {
		if !strings.Contains("|"+all+"|", "|"+want+"|") {
			t.Errorf("no %q in %q", want, all)
		}
	}
	panel.Curves[0].Y = []float64{3, 1, 0.3, 0.2, 0.1, 0.05, 0.02, 0.02}
	if _, whole := texts(t, []plot.Panel{panel}); whole >= paths {
		t.Errorf("%d paths without gaps, %d with", whole, paths)
	}
	for name, p := range map[string]plot.Panel{
		"nothing":      {},
		"no number":    {Curves: []plot.Curve{{Y: []float64{nan, inf}}}},
		"none above 0": {LogY: true, LogX: true, Curves: []plot.Curve{{Y: []float64{0, -1}}}},
		"one point":    {Curves: []plot.Curve{{Y: []float64{5}}}},
		"equal":        {LogX: true, Curves: []plot.Curve{{X: []float64{1, 2}, Y: []float64{0, 0}}}},
		"huge":         {LogY: true, Curves: []plot.Curve{{Y: []float64{1e-300, 1e300}}}},
		"tiny":         {Curves: []plot.Curve{{Y: []float64{1, 1 + 1e-15}}}},
	} {
		for _, format := range []string{"png", "svg"} {
			if err := plot.Write(io.Discard, format, []plot.Panel{p}); err != nil {
				t.Errorf("%s as %s: %v", name, format, err)
			}
		}
	}
}

func TestHistograms(t *testing.T) {
	d := devtest.CPU(t)
	w := autograd.Param(tensor.NewRNG(1).Normal(d, 0, 1, 100, 10), "layer.weight")
	b := autograd.Param(tensor.New(d, []float32{1, 1, float32(math.NaN())}), "layer.bias")
	none := autograd.Param(tensor.Zeros(d, 0), "layer.empty")
	if err := w.Square().Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	panels, err := plot.Parameters([]*autograd.Node{w, b, none})
	if err != nil || len(panels) != 6 {
		t.Fatalf("%d panels, %v", len(panels), err)
	}
	found, _ := texts(t, panels, plot.Options{Columns: 2})
	all := strings.Join(found, "|")
	for _, want := range []string{"layer.weight", "gradient of layer.weight", "layer.bias (1 of 3 are not finite, or beyond 1e300)", "no gradient of layer.bias", "layer.empty", "elements"} {
		if !strings.Contains("|"+all+"|", "|"+want+"|") {
			t.Errorf("no %q in %q", want, all)
		}
	}
	panels[0].LogY = true
	texts(t, panels[:1])
	closed, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Zeros(closed, 2, 2)
	closed.Close()
	if _, err := plot.Histogram("", x); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
	if _, err := plot.Pictures(x); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
}

func TestFigureErrors(t *testing.T) {
	dir := t.TempDir()
	one := []plot.Panel{{Title: "p"}}
	for want, err := range map[string]error{
		`loss.jpeg: the format is "jpeg": it must be png or svg`: plot.Save(filepath.Join(dir, "loss.jpeg"), one),
		`loss: the format is ""`:                                 plot.Save(filepath.Join(dir, "loss"), one),
		"there is no panel":                                      plot.Save(filepath.Join(dir, "a.png"), nil),
		`panel 1, "q": curve 0, "c", has 1 numbers X and 2 numbers Y`: plot.Save(filepath.Join(dir, "a.png"), append(one,
			plot.Panel{Title: "q", Curves: []plot.Curve{{Name: "c", X: []float64{1}, Y: []float64{1, 2}}}})),
		"a histogram has no logarithmic X": plot.Save(filepath.Join(dir, "a.png"), []plot.Panel{{LogX: true, Histogram: []float64{1}}}),
		"-1 Bins":                          plot.Save(filepath.Join(dir, "a.png"), []plot.Panel{{Bins: -1, Histogram: []float64{1}}}),
		"a panel of -1 × 9 cm":             plot.Save(filepath.Join(dir, "a.png"), one, plot.Options{Width: -1}),
		"there are 2 Options":              plot.Save(filepath.Join(dir, "a.png"), one, plot.Options{}, plot.Options{}),
		"cannot write ":                    plot.Save(filepath.Join(dir, "none", "a.png"), one),
		"pictures are written as .png":     plot.SavePictures(filepath.Join(dir, "a.svg"), tensor.Zeros(devtest.CPU(t), 2, 2)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
	path := filepath.Join(dir, "A.PNG")
	if err := plot.Save(path, one, plot.Options{Width: 10, Height: 5}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := png.DecodeConfig(f); err != nil || c.Width < 370 || c.Width > 385 || c.Height*2 != c.Width {
		t.Errorf("%+v, %v", c, err) // 96 dots an inch
	}
}

func TestPictures(t *testing.T) {
	d := devtest.CPU(t)
	grey := func(v uint8) color.RGBA { return color.RGBA{v, v, v, 0xff} }
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := tensor.New(d, []float32{0, 1, 2, 4, nan, -inf}, 2, 3)
	for _, c := range []struct {
		t    *tensor.Tensor
		o    plot.PictureOptions
		size image.Point
		at   map[image.Point]color.RGBA
	}{
		{x, plot.PictureOptions{}, image.Pt(3, 2), map[image.Point]color.RGBA{{0, 0}: grey(0), {1, 0}: grey(64), {0, 1}: grey(255),
			{1, 1}: {0xff, 0, 0xff, 0xff}, {2, 1}: grey(0)}},
		{x.T(), plot.PictureOptions{Scale: 3, High: 2}, image.Pt(6, 9), map[image.Point]color.RGBA{{1, 4}: grey(128), {2, 8}: grey(255)}},
		{x.Reshape(2, 1, 3), plot.PictureOptions{Columns: 1}, image.Pt(3, 4), map[image.Point]color.RGBA{{0, 2}: grey(255), {0, 3}: grey(255)}},
		{tensor.New(d, []uint8{255, 0, 0, 255, 0, 0}, 2, 3, 1, 1), plot.PictureOptions{}, image.Pt(4, 1),
			map[image.Point]color.RGBA{{0, 0}: {0xff, 0, 0, 0xff}, {1, 0}: grey(255), {3, 0}: {0xff, 0, 0, 0xff}}},
		{tensor.Full(d, 7, 5, 1, 2, 2), plot.PictureOptions{}, image.Pt(10, 6), map[image.Point]color.RGBA{{0, 0}: grey(0), {9, 5}: grey(255)}},
	} {
		img, err := plot.Pictures(c.t, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := img.Bounds().Size(); got != c.size {
			t.Errorf("%v: %v, want %v", c.t.Shape(), got, c.size)
		}
		for at, want := range c.at {
			if got := img.At(at.X, at.Y); got != want {
				t.Errorf("%v at %v: %v, want %v", c.t.Shape(), at, got, want)
			}
		}
	}
	for _, shape := range [][]int{{}, {3}, {2, 2, 3, 3}, {1, 1, 1, 1, 1}, {0, 3}} {
		if _, err := plot.Pictures(tensor.Zeros(d, shape...)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("plot: the shape is %v: pictures are", shape)) {
			t.Errorf("%v: %v", shape, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.png")
	if err := plot.SavePictures(path, x); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
