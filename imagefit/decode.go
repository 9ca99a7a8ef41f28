package imagefit

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // registers the format
	_ "image/png"
	"os"

	"github.com/bep/imagemeta"
)

// ReadImage reads a PNG or JPEG file. Gray stays gray, 16 bits keep their depth, an alpha channel that is not
// opaque everywhere becomes a channel. The picture is turned upright if its EXIF data says how. Errors of the
// contents wrap ErrImage.
func ReadImage(path string) (*Image, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("imagefit: read: %w", err)
	}
	img, err := DecodeImage(raw)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %s: %w", path, err)
	}
	return img, nil
}

// mostPerByte bounds the pixels that a byte of a file can stand for: deflate emits at most 1032 bytes for one,
// of 8 pixels each; a block of 64 pixels of a JPEG takes a bit at least.
var mostPerByte = map[string]int64{"png": 1032 * 8, "jpeg": 512}

// DecodeImage is ReadImage of a file's contents. A header that claims more pixels than the contents can hold is
// refused before memory is asked for.
func DecodeImage(raw []byte) (*Image, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrImage)
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: neither PNG nor JPEG: %w", ErrImage, err)
	}
	const most = mostElements / 4
	pixels := int64(cfg.Width) * int64(cfg.Height)
	switch {
	case pixels > most:
		return nil, fmt.Errorf("%w: %d×%d pixels are more than the %d that clgrad indexes", ErrImage, cfg.Width, cfg.Height, most)
	case pixels == 0:
		return nil, fmt.Errorf("%w: it is %d×%d pixels large", ErrImage, cfg.Width, cfg.Height)
	case pixels > int64(len(raw))*mostPerByte[format]:
		return nil, fmt.Errorf("%w: the header claims %d×%d pixels, the file has only %d bytes", ErrImage, cfg.Width, cfg.Height, len(raw))
	}
	src, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: damaged %s: %w", ErrImage, format, err)
	}
	img := fromImage(src, isGray(src, format, raw))
	return img.upright(orientation(raw, format)), nil
}

// isGray reports whether a decoded file has one colour channel.
func isGray(src image.Image, format string, raw []byte) bool {
	switch m := src.(type) {
	case *image.Gray, *image.Gray16:
		return true
	case *image.Paletted:
		for _, c := range m.Palette {
			if r, g, b, _ := c.RGBA(); r != g || g != b {
				return false
			}
		}
		return true
	}
	// Go's decoder makes RGBA of gray with alpha: the header tells.
	const grayAlpha, colourType = 4, 25
	return format == "png" && raw[colourType]&^grayAlpha == 0
}

// isDeep reports whether a decoded image has 16 bits per channel.
func isDeep(src image.Image) bool {
	switch src.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		return true
	}
	return false
}

func fromImage(src image.Image, gray bool) *Image {
	b := src.Bounds()
	opaque := true
	if o, ok := src.(interface{ Opaque() bool }); ok {
		opaque = o.Opaque()
	}
	img := &Image{Width: b.Dx(), Height: b.Dy(), Colour: Colour{Gray: gray, Alpha: !opaque, Deep: isDeep(src)}}
	img.Pixels = make([]float32, 0, b.Dx()*b.Dy()*img.Channels())
	at := at64(src)
	for y := b.Min.Y; y < b.Max.Y; y++ {
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
	return img
}

// at64 returns a function that gives a pixel in 16 bits, multiplied by alpha, without allocating where the image
// allows that.
func at64(src image.Image) func(x, y int) (r, g, b, a uint32) {
	if m, ok := src.(image.RGBA64Image); ok {
		return func(x, y int) (r, g, b, a uint32) {
			c := m.RGBA64At(x, y)
			return uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)
		}
	}
	return func(x, y int) (r, g, b, a uint32) { return src.At(x, y).RGBA() }
}

// orientation returns the EXIF orientation of a file, 1 to 8. Metadata that cannot be read does not make a
// picture unusable: it counts as upright.
func orientation(raw []byte, format string) int {
	const upright = 1
	of := map[string]imagemeta.ImageFormat{"png": imagemeta.PNG, "jpeg": imagemeta.JPEG}[format]
	o := upright
	_, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(raw), ImageFormat: of, Sources: imagemeta.EXIF,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool { return tag.Tag == "Orientation" && tag.Namespace == "IFD0" },
		HandleTag: func(tag imagemeta.TagInfo) error {
			if v, ok := tag.Value.(uint16); ok && v >= 1 && v <= 8 {
				o = int(v)
			}
			return nil
		},
	})
	if err != nil {
		return upright
	}
	return o
}

// upright returns the image as orientation o says that it is to be seen. Source: EXIF 2.32, tag 274: the first
// row and column of what is stored are the top, right, bottom or left of the picture.
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
