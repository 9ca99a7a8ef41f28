package imagefit

import (
	"image"
	"image/color"
	"io"
)

// raster is rows of channels as the standard library's encoders see them. Gray with alpha has no
// PNG form in the standard library: it becomes red, green and blue that are equal.
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

// At is part of image.Image. Colours are divided by alpha.
func (r *raster) At(x, y int) color.Color {
	if y != r.y {
		r.y, r.current = y, r.row(y)
	}
	p := r.current[x*r.Channels():]
	peak := r.peak()
	alpha := float32(1)
	if r.Alpha {
		alpha = max(min(p[r.Channels()-1], 1), 0)
	}
	store := func(v float32) float64 {
		if r.Alpha && quantize(alpha, peak) == 0 {
			return 0
		}
		return quantize(v/alpha, peak)
	}
	if r.Gray && !r.Alpha {
		if r.Deep {
			return color.Gray16{Y: uint16(store(p[0]))}
		}
		return color.Gray{Y: uint8(store(p[0]))}
	}
	red, green, blue := p[0], p[0], p[0]
	if !r.Gray {
		green, blue = p[1], p[2]
	}
	a := quantize(alpha, peak)
	if r.Deep {
		return color.NRGBA64{R: uint16(store(red)), G: uint16(store(green)), B: uint16(store(blue)), A: uint16(a)}
	}
	return color.NRGBA{R: uint8(store(red)), G: uint8(store(green)), B: uint8(store(blue)), A: uint8(a)}
}

// picture returns the image as the standard library sees it.
func (m *Image) picture() *raster {
	stride := m.Width * m.Channels()
	return newRaster(m.Colour, m.Width, m.Height, func(y int) []float32 { return m.Pixels[y*stride : (y+1)*stride] })
}

// WritePNG writes the image in its depth.
func (m *Image) WritePNG(w io.Writer) error { return m.Write(w, Format{}) }
