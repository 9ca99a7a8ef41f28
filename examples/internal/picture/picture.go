// Package picture is what the examples do with photographs: read, frame, and make inputs of models.
package picture

import (
	"context"
	"image"
	"image/color"
	"math"
	"os"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/regular"
	"golang.org/x/image/draw"
)

// What a picture may take: bytes of its file, and of memory while it is read, which is some 100 million pixels.
const (
	mostBytes  = 1 << 30
	mostMemory = 4 << 30
)

// Read reads a picture of one of the formats PNG, JPEG, WebP, GIF, BMP and TIFF. It is turned upright by its EXIF data.
// What is transparent becomes white.
func Read(path string) (*image.RGBA, error) {
	raw, err := regular.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	img, err := imagefit.Bounds{Memory: mostMemory}.DecodeImage(context.Background(), raw)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	out := image.NewRGBA(image.Rect(0, 0, img.Width, img.Height))
	channels := img.Channels()
	for i := range img.Width * img.Height {
		p, alpha := img.Pixels[i*channels:(i+1)*channels], float32(1)
		if img.Alpha {
			p, alpha = p[:channels-1], p[channels-1]
		}
		for c := range 3 {
			v := p[c%len(p)] // gray is red, green and blue
			out.Pix[4*i+c] = uint8(255*(v+1-alpha) + 0.5)
		}
		out.Pix[4*i+3] = 255
	}
	return out, nil
}

// Resize returns a picture of w by h pixels, each the mean of what it covers.
func Resize(img image.Image, w, h int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.BiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// Order is which channels the planes of a model are of.
type Order [3]int

// RGB and BGR are the orders that models are trained with.
var (
	RGB = Order{0, 1, 2}
	BGR = Order{2, 1, 0} // as OpenCV reads pictures
)

// Planes returns the pixels as [3, height, width]: (v − mean)/std for each channel v of 0 to 1.
func Planes(img *image.RGBA, order Order, mean, std [3]float32) []float32 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := make([]float32, 3*w*h)
	for c := range 3 {
		plane := out[c*w*h : (c+1)*w*h]
		for y := range h {
			row := img.Pix[y*img.Stride:]
			for x := range w {
				plane[y*w+x] = (float32(row[4*x+order[c]])/255 - mean[c]) / std[c]
			}
		}
	}
	return out
}

// Frame draws the outline of a polygon, a few pixels wide in a large picture.
func Frame(img *image.RGBA, corners []image.Point, c color.Color) {
	wide := max(2, max(img.Rect.Dx(), img.Rect.Dy())/400)
	brush := image.NewUniform(c)
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		steps := max(abs(b.X-a.X), abs(b.Y-a.Y), 1)
		for s := range steps + 1 {
			t := float64(s) / float64(steps)
			x := int(math.Round(float64(a.X)+t*float64(b.X-a.X))) - wide/2
			y := int(math.Round(float64(a.Y)+t*float64(b.Y-a.Y))) - wide/2
			draw.Draw(img, image.Rect(x, y, x+wide, y+wide), brush, image.Point{}, draw.Src)
		}
	}
}

func abs(v int) int { return max(v, -v) }
