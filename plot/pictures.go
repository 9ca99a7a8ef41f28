package plot

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/tensor"
)

// PictureOptions says how a tensor becomes a picture.
type PictureOptions struct {
	Columns   int     // pictures beside each other; 0: about as many as there are rows
	Scale     int     // pixels of an element; 0: 1
	Low, High float64 // what is black and white; both 0: the least and the greatest finite element
}

// pictureGap is how many pixels are between two pictures.
const pictureGap = 2

// Pictures draws the pictures of a tensor beside each other: [height, width]; [n, height, width], such as the channels of
// a feature map; [n, 1, height, width] in grey, or [n, 3, height, width] in colours, red, green and blue. What is NaN is
// magenta, and infinities are black and white. It returns an error for other shapes, and for a device that failed.
func Pictures(t *tensor.Tensor, opts ...PictureOptions) (image.Image, error) {
	img, err := pictures(t, opts)
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	return img, nil
}

// SavePictures writes [Pictures] to a PNG file. The file is written whole or not at all.
func SavePictures(path string, t *tensor.Tensor, opts ...PictureOptions) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".png" {
		return fmt.Errorf("plot: %s: pictures are written as .png", path)
	}
	img, err := pictures(t, opts)
	if err != nil {
		return fmt.Errorf("plot: %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}

func pictures(t *tensor.Tensor, opts []PictureOptions) (*image.RGBA, error) {
	var o PictureOptions
	if len(opts) > 1 {
		return nil, fmt.Errorf("there are %d PictureOptions: pass one", len(opts))
	}
	for _, given := range opts {
		o = given
	}
	shape := t.Shape()
	n, channels, rank := 1, 1, len(shape)
	switch {
	case rank == 3:
		n = shape[0]
	case rank == 4:
		n, channels = shape[0], shape[1]
	}
	if rank < 2 || rank > 4 || channels != 1 && channels != 3 || t.Len() == 0 {
		return nil, fmt.Errorf("the shape is %v: pictures are [height, width], [n, height, width], [n, 1, height, width] or "+
			"[n, 3, height, width], and not empty", shape)
	}
	if o.Columns < 0 || o.Scale < 0 {
		return nil, fmt.Errorf("PictureOptions has a number below 0")
	}
	if !finite(o.Low) || !finite(o.High) {
		return nil, fmt.Errorf("PictureOptions has Low %v and High %v: they are finite", o.Low, o.High)
	}
	values, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	height, width := shape[rank-2], shape[rank-1]
	scale, columns := max(o.Scale, 1), o.Columns
	if columns == 0 {
		columns = int(math.Ceil(math.Sqrt(float64(n*height) / float64(width))))
	}
	columns = min(max(columns, 1), n)
	rows := (n + columns - 1) / columns
	if o.Low == 0 && o.High == 0 {
		o.Low, o.High = span(values)
	}
	across, down := float64(columns)*(float64(width)*float64(scale)+pictureGap), float64(rows)*(float64(height)*float64(scale)+pictureGap)
	if across*down > mostPixels {
		return nil, fmt.Errorf("pictures of %v, with a Scale of %d, have over %d pixels", shape, scale, mostPixels)
	}
	img := image.NewRGBA(image.Rect(0, 0, columns*(width*scale+pictureGap)-pictureGap, rows*(height*scale+pictureGap)-pictureGap))
	for i := range img.Pix {
		img.Pix[i] = 0xff // white between the pictures
	}
	for i := range n {
		left, top := i%columns*(width*scale+pictureGap), i/columns*(height*scale+pictureGap)
		for y := range height * scale {
			for x := range width * scale {
				at := i*channels*height*width + y/scale*width + x/scale
				img.SetRGBA(left+x, top+y, o.colour(values, at, channels, height*width))
			}
		}
	}
	return img, nil
}

// colour returns that of an element, of channels that are step apart.
func (o PictureOptions) colour(values []float64, at, channels, step int) color.RGBA {
	var c [3]uint8
	for k := range c {
		v := values[at+min(k, channels-1)*step]
		if math.IsNaN(v) {
			return color.RGBA{R: 0xff, B: 0xff, A: 0xff}
		}
		part := 0.0
		if width := o.High/2 - o.Low/2; width != 0 { // halves: a difference may overflow
			part = (v/2 - o.Low/2) / width
		} else if math.IsInf(v, 1) {
			part = 1
		}
		c[k] = uint8(math.Round(255 * min(max(part, 0), 1)))
	}
	return color.RGBA{R: c[0], G: c[1], B: c[2], A: 0xff}
}

// span returns the least and the greatest finite number, 0 and 0 of none.
func span(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		return 0, 0
	}
	return low, high
}
