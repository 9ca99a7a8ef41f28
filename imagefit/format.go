package imagefit

import (
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"strings"
)

// Format is how a picture is stored in a file. The zero value is PNG.
type Format struct {
	JPEG    bool // PNG if it is not
	Quality int  // of JPEG, 1 to 100
}

// DefaultQuality is the default quality of JPEG: little that is seen is lost.
const DefaultQuality = 90

// most pixels of a side of a JPEG.
const mostJPEG = 1<<16 - 1

// refusal is an ErrConfig that says what is wrong in its own words.
type refusal struct{ text string }

func refused(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

func (e *refusal) Error() string { return e.text }

func (e *refusal) Unwrap() error { return ErrConfig }

// FormatOf returns the format that the ending of a file's name stands for, JPEG in the quality that
// is given. A name without an ending is of a PNG. The error wraps ErrConfig.
func FormatOf(name string, quality int) (Format, error) {
	if quality < 1 || quality > 100 {
		return Format{}, refused("the quality of JPEG is %d: it must be 1 to 100", quality)
	}
	switch ext := filepath.Ext(name); strings.ToLower(ext) {
	case ".png", ".", "":
		return Format{}, nil
	case ".jpg", ".jpeg":
		return Format{JPEG: true, Quality: quality}, nil
	default:
		return Format{}, refused("%s ends in %s: pictures are written as .png, .jpg or .jpeg", name, ext)
	}
}

// Check returns an error that wraps ErrConfig if the format cannot hold a picture of that size and
// colour. What it holds in fewer bits is no error.
func (f Format) Check(c Colour, width, height int) error {
	switch {
	case !f.JPEG:
		return nil
	case c.Alpha:
		return refused("the picture has transparency, which JPEG cannot hold: write a .png")
	case width > mostJPEG || height > mostJPEG:
		return refused("a JPEG has at most %d pixels a side, the picture is %d×%d: write a .png", mostJPEG, width, height)
	}
	return nil
}

// Write writes the image: a PNG in its depth, a JPEG in 8 bits. The error wraps ErrConfig if the
// format cannot hold it.
func (m *Image) Write(w io.Writer, f Format) error {
	if err := f.Check(m.Colour, m.Width, m.Height); err != nil {
		return err
	}
	return f.encode(w, m.picture(), png.DefaultCompression)
}

// encode writes rows that are asked for from the top down, once each.
func (f Format) encode(w io.Writer, r *raster, level png.CompressionLevel) error {
	if !f.JPEG {
		return (&png.Encoder{CompressionLevel: level}).Encode(w, r)
	}
	r.Deep = false
	if r.Gray {
		return f.encodeImage(w, r.gray())
	}
	r.row = lastRows(r.row)
	return f.encodeImage(w, r)
}

// encodeImage writes an image that gives its pixels in any order.
func (f Format) encodeImage(w io.Writer, m image.Image) error {
	if f.JPEG {
		return jpeg.Encode(w, m, &jpeg.Options{Quality: f.Quality})
	}
	return png.Encode(w, m)
}

// gray returns the rows as the one type that the JPEG encoder stores in one channel: a byte a
// pixel, in memory.
func (r *raster) gray() *image.Gray {
	m := image.NewGray(r.Bounds())
	for y := range r.height {
		for x := range r.width {
			m.SetGray(x, y, r.At(x, y).(color.Gray))
		}
	}
	return m
}

// lastRows keeps as many rows as blocks of a JPEG are high, whose encoder goes through them block
// by block.
func lastRows(row func(y int) []float32) func(y int) []float32 {
	const block = 16
	var rows [block][]float32
	next := 0
	return func(y int) []float32 {
		for ; next <= y; next++ {
			rows[next%block] = row(next)
		}
		return rows[y%block]
	}
}
