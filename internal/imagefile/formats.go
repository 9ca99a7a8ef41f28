package imagefile

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/bep/imagemeta"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// imageFormat is a format that is read. The registry of package image is not used: what else is
// linked into a program registers formats there that this package knows nothing of.
type imageFormat struct {
	name   string
	magic  []string // that a file begins with; "?" is any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// mostPerByte bounds the pixels that a byte of a file can stand for; 0: there is no bound.
	mostPerByte int64
	exif        imagemeta.ImageFormat
}

var formats = []*imageFormat{
	// Deflate emits at most 1032 bytes for one, of 8 pixels each.
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, png.DecodeConfig, png.Decode, 1032 * 8, imagemeta.PNG},
	// A block of 64 pixels takes a bit at least.
	{"JPEG", []string{"\xff\xd8\xff"}, jpeg.DecodeConfig, jpeg.Decode, 512, imagemeta.JPEG},
	// One colour everywhere takes no bits at all.
	{"WebP", []string{"RIFF????WEBPVP8"}, webpConfig, webpDecode, 0, imagemeta.WebP},
	// A code of at most 12 bits stands for at most 4096 pixels, and no code is shorter than 3 bits.
	{"GIF", []string{"GIF87a", "GIF89a"}, gif.DecodeConfig, gifDecode, 4096 * 8 / 3, imagemeta.ImageFormatAuto},
	// It is not compressed, or not read.
	{"BMP", []string{"BM"}, bmp.DecodeConfig, bmp.Decode, 8, imagemeta.ImageFormatAuto},
	// Strips may share their bytes.
	{"TIFF", []string{"II*\x00", "MM\x00*"}, tiff.DecodeConfig, tiff.Decode, 0, imagemeta.TIFF},
}

// FormatNames lists what is read, for errors.
const FormatNames = "PNG, JPEG, WebP, GIF, BMP and TIFF"

// formatOf returns the format of a file, by its first bytes, or an error that says what it is
// instead.
func formatOf(raw []byte) (*imageFormat, error) {
	if kind := unreadKind(raw); kind != "" {
		return nil, fmt.Errorf("it is %s: %s are read", kind, FormatNames)
	}
	for _, f := range formats {
		for _, magic := range f.magic {
			if begins(raw, magic) {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("it is no picture that is known here: %s are read", FormatNames)
}

// begins reports whether a file begins with magic, in which "?" is any byte.
func begins(raw []byte, magic string) bool {
	if len(raw) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && magic[i] != raw[i] {
			return false
		}
	}
	return true
}

// claim returns what the header of a file says.
func (f *imageFormat) claim(cfg image.Config, raw []byte) Claim {
	var source, channels int64 = 4, 3
	switch cfg.ColorModel {
	case color.GrayModel:
		source, channels = 1, 1
	case color.Gray16Model:
		source, channels = 2, 1
	case color.RGBA64Model, color.NRGBA64Model:
		source = 8
	}
	switch cfg.ColorModel {
	case color.NRGBAModel, color.NRGBA64Model, color.NYCbCrAModel:
		channels++
	}
	if p, ok := cfg.ColorModel.(color.Palette); ok {
		source = 1
		if len(p) == 0 || !opaque(p) {
			channels++
		}
	}
	const interlace = 28 // its place in a PNG
	switch f.name {
	case "PNG":
		if bytes.Contains(raw, []byte("tRNS")) { // the header does not know of it
			source, channels = source*4, channels+1
		}
		if len(raw) > interlace && raw[interlace] == 1 {
			source *= 2 // passes, and what they are put together to
		}
	case "JPEG":
		if channels == 1 {
			source = 5
		} else {
			source = 16 // coefficients, as a progressive one has them, and samples
		}
	case "TIFF":
		channels += channels / 3 // RGBA may have alpha or not
		source *= 2              // a strip may be all of it
	case "GIF":
		source, channels = 5, 4 // the frame, and the canvas where it does not cover that
	}
	return Claim{cfg.Width, cfg.Height, channels, source}
}

// gray reports whether a decoded file has one colour channel.
func (f *imageFormat) gray(src image.Image, raw []byte) bool {
	switch m := src.(type) {
	case *image.Gray, *image.Gray16:
		return true
	case *image.Paletted:
		return grayPalette(m.Palette)
	case *canvas:
		return grayPalette(m.frame.Palette)
	}
	// Go's decoder makes RGBA of gray with alpha: the header says so.
	const grayAlpha, colourType = 4, 25
	return f.name == "PNG" && raw[colourType]&^grayAlpha == 0
}

func grayPalette(p color.Palette) bool {
	for _, c := range p {
		if r, g, b, _ := c.RGBA(); r != g || g != b {
			return false
		}
	}
	return true
}

// canvas is a GIF whose first frame does not cover all of it: the rest is clear.
type canvas struct {
	*image.NRGBA
	frame *image.Paletted
}

func gifDecode(r io.Reader) (image.Image, error) {
	seeker, ok := r.(io.ReadSeeker)
	if !ok {
		return nil, errors.New("gif: cannot be read twice")
	}
	cfg, err := gif.DecodeConfig(r)
	if err != nil {
		return nil, err
	}
	if _, err := seeker.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	src, err := gif.Decode(r)
	if err != nil {
		return nil, err
	}
	whole := image.Rect(0, 0, cfg.Width, cfg.Height)
	frame, ok := src.(*image.Paletted)
	if !ok || frame.Rect == whole {
		return src, nil
	}
	c := &canvas{image.NewNRGBA(whole), frame}
	draw.Draw(c, frame.Rect, frame, frame.Rect.Min, draw.Src)
	return c, nil
}

func opaque(p color.Palette) bool {
	for _, c := range p {
		if _, _, _, a := c.RGBA(); a < 0xffff {
			return false
		}
	}
	return true
}
