package tensorboard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train/tensorboard"
	"google.golang.org/protobuf/encoding/protowire"
)

func open(t *testing.T, folder string, options ...tensorboard.Options) *tensorboard.Writer {
	t.Helper()
	w, err := tensorboard.New(folder, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestScalars: numbers of Go and of a device, NaN and infinities among them, and the time, are read back.
func TestScalars(t *testing.T) {
	d := devtest.CPU(t)
	folder := filepath.Join(t.TempDir(), "runs", "a")
	w := open(t, folder)
	before := time.Now()
	values := []any{1.5, 7, uint8(3), float32(0.25), tensor.Scalar(d, -2), autograd.Const(tensor.Scalar(d, 4)), math.NaN(), math.Inf(-1), 1e300}
	for i, v := range values {
		must(t, w.AddScalar("loss/train", v, i*1000))
	}
	events := eventsOf(t, folder)
	for i, want := range []float32{1.5, 7, 3, 0.25, -2, 4, float32(math.NaN()), float32(math.Inf(-1)), float32(math.Inf(1))} {
		e := events[i]
		got := math.Float32frombits(e.at(t, 5, 1, 2).(uint32))
		if got != want && !(got != got && want != want) || string(e.at(t, 5, 1, 1).([]byte)) != "loss/train" || e.at(t, 2) != uint64(i*1000) {
			t.Errorf("event %d: %v at step %v, want %v", i, got, e.at(t, 2), want)
		}
		if at := math.Float64frombits(e.at(t, 1).(uint64)); math.Abs(at-float64(before.UnixMicro())/1e6) > 60 {
			t.Errorf("event %d was at %v", i, at)
		}
	}
	if len(events) != len(values) {
		t.Errorf("%d events", len(events))
	}
	must(t, w.Close())
	must(t, w.Close())
	if err := w.AddScalar("loss", 1, 1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestHistograms: buckets hold all finite elements, whatever these are.
func TestHistograms(t *testing.T) {
	d := devtest.CPU(t)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values  []float64
		buckets int // at least
	}{
		{[]float64{}, 0}, {[]float64{nan, inf}, 0}, {[]float64{2}, 1}, {[]float64{-3, -3, -3}, 1}, {[]float64{0, 0, nan}, 1},
		{[]float64{-1, 0, 0.5, 1, inf, -inf}, 64}, {[]float64{math.MaxFloat64, -math.MaxFloat64}, 64}, {[]float64{0, 5e-324}, 2},
	} {
		folder := t.TempDir()
		w := open(t, folder)
		must(t, w.AddHistogram("w", tensor.New(d, c.values, len(c.values)), 3))
		h := parse(t, eventsOf(t, folder)[0].at(t, 5, 1, 5).([]byte))
		limits, counts := packed(t, h.at(t, 6).([]byte)), packed(t, h.at(t, 7).([]byte))
		var finite []float64
		sum := 0.0
		for _, v := range c.values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				finite, sum = append(finite, v), sum+v
			}
		}
		if len(limits) != len(counts) || len(limits) < c.buckets || !slices.IsSorted(limits) {
			t.Errorf("%v: limits %v, counts %v", c.values, limits, counts)
			continue
		}
		for i, n := range counts { // those up to each limit
			want := 0.0
			for _, v := range finite {
				if v <= limits[i] && (i == 0 || v > limits[i-1]) {
					want++
				}
			}
			if n != want {
				t.Errorf("%v: bucket %d up to %v has %v, want %v", c.values, i, limits[i], n, want)
			}
		}
		for num, want := range map[int]float64{3: float64(len(finite)), 4: sum} {
			if got := math.Float64frombits(h.at(t, protowire.Number(num)).(uint64)); got != want {
				t.Errorf("%v: field %d is %v, want %v", c.values, num, got, want)
			}
		}
		if len(finite) > 0 && (math.Float64frombits(h.at(t, 1).(uint64)) != slices.Min(finite) || math.Float64frombits(h.at(t, 2).(uint64)) != slices.Max(finite)) {
			t.Errorf("%v: other ends", c.values)
		}
	}
}

// TestPictures: tensors become the pictures that they are, one or a grid, and PNGs of them.
func TestPictures(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		nan := float32(math.NaN())
		gray, err := tensorboard.Picture(tensor.New(d, []float32{0, 0.5, 1, -1, 2, nan}, 1, 2, 3))
		must(t, err)
		levels := ""
		for p := range 6 {
			levels += fmt.Sprint(gray.At(p%3, p/3), " ")
		}
		if want := "{0 0 0 255} {128 128 128 255} {255 255 255 255} {0 0 0 255} {255 255 255 255} {0 0 0 255} "; levels != want {
			t.Errorf("gray: %s", levels)
		}
		// Ten pictures of 2×1 in red, the channel last in memory: eight in a row.
		red := tensor.FullOf(d, tensor.Uint8, 200, 10, 2, 1, 3)
		red = red.Mul(tensor.New(d, []uint8{1, 0, 0}, 3)).Transpose(0, 3, 1, 2)
		many, err := tensorboard.Picture(red)
		must(t, err)
		if size := many.Bounds().Size(); size != image.Pt(8*3-2, 2*4-2) {
			t.Errorf("the grid is of %v", size)
		}
		for at, want := range map[image.Point]color.RGBA{{0, 0}: {200, 0, 0, 255}, {1, 0}: {0, 0, 0, 255}, {21, 1}: {200, 0, 0, 255}, {3, 5}: {200, 0, 0, 255}, {6, 5}: {0, 0, 0, 255}} {
			if got := many.At(at.X, at.Y); got != want {
				t.Errorf("%v is %v, want %v", at, got, want)
			}
		}
		folder := t.TempDir()
		w := open(t, folder)
		must(t, w.AddImage("samples", many, 5))
		e := eventsOf(t, folder)[0]
		read, err := png.Decode(bytes.NewReader(e.at(t, 5, 1, 4, 4).([]byte)))
		must(t, err)
		if read.Bounds() != many.Bounds() || read.At(3, 5) != many.At(3, 5) || e.at(t, 5, 1, 4, 1) != uint64(6) || e.at(t, 5, 1, 4, 2) != uint64(22) {
			t.Errorf("the PNG is of %v", read.Bounds())
		}
	})
}

