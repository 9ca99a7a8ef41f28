package imagedecoder

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// decoded runs the operator on a file.
func decoded(t *testing.T, file []byte, format string) (shape []int, pix []byte, err error) {
	t.Helper()
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := &onnxpb.Node{Op: "ImageDecoder", Inputs: []string{"file"}, Outputs: []string{"pixels"}}
	if format != "" {
		n.Attributes = []*onnxpb.Attribute{{Name: "pixel_format", Type: onnxpb.AttrString, String: format}}
	}
	m := &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: 20}},
		Graph: &onnxpb.Graph{Nodes: []*onnxpb.Node{n}, Inputs: []*onnxpb.ValueInfo{{Name: "file"}},
			Outputs: []*onnxpb.ValueInfo{{Name: "pixels"}}}}
	model, err := onnx.Parse(m.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(onnx.FromTensor(tensor.New(d, file)))
	if err != nil {
		return nil, nil, err
	}
	pix, err = out[0].Tensor().Uint8s()
	return out[0].Shape(), pix, err
}

// sample3 is a picture of 3 by 2 pixels, which begins at (1, 1) within a larger one.
func sample3() (image.Image, []byte) {
	p := image.NewNRGBA(image.Rect(0, 0, 5, 4))
	pix := []byte{255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 200, 100, 50, 255, 255, 255}
	for i := range 6 {
		p.SetNRGBA(1+i%3, 1+i/3, color.NRGBA{pix[3*i], pix[3*i+1], pix[3*i+2], 255})
	}
	return p.SubImage(image.Rect(1, 1, 4, 3)), pix
}

func TestFormats(t *testing.T) {
	p, pix := sample3()
	files := map[string][]byte{}
	for name, encode := range map[string]func(b *bytes.Buffer) error{
		"png":  func(b *bytes.Buffer) error { return png.Encode(b, p) },
		"bmp":  func(b *bytes.Buffer) error { return bmp.Encode(b, p) },
		"tiff": func(b *bytes.Buffer) error { return tiff.Encode(b, p, nil) },
		"gif": func(b *bytes.Buffer) error {
			pal := image.NewPaletted(image.Rect(0, 0, 3, 2), nil)
			for i := range 6 {
				pal.Palette = append(pal.Palette, color.NRGBA{pix[3*i], pix[3*i+1], pix[3*i+2], 255})
				pal.Pix[i] = byte(i)
			}
			return gif.Encode(b, pal, nil)
		},
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	files["ppm"] = append([]byte("P6 # a comment\n3 2\n255\n"), pix...)
	files["ppm of numbers"] = []byte("P3\n3 2 255\n" + strings.Trim(fmt.Sprint(pix), "[]"))
	files["pam"] = append([]byte("P7\nWIDTH 3\nHEIGHT 2\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n"), pix...)
	for name, file := range files {
		shape, got, err := decoded(t, file, "")
		if err != nil || !slices.Equal(shape, []int{2, 3, 3}) || !bytes.Equal(got, pix) {
			t.Errorf("%s: %v %v %v, want %v", name, shape, got, err, pix)
		}
	}
	_, got, err := decoded(t, files["png"], "BGR")
	if err != nil || !bytes.Equal(got[:6], []byte{0, 0, 255, 0, 255, 0}) {
		t.Errorf("BGR: %v %v", got, err)
	}
	shape, got, err := decoded(t, files["png"], "Grayscale")
	if err != nil || !slices.Equal(shape, []int{2, 3, 1}) || !bytes.Equal(got, []byte{76, 150, 29, 2, 124, 255}) {
		t.Errorf("Grayscale: %v %v %v", shape, got, err)
	}
}

// TestMaps: the portable formats of one channel, of bits, of two bytes, and with other largest values.
func TestMaps(t *testing.T) {
	for file, want := range map[string][]byte{
		"P1\n3 1\n1 01":                     {0, 255, 0},
		"P4\n9 1\n\x80\x80":                 {0, 255, 255, 255, 255, 255, 255, 255, 0},
		"P2\n2 1\n15\n15 5":                 {255, 85},
		"P5\n2 1\n65535\n\xff\xff\x80\x00":  {255, 128},
		"P5\n# more\n2 1\n# and\n255\n\n\t": {10, 9},
	} {
		shape, got, err := decoded(t, []byte(file), "Grayscale")
		if err != nil || !slices.Equal(shape, []int{1, len(want), 1}) || !bytes.Equal(got, want) {
			t.Errorf("%q: %v %v %v, want %v", file, shape, got, err, want)
		}
	}
}

// TestCannotDecode: what is no picture, or one that ends early, has no pixels; what is too large, or of a format that
// is not there, is an error.
func TestCannotDecode(t *testing.T) {
	var b bytes.Buffer
	p, _ := sample3()
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", "no picture", string(b.Bytes()[:50]), "P6 3 2 255\nabc", "P6 0 2 255\n", "P6 -3 2",
		"P6 99999999999999999999 2 255\n", "P1 1 1\n7", "P7\nWIDTH 3\n", "P5 1 1 99999\n\x00\x00", "P6 134217728 2 255\n"} {
		for format, channels := range map[string]int{"RGB": 3, "Grayscale": 1} {
			shape, _, err := decoded(t, []byte(file), format)
			if err != nil || !slices.Equal(shape, []int{0, 0, channels}) {
				t.Errorf("%q: %v %v", file, shape, err)
			}
		}
	}
	if _, _, err := decoded(t, []byte("\x00\x00\x00\x0cjP  \r\n\x87\n"), "RGB"); !errors.Is(err, onnx.ErrUnsupported) {
		t.Errorf("JPEG 2000: %v", err)
	}
	gifHeader := "GIF89a\xff\xff\xff\xff\x00\x00\x00" // 65535 by 65535
	if _, _, err := decoded(t, []byte(gifHeader), "RGB"); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a picture of billions of pixels: %v", err)
	}
	if _, _, err := decoded(t, b.Bytes(), "CMYK"); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("CMYK: %v", err)
	}
}

