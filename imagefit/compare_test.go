package imagefit

import (
	"bytes"
	"image"
	"image/png"
	"testing"
)

// TestComparisonCaption: the PSNR is written whole wherever there is room for it: in a panel that
// is too narrow for all of the caption, alone.
func TestComparisonCaption(t *testing.T) {
	const text = "10.00 dB"
	for _, width := range []int{200, 100, captionMargin + 7*len(text)} {
		img := &Image{Width: width, Height: 1, Pixels: make([]float32, 3*width)}
		out := &Image{Width: width, Height: 1, Pixels: make([]float32, 3*width)}
		for i := range out.Pixels {
			out.Pixels[i] = 0.316228
		}
		var b bytes.Buffer
		if err := WriteComparison(&b, img, out, Format{}); err != nil {
			t.Fatal(err)
		}
		sheet, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		// Its last letter is a B, whose stem is as high as it: a caption that is cut off ends
		// elsewhere.
		last, left := -1, width+gap
		for x := left; x < left+width; x++ {
			if dark(sheet, x) > 0 {
				last = x
			}
		}
		stem := last - 4
		if last < 0 || dark(sheet, stem) != 9 {
			t.Errorf("width %d: the caption ends at %d of %d, %d dark pixels in the stem of a B", width, last-left, width, dark(sheet, stem))
		}
	}
}

// dark returns how many pixels of a column above the panels are dark.
func dark(m image.Image, x int) int {
	n := 0
	for y := range caption {
		if r, _, _, _ := m.At(x, y).RGBA(); r < 1<<15 {
			n++
		}
	}
	return n
}
