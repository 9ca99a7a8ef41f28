package main

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/examples/internal/picture"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"ocr": main}) }

// page returns a picture with two lines of text, letters of 39 pixels.
func page() *image.RGBA {
	small := image.NewRGBA(image.Rect(0, 0, 160, 60))
	draw.Draw(small, small.Rect, image.NewUniform(color.Gray{Y: 230}), image.Point{}, draw.Src)
	for i, text := range []string{"Handwritten digits", "are read by a net"} {
		pen := &font.Drawer{Dst: small, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(12, 22+26*i)}
		pen.DrawString(text)
	}
	return picture.Resize(small, 480, 180)
}

// turned returns a picture turned clockwise by 90° so many times.
func turned(img *image.RGBA, times int) *image.RGBA {
	for range times {
		w, h := img.Rect.Dx(), img.Rect.Dy()
		out := image.NewRGBA(image.Rect(0, 0, h, w))
		for y := range h {
			for x := range w {
				out.SetRGBA(h-1-y, x, img.RGBAAt(x, y))
			}
		}
		img = out
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
		var text, pixel bytes.Buffer
		if err := png.Encode(&text, page()); err != nil {
			return err
		}
		if err := png.Encode(&pixel, image.NewRGBA(image.Rect(0, 0, 1, 1))); err != nil {
			return err
		}
		for name, data := range map[string][]byte{
			"other.onnx": model, "page.png": text.Bytes(), "pixel.png": pixel.Bytes(),
			"cut.png": text.Bytes()[:text.Len()/2],
		} {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestSmallestRectangle: points of a rectangle at any angle give that rectangle, whatever its shape.
func TestSmallestRectangle(t *testing.T) {
	for degrees := -40; degrees <= 180; degrees += 5 {
		a := float64(degrees) * math.Pi / 180
		for _, size := range [][2]float64{{40, 10}, {10, 40}, {20, 20}, {30, 0}, {0, 0}} {
			r := rectangle{point{100, 80}, point{math.Cos(a), math.Sin(a)}, size[0], size[1]}
			var points []point
			for u := 0.0; u <= 1; u += 0.125 {
				for v := 0.0; v <= 1; v += 0.125 {
					x, y := (u-0.5)*size[0], (v-0.5)*size[1]
					points = append(points, point{100 + x*r.along.x - y*r.along.y, 80 + x*r.along.y + y*r.along.x})
				}
			}
			got := smallestRectangle(convexHull(points))
			if got.along.x < 0.7 || got.along.x < math.Abs(got.along.y)-1e-9 {
				t.Fatalf("%v at %d°: the width is along %v", size, degrees, got.along)
			}
			corners, want := got.quad(), r.quad()
			for _, p := range want {
				if !slices.ContainsFunc(corners[:], func(q point) bool { return distance(p, q) < 1e-6 }) {
					t.Fatalf("%v at %d°: %v, want %v", size, degrees, corners, want)
				}
			}
		}
	}
}

// TestFindText: a region becomes a rectangle with a border, and what is small or faint is none.
func TestFindText(t *testing.T) {
	const w, h = 100, 60
	likely := make([]float32, w*h)
	fill := func(r image.Rectangle, v float32) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				likely[y*w+x] = v
			}
		}
	}
	fill(image.Rect(20, 10, 61, 21), 0.9)  // from pixel to pixel 40×10: the border is 1.6·400/100
	fill(image.Rect(80, 10, 82, 30), 0.9)  // two pixels wide
	fill(image.Rect(10, 40, 50, 50), 0.4)  // faint
	fill(image.Rect(99, 59, 100, 60), 0.9) // a pixel in the corner
	got := findText(likely, w, h)
	want := quad{{20.5 - 6.4, 10.5 - 6.4}, {60.5 + 6.4, 10.5 - 6.4}, {60.5 + 6.4, 20.5 + 6.4}, {20.5 - 6.4, 20.5 + 6.4}}
	if len(got) != 1 || !slices.EqualFunc(got[0][:], want[:], func(p, q point) bool { return distance(p, q) < 1e-6 }) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := findText(nil, 0, 0); got != nil {
		t.Errorf("of nothing %v", got)
	}
	if got := findText(slices.Repeat([]float32{1}, w*h), w, h); len(got) != 1 {
		t.Errorf("of all pixels %v", got)
	}
}

