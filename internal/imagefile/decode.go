// Package imagefile decodes files of pictures for the packages that read them: PNG, JPEG, WebP, GIF,
// BMP and TIFF. It asks for no memory that a file cannot be worth, says what is wrong in words for
// people, and stops when it is told to.
package imagefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/bep/imagemeta"
)

// Errors of files that cannot be read as a picture, and of pictures that need more memory than there
// may be.
var (
	ErrImage  = errors.New("not a usable image")
	ErrMemory = errors.New("more memory is needed than may be taken")
)

// Picture is a decoded file.
type Picture struct {
	image.Image
	Gray        bool // it has one colour channel
	Orientation int  // of EXIF, 1 to 8: 1 is upright
}

// Claim is what a file's header says, before anything is decoded.
type Claim struct {
	Width, Height int
	Channels      int64 // alpha among them, at most
	Source        int64 // bytes that the decoder takes for a pixel, at most
}

// most pixels that are indexed, of 4 channels.
const most = math.MaxInt32 / 4

// Decode calls use with the picture that a file holds, of several the first, and returns what that
// returns. Before it is decoded, allow may refuse what the header claims. A panic, of a decoder or of
// use, counts as damage. When ctx is done, Decode returns its error at once, whatever the decoder is
// at; that ends soon after.
func Decode[T any](ctx context.Context, raw []byte, allow func(Claim) error, use func(*Picture) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			// Decoders of other packages meet what nobody thought of.
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("%w: it is damaged (%v)", ErrImage, p)}
			}
			done <- r
		}()
		var p *Picture
		if p, r.err = decode(ctx, raw, allow); r.err == nil {
			r.value, r.err = use(p)
		}
	}()
	var none T
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func decode(ctx context.Context, raw []byte, allow func(Claim) error) (*Picture, error) {
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
	pixels := int64(cfg.Width) * int64(cfg.Height)
	switch {
	case cfg.Width < 1 || cfg.Height < 1:
		return nil, fmt.Errorf("%w: it is %d×%d pixels large", ErrImage, cfg.Width, cfg.Height)
	case pixels/int64(cfg.Width) != int64(cfg.Height) || pixels > most:
		return nil, fmt.Errorf("%w: %d×%d pixels are more than the %d that can be indexed", ErrImage, cfg.Width, cfg.Height, most)
	case f.mostPerByte > 0 && pixels > int64(len(raw))*f.mostPerByte:
		return nil, fmt.Errorf("%w: the header claims %d×%d pixels, the file has only %d bytes", ErrImage, cfg.Width, cfg.Height, len(raw))
	}
	if err := allow(f.claim(cfg, raw)); err != nil {
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
	return &Picture{src, f.gray(src, raw), orientation(raw, f.exif)}, nil
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
