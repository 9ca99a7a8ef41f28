package imagefit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/bep/imagemeta"
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
	type result struct {
		img *Image
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			// Decoders of other packages meet what nobody thought of.
			if p := recover(); p != nil {
				r = result{nil, fmt.Errorf("%w: it is damaged (%v)", ErrImage, p)}
			}
			done <- r
		}()
		r.img, r.err = b.decode(ctx, raw)
	}()
	select {
	case r := <-done:
		return r.img, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b Bounds) decode(ctx context.Context, raw []byte) (*Image, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrImage)
	}
	f, err := formatOf(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	from := &guard{Reader: bytes.NewReader(raw), ctx: ctx}
	cfg, err := f.config(from)
	if err != nil {
		return nil, f.failure(err)
	}
	const most = mostElements / 4
	pixels := int64(cfg.Width) * int64(cfg.Height)
	switch {
	case cfg.Width < 1 || cfg.Height < 1:
		return nil, fmt.Errorf("%w: it is %d×%d pixels large", ErrImage, cfg.Width, cfg.Height)
	case pixels/int64(cfg.Width) != int64(cfg.Height) || pixels > most:
		return nil, fmt.Errorf("%w: %d×%d pixels are more than the %d that can be indexed", ErrImage, cfg.Width, cfg.Height, most)
	case f.mostPerByte > 0 && pixels > int64(len(raw))*f.mostPerByte:
		return nil, fmt.Errorf("%w: the header claims %d×%d pixels, the file has only %d bytes", ErrImage, cfg.Width, cfg.Height, len(raw))
	}
	what := fmt.Sprintf("reading and fitting %d×%d pixels", cfg.Width, cfg.Height)
	if err := b.allow(what, pixels*f.perPixel(cfg, raw)*(100+GarbagePercent)/100+int64(len(raw))); err != nil {
		return nil, err
	}
	from.Reader = bytes.NewReader(raw)
	src, err := f.decode(from)
	if err != nil {
		return nil, f.failure(err)
	}
	if size := src.Bounds(); size.Dx() != cfg.Width || size.Dy() != cfg.Height {
		return nil, fmt.Errorf("%w: damaged %s: it is %d×%d pixels, and its header says %d×%d", ErrImage, f.name, size.Dx(), size.Dy(), cfg.Width, cfg.Height)
	}
	img, err := fromImage(ctx, src, f.gray(src, raw))
	if err != nil {
		return nil, err
	}
	return img.upright(orientation(raw, f.exif)), nil
}

// plainly puts what decoders say into words for people.
var plainly = strings.NewReplacer("unexpected EOF", "it ends too early", "invalid format: ", "", "invalid JPEG format: ", "")

// failure says why a decoder gave up.
func (f *imageFormat) failure(err error) error {
	if errors.Is(err, ErrMemory) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := err.Error() // decoders put the name of their package before it
	for _, prefix := range []string{"png: ", "jpeg: ", "webp: ", "gif: ", "bmp: ", "tiff: ", "vp8: ", "vp8l: ", "riff: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if strings.Contains(text, "dimension overflow") {
		return fmt.Errorf("%w: its header claims more pixels than can be indexed", ErrImage)
	}
	text = plainly.Replace(text)
	if strings.Contains(text, "unsupported") {
		return fmt.Errorf("%w: it is a %s of a kind that is not read (%s): save it as PNG", ErrImage, f.name, text)
	}
	return fmt.Errorf("%w: damaged %s: %s", ErrImage, f.name, text)
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

// orientation returns the EXIF orientation of a file, 1 to 8. Metadata that cannot be read does not
// make a picture unusable: it counts as upright. GIF and BMP have none.
func orientation(raw []byte, format imagemeta.ImageFormat) int {
	const upright = 1
	if format == imagemeta.ImageFormatAuto {
		return upright
	}
	o := upright
	_, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(raw), ImageFormat: format, Sources: imagemeta.EXIF,
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
