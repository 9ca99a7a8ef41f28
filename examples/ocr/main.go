// Ocr finds the lines of text in a photograph, frames them, cuts them out upright, and reads them.
//
//	go run ./examples/ocr --detector det.onnx --classifier cls.onnx --recognizer rec.onnx --picture street.jpg
package main

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"time"

	"github.com/clgrad/clgrad/examples/internal/picture"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
	"golang.org/x/image/draw"
)

var (
	detectorFile   = pflag.String("detector", "", "PP-OCR's detector of text, an ONNX `file`")
	classifierFile = pflag.String("classifier", "", "PP-OCR's classifier of directions, an ONNX `file` (default none)")
	recognizerFile = pflag.String("recognizer", "", "PP-OCR's reader of a line, an ONNX `file` (default none)")
	keysFile       = pflag.String("keys", "", "the recognizer's characters, a text `file` (default those that it names)")
	input          = pflag.String("picture", "", "the photograph, a `file`")
	output         = pflag.String("out", "text.png", "`picture` to write, with a frame around each line")
	cut            = pflag.String("lines", "", "`picture` to write, of the lines one below the other")
	device         = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	side           = pflag.Int("side", 960, "`pixels` of the longer side that the detector sees at most")
)

// line is a line of text: its corners in the photograph, from where it begins, clockwise, and its picture.
type line struct {
	quad
	upright *image.RGBA
	text    string
	score   float64
}

// detect returns the lines in a picture of any size, in reading order.
func detect(n *network, img *image.RGBA) ([]*line, error) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	scale := min(1, float64(*side)/float64(max(w, h)))
	size := func(pixels int) int { // a multiple of 32: the net halves it five times
		return max(1, int(math.Round(float64(pixels)*scale/32))) * 32
	}
	mapWidth, mapHeight := size(w), size(h)
	scaled := picture.Resize(img, mapWidth, mapHeight)
	pixels := picture.Planes(scaled, picture.BGR, [3]float32{0.485, 0.456, 0.406}, [3]float32{0.229, 0.224, 0.225})
	likely, shape, err := n.run(pixels, 1, 3, mapHeight, mapWidth)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(shape, []int{1, 1, mapHeight, mapWidth}) {
		return nil, fmt.Errorf("%s gives %v for %d×%d pixels: it is no detector", n.path, shape, mapWidth, mapHeight)
	}
	var lines []*line
	for _, q := range findText(likely, mapWidth, mapHeight) {
		for i, p := range q {
			x, y := p.x*float64(w)/float64(mapWidth), p.y*float64(h)/float64(mapHeight)
			q[i] = point{min(max(x, 0), float64(w)), min(max(y, 0), float64(h))}
		}
		lines = append(lines, &line{quad: q})
	}
	sortForReading(lines)
	return lines, nil
}

// sortForReading sorts lines from the top down, and those of one row from left to right.
func sortForReading(lines []*line) {
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(a.center().y, b.center().y) })
	for i := range lines {
		for k := i; k > 0; k-- {
			a, b := lines[k-1], lines[k]
			if b.center().y-a.center().y > min(a.height(), b.height())/2 || a.center().x <= b.center().x {
				break
			}
			lines[k-1], lines[k] = b, a
		}
	}
}

// turn makes the pictures of lines upright. What is much higher than wide is text from the top down. Then the classifier,
// if there is one, says what is upside down.
func turn(classifier *network, img *image.RGBA, lines []*line) error {
	for _, l := range lines {
		if l.height() >= 1.5*l.width() {
			l.quad = quad{l.quad[1], l.quad[2], l.quad[3], l.quad[0]}
		}
		l.upright = l.cut(img)
		if classifier == nil {
			continue
		}
		down, err := upsideDown(classifier, l.upright)
		if err != nil {
			return err
		}
		if down {
			l.quad = quad{l.quad[2], l.quad[3], l.quad[0], l.quad[1]}
			l.upright = l.cut(img)
		}
	}
	return nil
}

// upsideDown reports whether the text in the picture of a line is upside down: by the mean of what the classifier says
// of pieces of the line, since it takes four times as wide as high.
func upsideDown(classifier *network, img *image.RGBA) (bool, error) {
	const height, width = 48, 192
	scaled, w := scaledTo(img, height)
	pieces := (w + width - 1) / width
	var pixels []float32
	for i := range pieces {
		pixels = append(pixels, planes(scaled, i*width, width)...)
	}
	scores, shape, err := classifier.run(pixels, pieces, 3, height, width)
	if err != nil {
		return false, err
	}
	if !slices.Equal(shape, []int{pieces, 2}) {
		return false, fmt.Errorf("%s gives %v for %d pictures: it is no classifier", classifier.path, shape, pieces)
	}
	sum := float32(0)
	for i := range pieces {
		sum += scores[2*i+1]
	}
	return sum/float32(pieces) > 0.5, nil
}