// newNet returns a loss of a net whose parameters have the names of their places.
func newNet(d tensor.Device) *autograd.Node {
	net := &struct{ Encoder nn.Sequential }{nn.Sequential{
		nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 4, Out: 3}), nn.ReLU, nn.NewLinear(d, tensor.NewRNG(2), nn.LinearConfig{In: 3, Out: 2}),
	}}
	nn.Params(net)
	return net.Encoder.Forward(autograd.Const(tensor.Full(d, 1, 5, 4))).Square().Mean().Named("loss")
}

// TestGraph: nodes have names of their own, inputs that are there, and shapes; after Backward there is an error and
// nothing is written.
func TestGraph(t *testing.T) {
	d := devtest.CPU(t)
	folder := t.TempDir()
	w := open(t, folder)
	loss := newNet(d)
	must(t, w.AddGraph(loss))
	must(t, loss.Backward())
	if err := w.AddGraph(loss); !errors.Is(err, autograd.ErrGraphFreed) {
		t.Errorf("after Backward: %v", err)
	}
	events := eventsOf(t, folder)
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	names, ops := map[string]bool{}, map[string]string{}
	for _, raw := range parse(t, events[0].at(t, 4).([]byte))[1] {
		n := parse(t, raw.([]byte))
		name := string(n.at(t, 1).([]byte))
		for _, in := range n[3] {
			if !names[string(in.([]byte))] {
				t.Errorf("%s reads %s, which is not before it", name, in)
			}
		}
		if names[name] {
			t.Errorf("%s is there twice", name)
		}
		names[name], ops[name] = true, string(n.at(t, 2).([]byte))
	}
	for name, op := range map[string]string{"encoder/0/weight": "Parameter", "encoder/2/bias": "Parameter", "Placeholder": "Placeholder", "loss": "Mean"} {
		if ops[name] != op {
			t.Errorf("%s is %q, want %q; there are %v", name, ops[name], op, ops)
		}
	}
	within := 0
	for name, op := range ops {
		if strings.HasPrefix(name, "encoder/0/") && op != "Parameter" {
			within++
		}
	}
	if within == 0 {
		t.Errorf("no operation is beside its parameter: %v", ops)
	}
}

