package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// writePictures writes to a folder dots.png, of two pixels, six.raw, of six bytes, and models that give their input back:
// nchw.onnx of float [1,3,h,w], bytes.onnx of uint8 [2,3,1], open.onnx of float [a,b,c], and endless.onnx, a loop without
// an end.
func writePictures(dir string) error {
	picture := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	picture.Set(0, 0, color.NRGBA{255, 128, 0, 255})
	picture.Set(1, 0, color.NRGBA{0, 51, 102, 255})
	if err := os.WriteFile(filepath.Join(dir, "six.raw"), []byte("abcdef"), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "dots.png"))
	if err != nil {
		return err
	}
	if err := png.Encode(f, picture); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	dims := func(list ...any) (d []onnxpb.Dim) {
		for _, v := range list {
			switch v := v.(type) {
			case int:
				d = append(d, onnxpb.Dim{Value: int64(v)})
			case string:
				d = append(d, onnxpb.Dim{Value: -1, Param: v})
			}
		}
		return d
	}
	for name, typ := range map[string]*onnxpb.Type{
		"nchw.onnx":  {Kind: onnxpb.KindTensor, Elem: onnxpb.Float, HasShape: true, Dims: dims(1, 3, "h", "w")},
		"bytes.onnx": {Kind: onnxpb.KindTensor, Elem: onnxpb.Uint8, HasShape: true, Dims: dims(2, 3, 1)},
		"open.onnx":  {Kind: onnxpb.KindTensor, Elem: onnxpb.Float, HasShape: true, Dims: dims("a", "b", "c")},
	} {
		m := &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: 17}}, Graph: &onnxpb.Graph{Name: "g",
			Nodes:   []*onnxpb.Node{{Op: "Identity", Inputs: []string{"x"}, Outputs: []string{"y"}}},
			Inputs:  []*onnxpb.ValueInfo{{Name: "x", Type: typ}},
			Outputs: []*onnxpb.ValueInfo{{Name: "y", Type: typ}}}}
		if err := os.WriteFile(filepath.Join(dir, name), m.Append(nil), 0o644); err != nil {
			return err
		}
	}
	scalar := &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float, HasShape: true}
	again := &onnxpb.Graph{Name: "body",
		Nodes:   []*onnxpb.Node{{Op: "Neg", Inputs: []string{"v"}, Outputs: []string{"w"}}},
		Inputs:  []*onnxpb.ValueInfo{{Name: "i"}, {Name: "c"}, {Name: "v"}},
		Outputs: []*onnxpb.ValueInfo{{Name: "c"}, {Name: "w"}}}
	m := &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: 17}}, Graph: &onnxpb.Graph{Name: "g",
		Nodes: []*onnxpb.Node{{Op: "Loop", Inputs: []string{"", "", "x"}, Outputs: []string{"y"},
			Attributes: []*onnxpb.Attribute{{Name: "body", Type: onnxpb.AttrGraph, Graph: again}}}},
		Inputs:  []*onnxpb.ValueInfo{{Name: "x", Type: scalar}},
		Outputs: []*onnxpb.ValueInfo{{Name: "y", Type: scalar}}}}
	return os.WriteFile(filepath.Join(dir, "endless.onnx"), m.Append(nil), 0o644)
}

// TestPicture: pixels lie where the model or a flag says, in the size of the model.
func TestPicture(t *testing.T) {
	dir := t.TempDir()
	if err := writePictures(dir); err != nil {
		t.Fatal(err)
	}
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	plain := pictureFlags{scale: 1}
	for _, c := range []struct {
		typ   string
		dims  []string
		flags onnxFlags
		shape []int
		want  []float64
	}{
		{"float", []string{"1", "3", "h", "w"}, onnxFlags{picture: plain}, []int{1, 3, 1, 2}, []float64{255, 0, 128, 51, 0, 102}},
		{"float", []string{"n", "h", "w", "3"}, onnxFlags{picture: plain}, []int{1, 1, 2, 3}, []float64{255, 128, 0, 0, 51, 102}},
		{"float", []string{"3", "h", "w"}, onnxFlags{picture: pictureFlags{scale: 0.5, mean: []float64{1, 2, 3}, std: []float64{2}}}, []int{3, 1, 2},
			[]float64{63.25, -0.5, 31, 11.75, -1.5, 24}},
		{"uint8", []string{"1", "2", "1"}, onnxFlags{picture: pictureFlags{layout: "nhwc"}}, []int{1, 2, 1}, []float64{151, 41}},
		{"uint8", []string{"h", "w", "4"}, onnxFlags{picture: pictureFlags{bgr: true}}, []int{1, 2, 4}, []float64{0, 128, 255, 255, 102, 51, 0, 255}},
		{"float16", []string{"1", "c", "1", "1"}, onnxFlags{picture: pictureFlags{scale: 1, layout: "nchw"}}, []int{1, 3, 1, 1}, []float64{127, 89, 51}},
		{"float", []string{"1", "3", "h", "w"}, onnxFlags{dims: map[string]int{"h": 3, "w": 1}, picture: plain}, []int{1, 3, 3, 1},
			[]float64{127, 127, 127, 89, 89, 89, 51, 51, 51}},
	} {
		x, err := c.flags.image(d, onnx.Info{Name: "x", Type: c.typ, Dims: c.dims}, filepath.Join(dir, "dots.png"))
		if err != nil {
			t.Errorf("%v: %v", c.dims, err)
			continue
		}
		got, _ := x.Float64s()
		if !slices.Equal(x.Shape(), c.shape) || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v %v, want %v %v", c.dims, x.Shape(), got, c.shape, c.want)
		}
	}
}

// TestWaiting: what takes longer than a while is shown, and goes again.
func TestWaiting(t *testing.T) {
	var out strings.Builder
	done := waitingOn(&out, "loading x", time.Hour)
	done()
	if out.Len() > 0 {
		t.Errorf("%q of what took no time", out.String())
	}
	done = waitingOn(&out, "loading x", time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	done()
	if s := out.String(); !strings.HasPrefix(s, "\r\x1b[Kloading x: 0 s") || !strings.HasSuffix(s, "\r\x1b[K") {
		t.Errorf("%q", s)
	}
	waiting(&out, "loading x")()
}

// TestPrefixed: numbers have three digits.
func TestPrefixed(t *testing.T) {
	for x, want := range map[float64]string{0: "0 B", 0.5: "0.5 B", 12: "12 B", 999.4: "999 B", 999.6: "1 kB", 4.123e9: "4.12 GB", 5e16: "50 PB"} {
		if got := prefixed(x, "B"); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
