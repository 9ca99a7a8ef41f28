package imagefit

import (
	"image"
	"image/color"
	"io"
)

// raster is rows of channels as the standard library's encoders see them. Gray with alpha has no PNG form in the
// standard library: it becomes red, green and blue that are equal.
type raster struct {
	Colour
	width, height int
	row           func(y int) []float32 // asked for from the top down

	y       int
	current []float32
}

func newRaster(c Colour, width, height int, row func(y int) []float32) *raster {
	return &raster{Colour: c, width: width, height: height, row: row, y: -1}
}

// Bounds is part of image.Image.
func (r *raster) Bounds() image.Rectangle { return image.Rect(0, 0, r.width, r.height) }

// Opaque reports whether there is no alpha, without looking at pixels.
func (r *raster) Opaque() bool { return !r.Alpha }

// ColorModel is part of image.Image.
func (r *raster) ColorModel() color.Model {
	switch {
	case r.Gray && !r.Alpha && r.Deep:
		return color.Gray16Model
	case r.Gray && !r.Alpha:
		return color.GrayModel
	case r.Deep:
		return color.NRGBA64Model
	}
	return color.NRGBAModel
}

// At is part of image.Image.
func (r *raster) At(x, y int) color.Color {
	if y != r.y {
		r.y, r.current = y, r.row(y)
	}
	v := [4]float64{3: r.peak()}
	n := r.stored(r.current[x*r.Channels():], &v)
	switch {
	case n == 1 && r.Deep:
		return color.Gray16{Y: uint16(v[0])}
	case n == 1:
		return color.Gray{Y: uint8(v[0])}
	case r.Deep:
		return color.NRGBA64{R: uint16(v[0]), G: uint16(v[1]), B: uint16(v[2]), A: uint16(v[3])}
	}
	return color.NRGBA{R: uint8(v[0]), G: uint8(v[1]), B: uint8(v[2]), A: uint8(v[3])}
}

// stored makes of a pixel what a file stores: gray, or red, green and blue, which are equal where gray has alpha, and alpha where there
// is any. Colours are divided by alpha. It returns how many numbers there are.
func (r *raster) stored(p []float32, v *[4]float64) int {
	peak := r.peak()
	if !r.Alpha {
		n := r.Channels()
		for i := range n {
			v[i] = quantize(p[i], peak)
		}
		return n
	}
	alpha := max(min(p[r.Channels()-1], 1), 0)
	v[3] = quantize(alpha, peak)
	for i := range 3 {
		from := i
		if r.Gray {
			from = 0
		}
		if v[i] = 0; v[3] != 0 {
			v[i] = quantize(p[from]/alpha, peak)
		}
	}
	return 4
}

// picture returns the image as the standard library sees it.
func (m *Image) picture() *raster {
	stride := m.Width * m.Channels()
	return newRaster(m.Colour, m.Width, m.Height, func(y int) []float32 { return m.Pixels[y*stride : (y+1)*stride] })
}

// WritePNG writes the image in its depth.
func (m *Image) WritePNG(w io.Writer) error { return m.Write(w, Format{}) }