// TestCut: a part of a picture that is turned has the pixels of the one that is not, from where its text begins.
func TestCut(t *testing.T) {
	upright := page()
	img := upright
	q := quad{{30, 40}, {150, 40}, {150, 90}, {30, 90}}
	for times := range 4 {
		got := q.cut(img)
		if got.Rect != image.Rect(0, 0, 120, 50) {
			t.Fatalf("%d turns: %v", times, got.Rect)
		}
		for y := range 50 {
			for x := range 120 {
				if a, b := got.RGBAAt(x, y), upright.RGBAAt(30+x, 40+y); a != b {
					t.Fatalf("%d turns: pixel %d,%d is %v, want %v", times, x, y, a, b)
				}
			}
		}
		for i, p := range q {
			q[i] = point{float64(img.Rect.Dy()) - p.y, p.x}
		}
		img = turned(img, 1)
	}
	if got := (quad{}).cut(img); got.Rect != image.Rect(0, 0, 1, 1) {
		t.Errorf("of nothing %v", got.Rect)
	}
}

// TestSort: lines are read from the top down, and in a row from the left, even if they are not quite level.
func TestSort(t *testing.T) {
	at := func(text string, x, y float64) *line {
		return &line{quad: quad{{x, y}, {x + 50, y}, {x + 50, y + 10}, {x, y + 10}}, text: text}
	}
	lines := []*line{at("e", 0, 40), at("c", 60, 23), at("d", 120, 18), at("b", 0, 20), at("a", 30, 0)}
	sortForReading(lines)
	got := ""
	for _, l := range lines {
		got += l.text
	}
	if got != "abcde" {
		t.Errorf("the order is %s", got)
	}
}

// TestDecode: a class that stays is one character, and one that comes again after nothing is another.
func TestDecode(t *testing.T) {
	r := &recognizer{characters: []string{"a", "ß", " "}}
	steps := func(classes ...int) (y []float32) {
		for _, c := range classes {
			step := make([]float32, 4)
			step[c] = 0.75
			y = append(y, step...)
		}
		return y
	}
	for want, classes := range map[string][]int{
		"": {0, 0}, "a": {0, 1, 1, 0}, "aa": {1, 0, 1}, "aß a": {1, 2, 2, 3, 1},
	} {
		got, score := r.decode(steps(classes...))
		if got != want || want != "" && score != 0.75 || want == "" && score != 0 {
			t.Errorf("%v: %q, %v, want %q", classes, got, score, want)
		}
	}
}

// TestModels: both lines of a page are found, and however it lies they come out upright.
func TestModels(t *testing.T) {
	detectorPath := exampletest.Model(t, "ch_PP-OCRv4_det_infer.onnx")
	classifierPath := exampletest.Model(t, "ch_ppocr_mobile_v2.0_cls_infer.onnx")
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		detector, err := load(d, detectorPath, "detector", 4)
		if err != nil {
			t.Fatal(err)
		}
		defer detector.session.Close()
		classifier, err := load(d, classifierPath, "classifier", 2)
		if err != nil {
			t.Fatal(err)
		}
		defer classifier.session.Close()
		img := page()
		lines, err := detect(detector, img)
		if err != nil || len(lines) != 2 {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		for times := range 4 {
			var seen []*line // as detect returns them: from the upper left corner
			for _, l := range lines {
				q := l.quad
				for q[0].x+q[0].y > min(q[1].x+q[1].y, q[2].x+q[2].y, q[3].x+q[3].y) {
					q = quad{q[1], q[2], q[3], q[0]}
				}
				seen = append(seen, &line{quad: q})
			}
			if err := turn(classifier, img, seen); err != nil {
				t.Fatal(err)
			}
			for i, l := range seen {
				if l.quad != lines[i].quad {
					t.Errorf("%d turns: a line lies at %v, want %v", times, l.quad, lines[i].quad)
				}
				for k, p := range lines[i].quad {
					lines[i].quad[k] = point{float64(img.Rect.Dy()) - p.y, p.x}
				}
			}
			img = turned(img, 1)
		}
	})
}

// TestCharacters: characters are those of the file, and their number that of the model.
func TestCharacters(t *testing.T) {
	model, err := onnx.Open("../../testdata/onnx/perceptron.onnx")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{path: "net.onnx", model: model}
	const want = "net.onnx does not say which characters it knows"
	if _, err := newRecognizer(n, ""); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := newRecognizer(n, "nowhere.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
