// Faces finds the faces in a photograph, and writes it with a frame around each.
//
//	go run ./examples/faces --model version-RFB-320.onnx --picture group.jpg --out faces.png
package main

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"slices"
	"time"

	"github.com/clgrad/clgrad/examples/internal/picture"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	modelFile = pflag.String("model", "", "the detector UltraFace, an ONNX `file`")
	input     = pflag.String("picture", "", "the photograph, a `file`")
	output    = pflag.String("out", "faces.png", "`picture` to write")
	device    = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	threshold = pflag.Float32("score", 0.7, "`least` score of a face, 0 to 1")
)

// mostOverlap is how much two frames may share, as a part of what they cover together: of others the better is kept.
const mostOverlap = 0.3

// face is a frame in pixels of the photograph, and how sure the model is of it.
type face struct {
	frame image.Rectangle
	score float32
}

// detector is UltraFace: a picture [1, 3, height, width] gives scores [1, n, 2] of "none" and "face", and boxes [1, n,
// 4] of left, top, right and bottom as parts of width and height.
type detector struct {
	session       *onnx.Session
	device        tensor.Device
	width, height int
}

// check reports a model that is no UltraFace, and returns the size of its pictures.
func check(m *onnx.Model) (width, height int, err error) {
	inputs, outputs := m.Inputs(), m.Outputs()
	if len(inputs) == 1 && len(outputs) == 2 && outputs[0].Name == "scores" && outputs[1].Name == "boxes" {
		if s := inputs[0].Shape(); len(s) == 4 && s[1] == 3 && s[2] > 0 && s[3] > 0 {
			return s[3], s[2], nil
		}
	}
	return 0, 0, fmt.Errorf("it is no UltraFace: it takes %v and gives %v", inputs, outputs)
}

// find returns the faces in a picture of any size, which the model gets scaled to its own: (v − 127)/128 of bytes v.
func (m *detector) find(img image.Image) ([]face, error) {
	const mean, std = 127. / 255, 128. / 255
	scaled := picture.Resize(img, m.width, m.height)
	pixels := picture.Planes(scaled, picture.RGB, [3]float32{mean, mean, mean}, [3]float32{std, std, std})
	x := tensor.New(m.device, pixels, 1, 3, m.height, m.width)
	defer x.Free()
	outputs, err := m.session.Run(onnx.FromTensor(x))
	if err != nil {
		return nil, err
	}
	scores, err := outputs[0].Tensor().Float32s()
	if err != nil {
		return nil, err
	}
	boxes, err := outputs[1].Tensor().Float32s()
	if err != nil {
		return nil, err
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	var faces []face
	for i := range min(len(scores)/2, len(boxes)/4) {
		if score := scores[2*i+1]; score >= *threshold {
			at := func(k, size int) int { return int(min(max(boxes[4*i+k], 0), 1) * float32(size)) }
			faces = append(faces, face{image.Rect(at(0, w), at(1, h), at(2, w), at(3, h)), score})
		}
	}
	return suppress(faces), nil
}

// suppress keeps the best of the frames that lie on each other, the best first: non-maximum suppression.
func suppress(faces []face) (kept []face) {
	slices.SortStableFunc(faces, func(a, b face) int { return cmp.Compare(b.score, a.score) })
	for _, f := range faces {
		if !slices.ContainsFunc(kept, func(k face) bool { return overlap(k.frame, f.frame) > mostOverlap }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// overlap returns the area that two frames share, as a part of what they cover together.
func overlap(a, b image.Rectangle) float64 {
	area := func(r image.Rectangle) float64 { return float64(r.Dx()) * float64(r.Dy()) }
	shared := area(a.Intersect(b))
	if shared == 0 {
		return 0
	}
	return shared / (area(a) + area(b) - shared)
}

func run() error {
	img, err := picture.Read(*input)
	if err != nil {
		return err
	}
	model, err := onnx.Open(*modelFile)
	if err != nil {
		return err
	}
	m := &detector{}
	if m.width, m.height, err = check(model); err != nil {
		return fmt.Errorf("%s: %w", *modelFile, err)
	}
	if m.device, err = tensor.Open(*device, tensor.Options{Builds: program.Builds}); err != nil {
		return err
	}
	defer m.device.Close()
	if m.session, err = model.Load(m.device); err != nil {
		return err
	}
	defer m.session.Close()
	start := time.Now()
	faces, err := m.find(img)
	if err != nil {
		return err
	}
	took := time.Since(start)
	for _, f := range faces {
		r := f.frame
		fmt.Printf("%d,%d to %d,%d  score %.3f\n", r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, f.score)
		corners := []image.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
		picture.Frame(img, corners, color.RGBA{R: 255, G: 64, A: 255})
	}
	fmt.Printf("faces: %d, found in %d ms\n", len(faces), took.Milliseconds())
	return program.SavePNG(*output, img)
}

func main() { program.Main("faces", run, "model", "picture") }
