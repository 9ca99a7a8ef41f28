// Package imagedecoder adds the operator ImageDecoder to package onnx, for programs that import it:
//
//	import _ "github.com/clgrad/clgrad/onnx/imagedecoder"
//
// It decodes BMP, GIF, JPEG, PNG, PNM, TIFF and WebP. It is a package of its own because the decoders are code that few
// models need.
package imagedecoder

import (
	"bytes"
	"image"
	"image/color"
	_ "image/gif" // the formats that image.Decode knows
	_ "image/jpeg"
	_ "image/png"

	"github.com/clgrad/clgrad/onnx"
	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// mostPixels is how many pixels a picture may have: a few bytes can say that there are billions.
const mostPixels = 1 << 27

func init() {
	onnx.Register(onnx.Operator{Name: "ImageDecoder", Since: 20, Attributes: "pixel_format", Run: decode, Shape: shape})
}

// decode returns a picture of [height width channels]. One that cannot be decoded has no pixels.
func decode(c *onnx.Call) []*onnx.Value {
	format := c.String("pixel_format", "RGB")
	channels := 3
	switch format {
	case "RGB", "BGR":
	case "Grayscale":
		channels = 1
	default:
		c.Fail("pixel_format is %q", format)
	}
	file := c.Bytes(0)
	if isJPEG2000(file) {
		c.Unsupported("a picture in JPEG 2000")
	}
	config, kind, err := image.DecodeConfig(bytes.NewReader(file))
	if err == nil && (config.Width < 0 || config.Height < 0 || config.Height > 0 &&
		config.Width > mostPixels/config.Height) {
		c.Fail("a picture of %d by %d pixels, and %d are the most", config.Width, config.Height, mostPixels)
	}
	var picture image.Image
	if err == nil {
		picture, _, err = image.Decode(bytes.NewReader(file))
	}
	if err != nil {
		return onnx.Out(onnx.New(c, []uint8{}, 0, 0, channels))
	}
	size, pix := picture.Bounds().Size(), rgb(picture, kind)
	switch format {
	case "BGR":
		for i := 0; i < len(pix); i += 3 {
			pix[i], pix[i+2] = pix[i+2], pix[i]
		}
	case "Grayscale":
		pix = gray(pix)
	}
	return onnx.Out(onnx.New(c, pix, size.Y, size.X, channels))
}

// isJPEG2000 reports whether a file is in JPEG 2000: in its container, or the stream alone.
func isJPEG2000(file []byte) bool {
	return bytes.HasPrefix(file, []byte("\x00\x00\x00\x0cjP  ")) || bytes.HasPrefix(file, []byte("\xff\x4f\xff\x51"))
}

// rgb returns the pixels of a picture, three bytes each, without transparency.
func rgb(picture image.Image, kind string) []byte {
	b := picture.Bounds()
	out := make([]byte, 0, 3*b.Dx()*b.Dy())
	switch p := picture.(type) {
	case *image.YCbCr:
		return ycc(p, kind)
	case *image.NYCbCrA:
		return ycc(&p.YCbCr, kind)
	case *image.NRGBA:
		for y := b.Min.Y; y < b.Max.Y; y++ {
			row := p.Pix[p.PixOffset(b.Min.X, y):]
			for x := range b.Dx() {
				out = append(out, row[4*x:4*x+3]...)
			}
		}
		return out
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			out = append(out, c.R, c.G, c.B)
		}
	}
	return out
}

// gray returns the luma of ITU-R 601 of pixels.
func gray(rgb []byte) []byte {
	out := make([]byte, len(rgb)/3)
	for i := range out {
		r, g, b := uint32(rgb[3*i]), uint32(rgb[3*i+1]), uint32(rgb[3*i+2])
		out[i] = byte((19595*r + 38470*g + 7471*b + 1<<15) >> 16) // 0.299, 0.587 and 0.114
	}
	return out
}

// shape is [height width channels] of bytes.
func shape(c *onnx.ShapeCall) []onnx.Known {
	dims := make([]onnx.Dim, 3)
	return []onnx.Known{{Type: "uint8", Dims: dims}}
}
