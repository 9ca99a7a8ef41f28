package imagefit

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
)

// Channels is the number of colour channels: red, green and blue.
const Channels = 3

// ErrImage is what a file is that cannot be read as an image.
var ErrImage = errors.New("not a usable PNG")

// Image is colours in [0, 1], row by row from the top: Pixels[(y*Width+x)*Channels + channel].
type Image struct {
	Width, Height int
	Pixels        []float32
}

// ReadPNG reads a PNG file of any kind: gray, palette, 16-bit. Alpha is composited over white. Errors of
// the contents wrap ErrImage.
func ReadPNG(path string) (*Image, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("imagefit: read: %w", err)
	}
	img, err := DecodePNG(raw)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %s: %w", path, err)
	}
	return img, nil
}

// mostPixels is the largest image: kernels index its elements with an int.
const mostPixels = math.MaxInt32 / Channels

// deflateRatio bounds how far a PNG's compression can go: deflate emits at most 258 bytes for 2 bits.
const deflateRatio = 1032

// DecodePNG is ReadPNG of a file's contents. A header that claims more pixels than the contents can hold
// is refused before memory is asked for.
func DecodePNG(raw []byte) (*Image, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrImage)
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	pixels := int64(cfg.Width) * int64(cfg.Height)
	if pixels > mostPixels {
		return nil, fmt.Errorf("%w: %d×%d pixels are more than the %d that clgrad indexes", ErrImage, cfg.Width, cfg.Height, mostPixels)
	}
	if pixels/8 > int64(len(raw))*deflateRatio { // at least one bit a pixel
		return nil, fmt.Errorf("%w: the header claims %d×%d pixels, the file has only %d bytes", ErrImage, cfg.Width, cfg.Height, len(raw))
	}
	src, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	return fromImage(src), nil
}

func fromImage(src image.Image) *Image {
	b := src.Bounds()
	img := &Image{Width: b.Dx(), Height: b.Dy(), Pixels: make([]float32, b.Dx()*b.Dy()*Channels)}
	at := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, a := src.At(x, y).RGBA() // 16 bits, multiplied by alpha
			white := 0xffff - a
			img.Pixels[at] = float32(r+white) / 0xffff
			img.Pixels[at+1] = float32(g+white) / 0xffff
			img.Pixels[at+2] = float32(bl+white) / 0xffff
			at += Channels
		}
	}
	return img
}

// quantize returns a colour as it is stored in 8 bits: clamped and rounded.
func quantize(v float32) uint8 {
	if !(v > 0) { // NaN too
		return 0
	}
	return uint8(min(v, 1)*255 + 0.5)
}

// WritePNG writes the image with 8 bits per channel.
func (m *Image) WritePNG(w io.Writer) error {
	out := image.NewNRGBA(image.Rect(0, 0, m.Width, m.Height))
	for i := range m.Width * m.Height {
		p := m.Pixels[i*Channels:]
		out.SetNRGBA(i%m.Width, i/m.Width, color.NRGBA{quantize(p[0]), quantize(p[1]), quantize(p[2]), 0xff})
	}
	return png.Encode(w, out)
}

// PSNR returns the peak signal-to-noise ratio of two images of one size, in dB, over their values as
// stored in 8 bits: 10·log₁₀(255²/MSE). It is +Inf for equal images.
func PSNR(a, b *Image) float64 {
	var sum float64
	for i, v := range a.Pixels {
		d := float64(quantize(v)) - float64(quantize(b.Pixels[i]))
		sum += d * d
	}
	return 10 * math.Log10(255*255/(sum/float64(len(a.Pixels))))
}
