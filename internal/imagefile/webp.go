package imagefile

import (
	"errors"
	"image"
	"image/color"
	"io"

	"golang.org/x/image/riff"
	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"
	"golang.org/x/image/webp"
)

func webpDecode(r io.Reader) (image.Image, error) { return webp.Decode(r) }

// webpConfig returns the size of the picture in a WebP, and refuses one that is not the size of its
// canvas: x/image believes the canvas, and asks for the memory of both. Source: RFC 9649, §2.
func webpConfig(r io.Reader) (image.Config, error) {
	const animation, alpha = 1 << 1, 1 << 4
	_, chunks, err := riff.NewReader(r)
	if err != nil {
		return image.Config{}, err
	}
	var canvas *image.Config
	check := func(cfg image.Config) (image.Config, error) {
		if canvas == nil {
			return cfg, nil
		}
		if cfg.Width != canvas.Width || cfg.Height != canvas.Height {
			return image.Config{}, errors.New("webp: the picture is not the size of its canvas")
		}
		return *canvas, nil
	}
	for {
		id, length, data, err := chunks.Next()
		if err == io.EOF {
			return image.Config{}, errors.New("webp: it holds no picture")
		}
		if err != nil {
			return image.Config{}, err
		}
		switch id {
		case riff.FourCC{'V', 'P', '8', 'X'}:
			head := make([]byte, 10)
			if _, err := io.ReadFull(data, head); err != nil || canvas != nil {
				return image.Config{}, errors.New("webp: damaged header")
			}
			if head[0]&animation != 0 {
				return image.Config{}, errors.New("webp: unsupported: it is animated")
			}
			side := func(b []byte) int { return 1 + int(b[0]) + int(b[1])<<8 + int(b[2])<<16 }
			canvas = &image.Config{ColorModel: color.YCbCrModel, Width: side(head[4:]), Height: side(head[7:])}
			if head[0]&alpha != 0 {
				canvas.ColorModel = color.NYCbCrAModel
			}
		case riff.FourCC{'V', 'P', '8', ' '}:
			d := vp8.NewDecoder()
			d.Init(data, int(length))
			h, err := d.DecodeFrameHeader()
			if err != nil {
				return image.Config{}, err
			}
			return check(image.Config{ColorModel: color.YCbCrModel, Width: h.Width, Height: h.Height})
		case riff.FourCC{'V', 'P', '8', 'L'}:
			cfg, err := vp8l.DecodeConfig(data)
			if err != nil {
				return cfg, err
			}
			return check(cfg)
		}
	}
}