// TestJPEG: a picture whose colors change slowly comes back almost as it was, at odd sizes too.
func TestJPEG(t *testing.T) {
	for _, size := range []image.Point{{33, 17}, {16, 16}, {3, 1}, {4, 5}} {
		p := image.NewRGBA(image.Rectangle{Max: size})
		for i := range size.X * size.Y {
			x, y := i%size.X, i/size.X
			p.SetRGBA(x, y, color.RGBA{byte(100 + 3*x), byte(60 + 4*y), byte(200 - 2*x - y), 255})
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, p, &jpeg.Options{Quality: 100}); err != nil {
			t.Fatal(err)
		}
		shape, got, err := decoded(t, b.Bytes(), "RGB")
		if err != nil || !slices.Equal(shape, []int{size.Y, size.X, 3}) {
			t.Fatalf("%v: %v %v", size, shape, err)
		}
		for i := range size.X * size.Y {
			c := p.RGBAAt(i%size.X, i/size.X)
			for k, want := range []byte{c.R, c.G, c.B} {
				if diff := int(got[3*i+k]) - int(want); diff < -8 || diff > 8 {
					t.Fatalf("%v: pixel %d is %v, want %v", size, i, got[3*i:3*i+3], c)
				}
			}
		}
	}
}

// TestUpsampling: of A, B and C the pixels of B are 1/4 A + 3/4 B, halves down, and 3/4 B + 1/4 C, halves up.
func TestUpsampling(t *testing.T) {
	out := make([]byte, 6)
	widened(out, []int{10, 20, 40}, 2, 1, 2)
	if want := []byte{10, 13, 17, 25, 35, 40}; !slices.Equal(out, want) {
		t.Errorf("%v, want %v", out, want)
	}
	between(out, []byte{10, 20, 40}, []byte{10, 20, 40})
	if want := []byte{10, 13, 18, 25, 35, 40}; !slices.Equal(out, want) {
		t.Errorf("of WebP: %v, want %v", out, want)
	}
	p := image.NewYCbCr(image.Rect(0, 0, 2, 4), image.YCbCrSubsampleRatio440)
	p.Cb = []byte{10, 10, 20, 20}
	if got, want := upsampled(p, p.Cb, "jpeg"), []byte{10, 10, 13, 13, 17, 17, 20, 20}; !slices.Equal(got, want) {
		t.Errorf("of rows: %v, want %v", got, want)
	}
}

// TestColors: black, white and colors of both kinds of luma and chroma.
func TestColors(t *testing.T) {
	for _, c := range []struct {
		full bool
		in   [3]int
		want []byte
	}{
		{true, [3]int{0, 0, 0}, []byte{0, 0, 0}},
		{true, [3]int{255, 0, 0}, []byte{255, 255, 255}},
		{true, [3]int{76, -43, 127}, []byte{254, 0, 0}},
		{false, [3]int{16, 128, 128}, []byte{0, 0, 0}},
		{false, [3]int{235, 128, 128}, []byte{255, 255, 255}},
		{false, [3]int{81, 90, 240}, []byte{254, 0, 0}},
	} {
		got := videoRGB(nil, c.in[0], c.in[1], c.in[2])
		if c.full {
			got = fullRGB(nil, c.in[0], c.in[1], c.in[2])
		}
		if !bytes.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}
