package images

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"math"

	"github.com/clgrad/clgrad/internal/imagefile"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
)

// ErrImage is what a file is that cannot be read as a picture.
var ErrImage = imagefile.ErrImage

// Picture is pixels of 8 bits, row by row from the top: Pixels[(y*Width+x)*Channels + channel].
type Picture struct {
	Width, Height int // in pixels
	Channels      int // 3: red, green and blue; 1: gray
	Pixels        []uint8
}

// mostPixels is how many pixels a picture may have, and mostBytes how many bytes a file.
const (
	mostPixels = 1 << 27
	mostBytes  = 1 << 30
)

// Read reads a picture from a file, in red, green and blue. Errors name the file; those of its
// contents wrap [ErrImage].
func Read(path string) (*Picture, error) { return read(context.Background(), path) }

// read is Read until ctx is done.
func read(ctx context.Context, path string) (*Picture, error) {
	raw, err := regular.Read(path, mostBytes)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	p, err := decode(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("images: %w", &fs.PathError{Op: "read", Path: path, Err: err})
	}
	return p, nil
}

// Decode is Read of a file's contents.
func Decode(raw []byte) (*Picture, error) {
	p, err := decode(context.Background(), raw)
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	return p, nil
}

func decode(ctx context.Context, raw []byte) (*Picture, error) {
	allow := func(c imagefile.Claim) error {
		if int64(c.Width)*int64(c.Height) > mostPixels {
			return fmt.Errorf("%w: it claims %d×%d pixels, and %d are the most", ErrImage, c.Width, c.Height, mostPixels)
		}
		return nil
	}
	return imagefile.Decode(ctx, raw, allow, func(src *imagefile.Picture) (*Picture, error) {
		p, err := fromImage(ctx, src)
		if err != nil {
			return nil, err
		}
		return p.upright(src.Orientation), nil
	})
}

// fromImage returns the colours of a picture, without its transparency.
func fromImage(ctx context.Context, src *imagefile.Picture) (*Picture, error) {
	b := src.Bounds()
	p := &Picture{Width: b.Dx(), Height: b.Dy(), Channels: 3, Pixels: make([]uint8, 0, 3*b.Dx()*b.Dy())}
	at := colours(src.Image)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for x := b.Min.X; x < b.Max.X; x++ {
			red, green, blue := at(x, y)
			p.Pixels = append(p.Pixels, red, green, blue)
		}
	}
	return p, nil
}

// colours returns a function that gives the colour of a pixel, not multiplied by alpha.
func colours(src image.Image) func(x, y int) (red, green, blue uint8) {
	switch m := src.(type) {
	case *image.YCbCr:
		return func(x, y int) (red, green, blue uint8) {
			c := m.COffset(x, y)
			return color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c])
		}
	case *image.NYCbCrA:
		return func(x, y int) (red, green, blue uint8) {
			c := m.COffset(x, y)
			return color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c])
		}
	case *image.Gray:
		return func(x, y int) (red, green, blue uint8) {
			v := m.GrayAt(x, y).Y
			return v, v, v
		}
	case *image.RGBA:
		return func(x, y int) (red, green, blue uint8) {
			c := m.RGBAAt(x, y)
			if c.A != math.MaxUint8 {
				n := color.NRGBAModel.Convert(c).(color.NRGBA)
				return n.R, n.G, n.B
			}
			return c.R, c.G, c.B
		}
	case *image.NRGBA:
		return func(x, y int) (red, green, blue uint8) {
			c := m.NRGBAAt(x, y)
			return c.R, c.G, c.B
		}
	case *image.NRGBA64:
		return func(x, y int) (red, green, blue uint8) {
			c := m.NRGBA64At(x, y)
			return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
		}
	case *image.Paletted:
		table := make([]color.NRGBA, len(m.Palette))
		for i, c := range m.Palette {
			table[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
		}
		return func(x, y int) (red, green, blue uint8) {
			c := table[m.ColorIndexAt(x, y)]
			return c.R, c.G, c.B
		}
	}
	return func(x, y int) (red, green, blue uint8) {
		c := color.NRGBAModel.Convert(src.At(x, y)).(color.NRGBA)
		return c.R, c.G, c.B
	}
}

// upright returns the picture as EXIF orientation o says that it is to be seen. Source: EXIF 2.32, tag
// 274: the first row and column of what is stored are the top, right, bottom or left of the picture.
func (p *Picture) upright(o int) *Picture {
	if o == 1 {
		return p
	}
	turned := o >= 5 // rows are columns
	flipX, flipY := o == 2 || o == 3 || o == 6 || o == 7, o == 3 || o == 4 || o == 7 || o == 8
	width, height := p.Width, p.Height
	if turned {
		width, height = height, width
	}
	return p.rearranged(height, width, func(y, x int) (int, int) {
		if flipX {
			x = width - 1 - x
		}
		if flipY {
			y = height - 1 - y
		}
		if turned {
			return x, y
		}
		return y, x
	})
}

// rearranged returns a picture of a size whose pixel (y, x) is another of p.
func (p *Picture) rearranged(height, width int, from func(y, x int) (int, int)) *Picture {
	out := &Picture{width, height, p.Channels, make([]uint8, 0, height*width*p.Channels)}
	for y := range height {
		for x := range width {
			fy, fx := from(y, x)
			at := (fy*p.Width + fx) * p.Channels
			out.Pixels = append(out.Pixels, p.Pixels[at:at+p.Channels]...)
		}
	}
	return out
}

// Gray returns the picture in one channel: 0.299·red + 0.587·green + 0.114·blue, rounded.
func (p *Picture) Gray() *Picture {
	out := &Picture{p.Width, p.Height, 1, make([]uint8, 0, p.Width*p.Height)}
	if p.Channels == 1 {
		out.Pixels = append(out.Pixels, p.Pixels...)
		return out
	}
	// Weights in 16 bits, as of ITU-R BT.601.
	const red, green, blue, half = 19595, 38470, 7471, 1 << 15
	for i := 0; i < len(p.Pixels); i += 3 {
		v := red*uint32(p.Pixels[i]) + green*uint32(p.Pixels[i+1]) + blue*uint32(p.Pixels[i+2]) + half
		out.Pixels = append(out.Pixels, uint8(v>>16))
	}
	return out
}

// CenterCrop returns the window of a size in the middle, as torchvision's: where the margins are not
// equal, the one at the top, or left, is even. It panics with tensor.ErrShape for a window that is
// larger than the picture, or has no pixels.
func (p *Picture) CenterCrop(height, width int) *Picture {
	if height < 1 || width < 1 || height > p.Height || width > p.Width {
		panic(misuse("CenterCrop", tensor.ErrShape, fmt.Sprintf("a window of %d × %d in a picture of %d × %d", height, width, p.Height, p.Width)))
	}
	top := int(math.RoundToEven(float64(p.Height-height) / 2))
	left := int(math.RoundToEven(float64(p.Width-width) / 2))
	return p.rearranged(height, width, func(y, x int) (int, int) { return top + y, left + x })
}

// planes writes the picture to dst, [channels, height, width].
func (p *Picture) planes(dst []uint8) {
	n := p.Width * p.Height
	for c := range p.Channels {
		plane := dst[c*n:][:n]
		for i := range plane {
			plane[i] = p.Pixels[i*p.Channels+c]
		}
	}
}

func misuse(op string, kind error, detail string) *tensor.Error {
	return &tensor.Error{Pkg: "images", Op: op, Kind: kind, Detail: detail}
}
