package imagefit

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// TestRenderTo: the streamed PNG has the pixels of the image in memory, whole and cropped, whatever
// the bands.
func TestRenderTo(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		f := run(t, d, smooth(12, 9), small())
		const width, height = 301, 260 // more than two bands
		whole, err := f.Model.Render(context.Background(), width, height)
		if err != nil {
			t.Fatal(err)
		}
		for _, crop := range []image.Rectangle{{}, image.Rect(17, 30, 18, 31), image.Rect(100, 0, 301, 260)} {
			var b bytes.Buffer
			rows := 0
			if err := f.Model.RenderTo(context.Background(), &b, View{width, height, crop}, Format{}, func(n int) { rows = n }); err != nil {
				t.Fatal(err)
			}
			got, err := DecodeImage(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			win := crop
			if crop.Empty() {
				win = image.Rect(0, 0, width, height)
			}
			if got.Width != win.Dx() || got.Height != win.Dy() || rows != win.Dy() {
				t.Fatalf("crop %v: %d×%d, %d rows reported", crop, got.Width, got.Height, rows)
			}
			for y := range got.Height {
				for x := range got.Width {
					a := got.Pixels[(y*got.Width+x)*3:][:3]
					b := whole.Pixels[((win.Min.Y+y)*width+win.Min.X+x)*3:][:3]
					for k := range 3 {
						if float64(a[k])*255 != quantize(b[k], 255) && math.Abs(float64(a[k])*255-quantize(b[k], 255)) > 1e-3 {
							t.Fatalf("crop %v: pixel (%d, %d) is %v, want %v", crop, x, y, a, b)
						}
					}
				}
			}
		}
	})
}

func TestRenderRefuses(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	f := run(t, d, smooth(12, 9), small())
	wide := math.MaxInt32
	wide++ // or less than 1, where an int has 32 bits
	for say, v := range map[string]View{
		"size 0×5":               {0, 5, image.Rectangle{}},
		"2³¹":                    {wide, 5, image.Rectangle{}},
		"4×4 pixels at (98, 3)":  {100, 100, image.Rect(98, 3, 102, 7)},
		"it must lie in the pic": {100, 100, image.Rect(-1, 3, 2, 7)},
	} {
		err := f.Model.RenderTo(context.Background(), &bytes.Buffer{}, v, Format{}, nil)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), say) {
			t.Errorf("%+v: err = %v, want one that says %q", v, err, say)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop := func(rows int) {
		if rows > 0 {
			cancel()
		}
	}
	if err := f.Model.RenderTo(ctx, &bytes.Buffer{}, View{3000, 3000, image.Rectangle{}}, Format{}, stop); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: err = %v", err)
	}
}

// TestOverflow: weights that are numbers and draw none are an error, not black.
func TestOverflow(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	f := run(t, d, smooth(12, 9), small())
	var b bytes.Buffer
	if err := f.Model.Write(&b, FP32); err != nil {
		t.Fatal(err)
	}
	m, err := DecodeModel(d, edited(t, b.Bytes(), func(a map[string]npz.Array) {
		for name, array := range a {
			if w, ok := array.Data.([]float32); ok && strings.HasSuffix(name, ".weight") {
				for i := range w {
					w[i] = 1e17
				}
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.RenderTo(context.Background(), &bytes.Buffer{}, View{12, 9, image.Rectangle{}}, Format{}, nil); !errors.Is(err, ErrDiverged) {
		t.Errorf("err = %v", err)
	}
}

// TestLargeWeights: what fp16 cannot hold is refused, not stored as an infinity.
func TestLargeWeights(t *testing.T) {
	large := map[string]npz.Array{"layer0.weight": {Shape: []int{1, 2}, Data: []float32{1, 70000}}}
	if _, err := pack(FP16, large); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "layer0.weight") {
		t.Errorf("err = %v", err)
	}
	if _, err := pack(Int8, large); err != nil {
		t.Error(err)
	}
}

// TestWeights: stored in fewer bits, a model is smaller and draws nearly the same image.
func TestWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(40, 28)
	for _, kind := range Encodings {
		cfg := smallOf(kind)
		cfg.Hidden = 64 // enough for the headers of the arrays not to matter
		f := run(t, d, img, cfg)
		want, err := f.Model.Render(context.Background(), 40, 28)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, c := range []struct {
			weights string
			psnr    float64 // of what it draws against the image of fp32
		}{{FP32, math.Inf(1)}, {FP16, 50}, {Int8, 25}} {
			var b bytes.Buffer
			if err := f.Model.Write(&b, c.weights); err != nil {
				t.Fatal(err)
			}
			if c.weights != FP32 && b.Len() > size*8/10 {
				t.Errorf("%s %s: %d bytes after %d", kind, c.weights, b.Len(), size)
			}
			size = b.Len()
			m, err := DecodeModel(d, b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Render(context.Background(), 40, 28)
			if err != nil {
				t.Fatal(err)
			}
			if p := PSNR(want, got); p < c.psnr {
				t.Errorf("%s %s: %.1f dB from fp32", kind, c.weights, p)
			}
			if c.weights == FP32 && !reflect.DeepEqual(want, got) {
				t.Errorf("%s: fp32 draws another image", kind)
			}
			m.Free()
		}
		if err := f.Model.Write(&bytes.Buffer{}, "fp4"); !errors.Is(err, ErrConfig) {
			t.Errorf("err = %v", err)
		}
		f.Free()
	}
}
