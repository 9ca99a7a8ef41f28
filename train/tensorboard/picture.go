package tensorboard

import (
	"image"
	"image/color"

	"github.com/clgrad/clgrad/tensor"
)

// Picture returns a tensor as a picture: [C, H, W] of 1 or 3 channels, gray or red, green and blue; or [N, C, H, W], a
// grid of N of them, eight in a row with two pixels between. Floats are 0 to 1, others are clamped to that and NaN
// is 0; bytes, of type Uint8, are 0 to 255. The error is the device's. It panics with tensor.ErrShape for another
// shape or none of the pictures, and with tensor.ErrType for other integers.
func Picture(t *tensor.Tensor) (image.Image, error) {
	const op = "Picture"
	shape := t.Shape()
	if len(shape) == 3 {
		shape = append([]int{1}, shape...)
	}
	if len(shape) != 4 || shape[1] != 1 && shape[1] != 3 || t.Len() == 0 {
		panic(&tensor.Error{Pkg: "tensorboard", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{t.Shape()},
			Detail: "a picture is [C, H, W], several are [N, C, H, W], with 1 or 3 channels C"})
	}
	scale := 255.0
	if t.Type() == tensor.Uint8 {
		scale = 1
	} else if t.Type().Integer() || t.Type() == tensor.Bool {
		misuse(op, tensor.ErrType, "pictures are of floats or Uint8, not %v: convert them with To", t.Type())
	}
	values, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	return grid(values, shape, scale), nil
}

// What lies between the pictures of a grid, and how many are in a row.
const (
	gap    = 2
	perRow = 8
)

// grid draws pictures [n, c, h, w] of 0 to 255 over scale.
func grid(values []float64, shape []int, scale float64) image.Image {
	n, c, h, w := shape[0], shape[1], shape[2], shape[3]
	across := min(n, perRow)
	down := (n + across - 1) / across
	img := image.NewRGBA(image.Rect(0, 0, across*(w+gap)-gap, down*(h+gap)-gap))
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	level := func(v float64) uint8 {
		if v = v*scale + 0.5; v >= 0 { // false of NaN
			return uint8(min(v, 255))
		}
		return 0
	}
	for i := range n {
		left, top := i%across*(w+gap), i/across*(h+gap)
		for p := range h * w {
			at := func(channel int) uint8 { return level(values[(i*c+channel)*h*w+p]) }
			img.SetRGBA(left+p%w, top+p/w, color.RGBA{R: at(0), G: at(c / 2), B: at(c - 1), A: 255})
		}
	}
	return img
}
