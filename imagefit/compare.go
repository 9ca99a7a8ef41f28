package imagefit

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// ErrorGain is how much error maps amplify: an error of a sixteenth of the range is as bright as
// can be.
const ErrorGain = 16

// ErrorMap returns the magnitude of the difference of each colour channel between two images of one
// size, amplified by ErrorGain; that of alpha, where there is one, is added to all. It is opaque.
func ErrorMap(a, b *Image) *Image {
	n := a.Channels()
	colours := n
	if a.Alpha {
		colours--
	}
	out := &Image{Width: a.Width, Height: a.Height, Colour: Colour{Gray: a.Gray}}
	for i := 0; i < len(a.Pixels); i += n {
		var alpha float32
		if a.Alpha {
			alpha = distance(a.Pixels[i+colours], b.Pixels[i+colours])
		}
		for k := range colours {
			out.Pixels = append(out.Pixels, min(ErrorGain*(distance(a.Pixels[i+k], b.Pixels[i+k])+alpha), 1))
		}
	}
	return out
}

// distance is that of two values as they are stored.
func distance(a, b float32) float32 {
	return float32(math.Abs(quantize(a, 0xffff)-quantize(b, 0xffff)) / 0xffff)
}

// Pixels of a comparison above its panels, between them, and left of a caption.
const caption, gap, captionMargin = 20, 4, 2

var captionFont = basicfont.Face7x13

// ComparisonSize returns what a comparison with an image is as a picture.
func ComparisonSize(m *Image) (c Colour, width, height int) {
	return Colour{}, 3*m.Width + 2*gap, m.Height + caption
}

// WriteComparison writes a picture of an image, its reconstruction and the error between them, side
// by side, with captions.
func WriteComparison(w io.Writer, original, reconstruction *Image, f Format) error {
	width, height := original.Width, original.Height
	learned := fmt.Sprintf("reconstruction, %.2f dB", PSNR(original, reconstruction))
	if captionFont.Advance*len(learned)+captionMargin > width {
		learned = fmt.Sprintf("%.2f dB", PSNR(original, reconstruction))
	}
	panels := []struct {
		img  *Image
		text string
	}{
		{original, "original"},
		{reconstruction, learned},
		{ErrorMap(original, reconstruction), fmt.Sprintf("error x%d", ErrorGain)},
	}
	c, outWidth, outHeight := ComparisonSize(original)
	if err := f.Check(c, outWidth, outHeight); err != nil {
		return err
	}
	out := image.NewNRGBA(image.Rect(0, 0, outWidth, outHeight))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	for i, p := range panels {
		left := i * (width + gap)
		draw.Draw(out, image.Rect(left, caption, left+width, caption+height), p.img.picture(), image.Point{}, draw.Over)
		column := out.SubImage(image.Rect(left, 0, left+width, caption)).(*image.NRGBA) // what is longer is cut off
		d := font.Drawer{Dst: column, Src: image.NewUniform(color.Black), Face: captionFont, Dot: fixed.P(left+captionMargin, 14)}
		d.DrawString(p.text)
	}
	return f.encodeImage(w, out)
}
