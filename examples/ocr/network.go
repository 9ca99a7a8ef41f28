package main

import (
	"errors"
	"fmt"
	"image"
	"os"
	"strings"

	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// network is a model that takes pictures [n, 3, height, width] and gives one tensor.
type network struct {
	path    string
	model   *onnx.Model
	session *onnx.Session
	device  tensor.Device
}

// load loads what is to be a detector, a classifier or a recognizer: their outputs have 4, 2 and 3 axes.
func load(d tensor.Device, path, what string, axes int) (*network, error) {
	model, err := onnx.Open(path)
	if err != nil {
		return nil, err
	}
	inputs, outputs := model.Inputs(), model.Outputs()
	takes := len(inputs) == 1 && len(inputs[0].Dims) == 4 && inputs[0].Shape()[1] == 3
	if !takes || len(outputs) != 1 || len(outputs[0].Dims) != axes {
		return nil, fmt.Errorf("%s is no %s of PP-OCR: it takes %v and gives %v", path, what, inputs, outputs)
	}
	session, err := model.Load(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &network{path, model, session, d}, nil
}

// run returns the output for an input of a shape, and its shape.
func (n *network) run(x []float32, shape ...int) ([]float32, []int, error) {
	in := tensor.New(n.device, x, shape...)
	defer in.Free()
	outputs, err := n.session.Run(onnx.FromTensor(in))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", n.path, err)
	}
	out := outputs[0].Tensor()
	defer out.Free()
	y, err := out.Float32s()
	return y, out.Shape(), err
}

// recognizer reads a line: for each of the steps along it the network gives the probabilities of "nothing new", of the
// characters, and of a space.
type recognizer struct {
	*network
	characters []string // that of class i is characters[i−1]
}

// newRecognizer takes the characters from a file or, without one, from the property "character" of the model.
func newRecognizer(n *network, keys string) (*recognizer, error) {
	text := n.model.Metadata()["character"]
	if keys != "" {
		b, err := os.ReadFile(keys)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	if text == "" {
		return nil, fmt.Errorf("%s does not say which characters it knows: name a file of them, "+
			"such as ppocr_keys_v1.txt, by --keys", n.path)
	}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	r := &recognizer{n, append(lines, " ")}
	if classes := n.model.Outputs()[0].Shape()[2]; classes >= 0 && classes != len(r.characters)+1 {
		return nil, fmt.Errorf("%s gives %v, and for %d characters a recognizer gives [n, steps, %d]",
			n.path, n.model.Outputs(), len(lines), len(r.characters)+1)
	}
	return r, nil
}

// read returns the text of a line, and the mean probability of its characters, 0 of none.
func (r *recognizer) read(img *image.RGBA) (string, float64, error) {
	const height, least, step = 48, 320, 64 // few widths, so that runs are recorded
	scaled, width := scaledTo(img, height)
	width = max(least, (width+step-1)/step*step)
	y, shape, err := r.run(planes(scaled, 0, width), 1, 3, height, width)
	if err != nil {
		return "", 0, err
	}
	if classes := len(r.characters) + 1; len(shape) != 3 || shape[2] != classes {
		return "", 0, errors.New(r.path + " gives another number of classes than it says")
	}
	text, score := r.decode(y)
	return text, score, nil
}

// decode takes the likeliest class of each step. A class that follows itself is one character: CTC.
func (r *recognizer) decode(y []float32) (string, float64) {
	var text strings.Builder
	classes, last, n, sum := len(r.characters)+1, 0, 0, 0.0
	for ; len(y) >= classes; y = y[classes:] {
		best := 0
		for class, p := range y[:classes] {
			if p > y[best] {
				best = class
			}
		}
		if best > 0 && best != last {
			text.WriteString(r.characters[best-1])
			n, sum = n+1, sum+float64(y[best])
		}
		last = best
	}
	return text.String(), sum / float64(max(n, 1))
}
