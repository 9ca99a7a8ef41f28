package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"slices"
	"strconv"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
	"golang.org/x/image/draw"
)

// pictureFiles are the ends of names of pictures. Their decoders are linked in with the operator ImageDecoder.
var pictureFiles = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tiff", ".webp"}

// mostPixels is how many pixels a picture may have.
const mostPixels = 1 << 27

// pictureFlags say how a picture becomes an input.
type pictureFlags struct {
	scale     float64
	mean, std []float64
	layout    string
	bgr       bool
}

func (f *pictureFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&f.scale, "scale", 1./255, "of a picture: what pixels, 0 to 255, are multiplied by; those of integers stay")
	fs.Float64SliceVar(&f.mean, "mean", nil, "of a picture: what is subtracted then, one number or one for each channel (default 0)")
	fs.Float64SliceVar(&f.std, "std", nil, "of a picture: what is divided by then (default 1)")
	fs.StringVar(&f.layout, "layout", "", "of a picture: nchw or nhwc (default by the model, which has 1, 3 or 4 channels)")
	fs.BoolVar(&f.bgr, "bgr", false, "of a picture: blue comes first")
}

// check reports flags that say nothing. Those of a command that has none are zero.
func (f *pictureFlags) check() error {
	if f.layout != "" && f.layout != "nchw" && f.layout != "nhwc" {
		return cli.Usage(fmt.Errorf("--layout is %q: it is nchw or nhwc", f.layout))
	}
	for _, s := range f.std {
		if s == 0 {
			return cli.Usage(fmt.Errorf("--std has 0, by which nothing can be divided"))
		}
	}
	return nil
}

// pictureShape is where an input has what of a picture.
type pictureShape struct {
	dims                    []int // of the input; 0 is as the picture has it
	channels, height, width int   // axes
}

// shapeOf returns where the model has the channels of a picture.
func (f *onnxFlags) shapeOf(info onnx.Info) (pictureShape, error) {
	s := pictureShape{dims: make([]int, len(info.Dims))}
	for k, d := range info.Dims {
		n, err := strconv.Atoi(d)
		if err != nil {
			n = f.dims[d]
		}
		s.dims[k] = n
	}
	rank := len(s.dims)
	if rank != 3 && rank != 4 {
		return s, fmt.Errorf("a picture is no input %v: that has channels, height and width, maybe behind a batch", info)
	}
	if rank == 4 && s.dims[0] > 1 {
		return s, fmt.Errorf("a picture is no input %v, of %d pictures", info, s.dims[0])
	}
	first, last := rank-3, rank-1
	known := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	layout := f.picture.layout
	switch {
	case layout != "":
	case known(s.dims[first]):
		layout = "nchw"
	case known(s.dims[last]):
		layout = "nhwc"
	default:
		return s, cli.Usage(fmt.Errorf("input %v does not say where its channels are: add --layout", info))
	}
	s.channels, s.height, s.width = first, first+1, last
	if layout == "nhwc" {
		s.channels, s.height, s.width = last, first, first+1
	}
	if s.dims[s.channels] == 0 {
		s.dims[s.channels] = 3
	}
	if c := s.dims[s.channels]; !known(c) {
		return s, fmt.Errorf("input %v has %d channels, and a picture 1, 3 or 4", info, c)
	}
	return s, nil
}

// image returns a picture as an input.
func (f *onnxFlags) image(d tensor.Device, info onnx.Info, path string) (*tensor.Tensor, error) {
	s, err := f.shapeOf(info)
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, cause(err)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("it cannot be decoded: %w", err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > mostPixels/config.Height {
		return nil, fmt.Errorf("a picture of %d by %d pixels: they are above 0, and at most %d", config.Width, config.Height, mostPixels)
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("it cannot be decoded: %w", err)
	}
	channels := s.dims[s.channels]
	size := picture.Bounds().Size()
	for axis, n := range map[int]*int{s.width: &size.X, s.height: &size.Y} {
		if s.dims[axis] > 0 {
			*n = s.dims[axis]
		}
	}
	if size.X > mostPixels/size.Y {
		return nil, fmt.Errorf("input %v is of more than %d pixels", info, mostPixels)
	}
	pixels := channelsOf(picture, size, channels)
	if f.picture.bgr && channels >= 3 {
		for i := 0; i < len(pixels); i += channels {
			pixels[i], pixels[i+2] = pixels[i+2], pixels[i]
		}
	}
	typ, ok := info.TensorType()
	if !ok {
		return nil, fmt.Errorf("input %v is no tensor", info)
	}
	shape := []int{size.Y, size.X, channels}
	var t *tensor.Tensor
	if typ.Float() {
		floats, err := f.picture.floats(pixels, channels)
		if err != nil {
			return nil, err
		}
		t = tensor.New(d, floats, shape...)
	} else {
		t = tensor.New(d, pixels, shape...)
	}
	if s.channels < s.height {
		t = t.MoveDim(2, 0)
	}
	if len(s.dims) == 4 {
		t = t.Unsqueeze(0)
	}
	return t.Contiguous(), nil
}

// channelsOf returns the pixels of a picture in another size: gray, red, green and blue, or with what is opaque.
func channelsOf(picture image.Image, size image.Point, channels int) []uint8 {
	if picture.Bounds().Size() != size {
		scaled := image.NewNRGBA64(image.Rectangle{Max: size})
		draw.BiLinear.Scale(scaled, scaled.Rect, picture, picture.Bounds(), draw.Src, nil)
		picture = scaled
	}
	b := picture.Bounds()
	pixels := make([]uint8, 0, channels*size.X*size.Y)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			at := picture.At(x, y)
			if channels == 1 {
				pixels = append(pixels, color.GrayModel.Convert(at).(color.Gray).Y)
				continue
			}
			c := color.NRGBAModel.Convert(at).(color.NRGBA)
			pixels = append(pixels, []uint8{c.R, c.G, c.B, c.A}[:channels]...)
		}
	}
	return pixels
}

// floats returns (pixel·scale − mean)/std.
func (f *pictureFlags) floats(pixels []uint8, channels int) ([]float32, error) {
	each := func(name string, list []float64, or float64) ([]float64, error) {
		switch len(list) {
		case 0:
			return slices.Repeat([]float64{or}, channels), nil
		case 1:
			return slices.Repeat(list, channels), nil
		case channels:
			return list, nil
		}
		return nil, cli.Usage(fmt.Errorf("--%s has %d numbers, and the input %d channels", name, len(list), channels))
	}
	mean, err := each("mean", f.mean, 0)
	if err != nil {
		return nil, err
	}
	std, err := each("std", f.std, 1)
	if err != nil {
		return nil, err
	}
	x := make([]float32, len(pixels))
	for i, p := range pixels {
		x[i] = float32((float64(p)*f.scale - mean[i%channels]) / std[i%channels])
	}
	return x, nil
}
