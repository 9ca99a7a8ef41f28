package imagefit

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"

	"github.com/clgrad/clgrad/internal/imagefile"
	"github.com/clgrad/clgrad/internal/regular"
)

// ReadImage reads a file of one of the formats PNG, JPEG, WebP, GIF, BMP and TIFF: of several
// pictures the first. Gray stays gray, 16 bits keep their depth, an alpha channel that is not
// opaque everywhere becomes a channel. The picture is turned upright if its EXIF data says how. A
// pipe or a device is an error: DecodeImage takes bytes from anywhere. Errors of the contents wrap
// ErrImage.
func ReadImage(path string) (*Image, error) {
	raw, err := regular.Read(path, math.MaxInt64)
	if err != nil {
		return nil, fmt.Errorf("imagefit: read: %w", err)
	}
	img, err := DecodeImage(raw)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %s: %w", path, err)
	}
	return img, nil
}

// DecodeImage is ReadImage of a file's contents.
func DecodeImage(raw []byte) (*Image, error) { return Bounds{}.DecodeImage(context.Background(), raw) }

// DecodeImage is the function DecodeImage within the bounds, which must hold the memory that a fit
// of the image takes as well: it is estimated from the size that the file's header claims, before
// that is asked for. A header that claims more pixels than the contents can hold is refused. When
// ctx is done, DecodeImage returns its error at once, whatever the decoder is at; that ends soon
// after.
func (b Bounds) DecodeImage(ctx context.Context, raw []byte) (*Image, error) {
	if isArchive(raw) {
		return nil, fmt.Errorf("%w: it is %s: %s are read", ErrImage, archive, imagefile.FormatNames)
	}
	allow := func(c imagefile.Claim) error {
		const float = 4
		decoding := c.Source + 2*float*c.Channels // the second time turned upright
		fitting := 3 * float * c.Channels         // here, on a device that may have the same memory, and what was learned
		bytes := int64(c.Width) * int64(c.Height) * max(decoding, fitting) * (100 + GarbagePercent) / 100
		return b.allow(fmt.Sprintf("reading and fitting %d×%d pixels", c.Width, c.Height), bytes+int64(len(raw)))
	}
	return imagefile.Decode(ctx, raw, allow, func(src *imagefile.Picture) (*Image, error) {
		img, err := fromImage(ctx, src.Image, src.Gray)
		if err != nil {
			return nil, err
		}
		return img.upright(src.Orientation), nil
	})
}

// archive is what files of models and checkpoints are.
const archive = "an archive (of a model or a checkpoint, perhaps, which mlpimage render draws)"

func isArchive(raw []byte) bool { return bytes.HasPrefix(raw, []byte("PK\x03\x04")) }

// kindOf says what a file is that is no model, or returns "".
func kindOf(raw []byte) string {
	if bytes.HasPrefix(raw, []byte("PK")) {
		return ""
	}
	format, other := imagefile.Kind(raw)
	if format != "" {
		return "a " + format + " picture, which mlpimage train learns"
	}
	return other
}

// isDeep reports whether a decoded image has 16 bits per channel.
func isDeep(src image.Image) bool {
	switch src.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		return true
	}
	return false
}

func fromImage(ctx context.Context, src image.Image, gray bool) (*Image, error) {
	b := src.Bounds()
	opaque := true
	if o, ok := src.(interface{ Opaque() bool }); ok {
		opaque = o.Opaque()
	}
	img := &Image{Width: b.Dx(), Height: b.Dy(), Colour: Colour{Gray: gray, Alpha: !opaque, Deep: isDeep(src)}}
	img.Pixels = make([]float32, 0, b.Dx()*b.Dy()*img.Channels())
	at := at64(src)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, a := at(x, y)
			img.Pixels = append(img.Pixels, float32(r)/0xffff)
			if !gray {
				img.Pixels = append(img.Pixels, float32(g)/0xffff, float32(bl)/0xffff)
			}
			if img.Alpha {
				img.Pixels = append(img.Pixels, float32(a)/0xffff)
			}
		}
	}
	return img, nil
}

// at64 returns a function that gives a pixel in 16 bits, multiplied by alpha, without allocating
// where the image allows that.
func at64(src image.Image) func(x, y int) (r, g, b, a uint32) {
	if m, ok := src.(image.RGBA64Image); ok {
		return func(x, y int) (r, g, b, a uint32) {
			c := m.RGBA64At(x, y)
			return uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)
		}
	}
	return func(x, y int) (r, g, b, a uint32) { return src.At(x, y).RGBA() }
}

// upright returns the image as orientation o says that it is to be seen. Source: EXIF 2.32, tag
// 274: the first row and column of what is stored are the top, right, bottom or left of the
// picture.
func (m *Image) upright(o int) *Image {
	if o == 1 {
		return m
	}
	out := &Image{Width: m.Width, Height: m.Height, Colour: m.Colour, Pixels: make([]float32, len(m.Pixels))}
	if o >= 5 { // rows are columns
		out.Width, out.Height = m.Height, m.Width
	}
	flipX := o == 2 || o == 3 || o == 6 || o == 7
	flipY := o == 3 || o == 4 || o == 7 || o == 8
	n := m.Channels()
	for y := range out.Height {
		for x := range out.Width {
			fx, fy := x, y
			if flipX {
				fx = out.Width - 1 - x
			}
			if flipY {
				fy = out.Height - 1 - y
			}
			if o >= 5 {
				fx, fy = fy, fx
			}
			copy(out.Pixels[(y*out.Width+x)*n:][:n], m.Pixels[(fy*m.Width+fx)*n:])
		}
	}
	return out
}