// scaledTo returns the picture of a line scaled to a height, and its width then.
func scaledTo(img *image.RGBA, height int) (scaled *image.RGBA, width int) {
	const most = 8192
	width = int(math.Ceil(float64(height) * float64(img.Rect.Dx()) / float64(img.Rect.Dy())))
	width = min(most, max(1, width))
	return picture.Resize(img, width, height), width
}

// planes returns a piece of a picture as planes of −1 to 1: from x on, padded with 0 to a width.
func planes(img *image.RGBA, x, width int) []float32 {
	half := [3]float32{0.5, 0.5, 0.5}
	piece := image.Rect(x, 0, min(x+width, img.Rect.Dx()), img.Rect.Dy())
	pixels := picture.Planes(img.SubImage(piece).(*image.RGBA), picture.BGR, half, half)
	padded := make([]float32, 3*piece.Dy()*width)
	for row := range 3 * piece.Dy() {
		copy(padded[row*width:], pixels[row*piece.Dx():(row+1)*piece.Dx()])
	}
	return padded
}

// stack returns the pictures of lines one below the other, on gray.
func stack(lines []*line) *image.RGBA {
	const gap = 4
	w, h := 1, gap
	for _, l := range lines {
		w, h = max(w, l.upright.Rect.Dx()), h+l.upright.Rect.Dy()+gap
	}
	out := image.NewRGBA(image.Rect(0, 0, w+2*gap, h))
	draw.Draw(out, out.Rect, image.NewUniform(color.Gray{Y: 128}), image.Point{}, draw.Src)
	y := gap
	for _, l := range lines {
		draw.Draw(out, l.upright.Rect.Add(image.Pt(gap, y)), l.upright, image.Point{}, draw.Src)
		y += l.upright.Rect.Dy() + gap
	}
	return out
}

// leastScore is what the recognizer must give a line, so that it is text.
const leastScore = 0.5

// readAll sets the text of lines. Those that are none are left out.
func readAll(r *recognizer, lines []*line) ([]*line, error) {
	var kept []*line
	for _, l := range lines {
		var err error
		if l.text, l.score, err = r.read(l.upright); err != nil {
			return nil, err
		}
		if l.score >= leastScore {
			kept = append(kept, l)
		}
	}
	return kept, nil
}

func run() error {
	if *side < 32 || *side > 8192 {
		return errors.New("side is 32 to 8192 pixels")
	}
	img, err := picture.Read(*input)
	if err != nil {
		return err
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	var detector, classifier, net *network
	for _, m := range []struct {
		to         **network
		path, what string
		axes       int
	}{
		{&detector, *detectorFile, "detector", 4},
		{&classifier, *classifierFile, "classifier", 2},
		{&net, *recognizerFile, "recognizer", 3},
	} {
		if m.path == "" {
			continue
		}
		n, err := load(d, m.path, m.what, m.axes)
		if err != nil {
			return err
		}
		defer n.session.Close()
		*m.to = n
	}
	var reader *recognizer
	if net != nil {
		if reader, err = newRecognizer(net, *keysFile); err != nil {
			return err
		}
	}
	start := time.Now()
	lines, err := detect(detector, img)
	if err != nil {
		return err
	}
	found := time.Now()
	if err := turn(classifier, img, lines); err != nil {
		return err
	}
	turned := time.Now()
	if reader != nil {
		if lines, err = readAll(reader, lines); err != nil {
			return err
		}
	}
	for _, l := range lines {
		if reader != nil {
			fmt.Printf("%.2f  %s\n", l.score, l.text)
		} else {
			fmt.Printf("%.0f×%.0f pixels from %.0f,%.0f at %.0f°\n",
				l.width(), l.height(), l.quad[0].x, l.quad[0].y, l.degrees())
		}
	}
	fmt.Printf("lines: %d, found in %d ms, turned in %d ms, read in %d ms\n", len(lines),
		found.Sub(start).Milliseconds(), turned.Sub(found).Milliseconds(), time.Since(turned).Milliseconds())
	if *cut != "" {
		if err := program.SavePNG(*cut, stack(lines)); err != nil {
			return err
		}
	}
	for _, l := range lines {
		picture.Frame(img, l.pixels(), color.RGBA{R: 255, G: 64, A: 255})
	}
	return program.SavePNG(*output, img)
}

func main() { program.Main("ocr", run, "detector", "picture") }