// TestMisuse: what cannot be shown is named.
func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	folder := t.TempDir()
	w := open(t, folder)
	for words, f := range map[string]func(){
		"AddScalar: bad value: the tag is empty": func() { _ = w.AddScalar("", 1, 0) },
		`"loss" is a string`:                     func() { _ = w.AddScalar("loss", "1", 0) },
		"AddText":                                func() { _ = w.AddText("", "a", 0) },
		"AddHistogram":                           func() { _ = w.AddHistogram("", tensor.Zeros(d, 1), 0) },
		"no pixels":                              func() { _ = w.AddImage("a", image.NewGray(image.Rect(0, 0, 0, 5)), 0) },
		"[2 2]":                                  func() { _, _ = tensorboard.Picture(tensor.Zeros(d, 2, 2)) },
		"[4 5 5]: a picture is [C, H, W]":        func() { _, _ = tensorboard.Picture(tensor.Zeros(d, 4, 5, 5)) },
		"[0 1 5 5]":                              func() { _, _ = tensorboard.Picture(tensor.Zeros(d, 0, 1, 5, 5)) },
		"floats or Uint8, not int32: convert them with To": func() { _, _ = tensorboard.Picture(tensor.ZerosOf(d, tensor.Int32, 1, 5, 5)) },
	} {
		err := tensor.Try(f)
		if e := new(tensor.Error); !errors.As(err, &e) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if n := len(eventsOf(t, folder)); n != 0 {
		t.Errorf("%d events were written", n)
	}
	file := filepath.Join(folder, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	if _, err := tensorboard.New(file); err == nil || !strings.Contains(err.Error(), "cannot write "+file) {
		t.Errorf("a file in place of the folder: %v", err)
	}
}

// TestConcurrent: goroutines with one Writer and with their own leave whole records.
func TestConcurrent(t *testing.T) {
	folder := t.TempDir()
	w := open(t, folder)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 100 {
				if err := w.AddScalar(fmt.Sprint("worker", g), i, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := len(eventsOf(t, folder)); n != 400 {
		t.Errorf("%d events", n)
	}
	open(t, folder)
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
		t.Errorf("two Writers of one folder have %d files, %v", len(files), err)
	}
}

// reader returns a Python that has TensorBoard: that of a virtual environment, or of the system.
//
//	python3 -m venv .build/tb && .build/tb/bin/pip install tensorboard
func reader(t *testing.T) string {
	t.Helper()
	own, err := filepath.Abs("../../.build/tb/bin/python")
	must(t, err)
	for _, python := range []string{own, "python3"} {
		if exec.Command(python, "-c", "import tensorboard.backend.event_processing.event_accumulator").Run() == nil {
			return python
		}
	}
	t.Skip("there is no Python with TensorBoard")
	return ""
}

// TestTensorBoardReads: TensorBoard's own reader finds what was written.
func TestTensorBoardReads(t *testing.T) {
	python := reader(t)
	d := devtest.CPU(t)
	folder := t.TempDir()
	w := open(t, folder)
	for step, loss := range []float64{1, 0.5, math.NaN(), 0.125} {
		must(t, w.AddScalar("loss/train", loss, step*100))
	}
	img := image.NewGray(image.Rect(0, 0, 3, 2))
	must(t, w.AddImage("samples", img, 7))
	must(t, w.AddHistogram("weights", tensor.New(d, []float32{-1, 0, 0, 1}, 4), 8))
	must(t, w.AddText("settings", "rate **0.1**, Ä", 0))
	must(t, w.AddGraph(newNet(d)))
	must(t, w.Close())
	resumed := open(t, folder, tensorboard.Options{PurgeStep: 200})
	must(t, resumed.AddScalar("loss/train", 0.25, 200))

	out, err := exec.Command(python, "testdata/read.py", folder).Output()
	if e := new(exec.ExitError); errors.As(err, &e) {
		t.Fatalf("%v\n%s", err, e.Stderr)
	}
	must(t, err)
	var found struct {
		Scalars, Images, Histograms, Texts map[string][][]any
		Graph                              [][]any
	}
	must(t, json.Unmarshal(out, &found))
	if got := fmt.Sprint(found.Scalars); got != "map[loss/train:[[0 1.0] [100 0.5] [200 0.25]]]" {
		t.Errorf("scalars %s", got)
	}
	if got := fmt.Sprint(found.Texts); got != "map[settings:[[0 text rate **0.1**, Ä]]]" {
		t.Errorf("texts %s", got)
	}
	if got := fmt.Sprintf("%.3v", found.Images["samples"]); !strings.HasPrefix(got, "[[7 3 2 895") {
		t.Errorf("images %s", got)
	}
	if got := fmt.Sprintf("%v", found.Histograms["weights"][0][:6]); got != "[8 -1 1 4 0 2]" {
		t.Errorf("histograms %s", got)
	}
	last := found.Graph[len(found.Graph)-1]
	if len(found.Graph) < 9 || fmt.Sprint(last) != "[loss Mean [Square] [[]]]" {
		t.Errorf("graph %v", found.Graph)
	}
}
