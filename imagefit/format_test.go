package imagefit

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.png": {}, "a.PNG": {}, "a": {}, ".": {}, "d.x/a": {}, "/dev/stdout": {},
		"a.jpg": {true, 7}, "a.JPEG": {true, 7}, "a.png.jpg": {true, 7}} {
		if f, err := FormatOf(name, 7); err != nil || f != want {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	for _, name := range []string{"a.webp", "a.gif", "a.png2"} {
		if _, err := FormatOf(name, 7); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "written as .png, .jpg or .jpeg") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, quality := range []int{-1, 0, 101} {
		if _, err := FormatOf("a.jpg", quality); !errors.Is(err, ErrConfig) {
			t.Errorf("quality %d: %v", quality, err)
		}
	}
}

// slopePicture is a picture that a JPEG changes little.
func slopePicture(c Colour, width, height int) *Image {
	m := &Image{Width: width, Height: height, Colour: c}
	for y := range height {
		for x := range width {
			for k := range c.Channels() {
				m.Pixels = append(m.Pixels, float32(x+y+5*k)/float32(width+height+15))
			}
		}
	}
	return m
}

// TestWriteJPEG: a JPEG has the size, the channels and nearly the colours of the image; what it
// cannot hold is refused.
func TestWriteJPEG(t *testing.T) {
	for _, c := range []Colour{{}, {Deep: true}, {Gray: true}, {Gray: true, Deep: true}} {
		img := slopePicture(c, 37, 53)
		var b bytes.Buffer
		if err := img.Write(&b, Format{JPEG: true, Quality: 95}); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeImage(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got.Width != 37 || got.Height != 53 || got.Gray != c.Gray || got.Deep {
			t.Errorf("%v came back as %v, %d×%d", c, got.Colour, got.Width, got.Height)
			continue
		}
		img.Deep = false
		if psnr := PSNR(img, got); psnr < 40 {
			t.Errorf("%v: %.1f dB", c, psnr)
		}
	}
	for _, img := range []*Image{slopePicture(Colour{Alpha: true}, 2, 2), slopePicture(Colour{}, mostJPEG+1, 1)} {
		var b bytes.Buffer
		if err := img.Write(&b, Format{JPEG: true, Quality: 95}); !errors.Is(err, ErrConfig) || b.Len() > 0 {
			t.Errorf("%v, %d×%d: %v", img.Colour, img.Width, img.Height, err)
		}
	}
}

// TestRenderToJPEG: the streamed JPEG has the bytes of the one of the image in memory, whatever the
// bands.
func TestRenderToJPEG(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		f := run(t, d, smooth(12, 9), small())
		const width, height = 1500, 100 // bands of 21 rows on the CPU: blocks of 16 lie across them
		format := Format{JPEG: true, Quality: 80}
		out, err := f.Model.Render(context.Background(), width, height)
		if err != nil {
			t.Fatal(err)
		}
		var whole, streamed bytes.Buffer
		if err := errors.Join(out.Write(&whole, format), f.Model.RenderTo(context.Background(), &streamed, View{width, height, image.Rectangle{}}, format, nil)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(whole.Bytes(), streamed.Bytes()) {
			t.Error("the streamed JPEG is another")
		}
		if cfg, err := jpeg.DecodeConfig(&streamed); err != nil || cfg.Width != width || cfg.Height != height {
			t.Errorf("%v, %v", cfg, err)
		}
	})
}
