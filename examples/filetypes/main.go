// Filetypes says of every file in a folder what it is, by its contents.
//
//	go run ./examples/filetypes --model standard_v3_3/model.onnx --folder ~/Downloads
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	modelFile  = pflag.String("model", "", "Magika, an ONNX `file`")
	configFile = pflag.String("config", "", "`file` that describes the model (default config.min.json in its folder)")
	folder     = pflag.String("folder", "", "`folder` whose files are told, and those in folders within, or a file")
	device     = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
)

// config is what Magika's config.min.json says of a model.
type config struct {
	Start      int                `json:"beg_size"` // bytes of the start of a file that the model takes
	Middle     int                `json:"mid_size"`
	End        int                `json:"end_size"`
	Block      int                `json:"block_size"` // bytes that are read at either end
	Padding    int32              `json:"padding_token"`
	Least      int                `json:"min_file_size_for_dl"` // bytes that a file needs
	Labels     []string           `json:"target_labels_space"`
	Thresholds map[string]float32 `json:"thresholds"` // the least score of a label
	Threshold  float32            `json:"medium_confidence_threshold"`
	Overwrite  map[string]string  `json:"overwrite_map"` // labels that are called otherwise
}

func readConfig(path string) (*config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := new(config)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sizes := c.Least >= 1 && c.Start >= c.Least && c.Middle == 0 && c.End >= 1 && c.Block >= max(c.Start, c.End)
	if !sizes || c.Block > 1<<20 || len(c.Labels) == 0 {
		return nil, fmt.Errorf("%s describes no model of Magika that is known here, such as standard_v3_3", path)
	}
	return c, nil
}

// check reports a model that is not the one that c describes.
func (c *config) check(m *onnx.Model) error {
	inputs, outputs := m.Inputs(), m.Outputs()
	if len(inputs) == 1 && len(outputs) == 1 && inputs[0].Type == "int32" {
		in, out := inputs[0].Shape(), outputs[0].Shape()
		if len(in) == 2 && in[1] == c.Start+c.End && len(out) == 2 && out[1] == len(c.Labels) {
			return nil
		}
	}
	return fmt.Errorf("it takes %v and gives %v, and its description says int32[batch,%d] and float[batch,%d]",
		inputs, outputs, c.Start+c.End, len(c.Labels))
}

// result is what a file is.
type result struct {
	path, label string
	score       float32
	features    []int32 // for the model, nil where it is not needed
}

// read returns what the model is to be given of a file: the first bytes behind leading white space, and the last before
// trailing white space. Of files that are too short it says at once what they are.
func (c *config) read(path string) (result, error) {
	f, err := os.Open(path)
	if err != nil {
		return result{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return result{}, err
	}
	start := make([]byte, min(int64(c.Block), info.Size()))
	end := make([]byte, len(start))
	if _, err := io.ReadFull(f, start); err != nil {
		return result{}, err
	}
	if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return result{}, err
	}
	if len(start) == 0 {
		return result{path: path, label: "empty", score: 1}, nil
	}
	features := c.features(start, end)
	if len(start) >= c.Least && features[c.Least-1] != c.Padding {
		return result{path: path, features: features}, nil
	}
	if utf8.Valid(start) {
		return result{path: path, label: "txt", score: 1}, nil
	}
	return result{path: path, label: "unknown", score: 1}, nil
}

func (c *config) features(start, end []byte) []int32 {
	features := slices.Repeat([]int32{c.Padding}, c.Start+c.End)
	for len(start) > 0 && space(start[0]) {
		start = start[1:]
	}
	for len(end) > 0 && space(end[len(end)-1]) {
		end = end[:len(end)-1]
	}
	for i, b := range start[:min(c.Start, len(start))] {
		features[i] = int32(b)
	}
	end = end[max(0, len(end)-c.End):]
	for i, b := range end {
		features[len(features)-len(end)+i] = int32(b)
	}
	return features
}

// space is ASCII's white space.
func space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// label returns what a file is by the scores of all labels. One that is not sure is "unsure", with the label that is
// likeliest.
func (c *config) label(scores []float32) (label string, score float32) {
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	label, score = c.Labels[best], scores[best]
	least, ok := c.Thresholds[label]
	if !ok {
		least = c.Threshold
	}
	if to, ok := c.Overwrite[label]; ok {
		label = to
	}
	if score < least {
		label += "?"
	}
	return label, score
}

// batch is how many files the model gets at once.
const batch = 32

// classify fills in the labels of files.
func classify(session *onnx.Session, d tensor.Device, c *config, files []*result) error {
	for part := range slices.Chunk(files, batch) {
		features := make([]int32, 0, batch*(c.Start+c.End))
		for _, f := range part {
			features = append(features, f.features...)
		}
		x := tensor.New(d, features, len(part), c.Start+c.End)
		outputs, err := session.Run(onnx.FromTensor(x))
		if err != nil {
			return err
		}
		scores, err := outputs[0].Tensor().Float32s()
		if err != nil {
			return err
		}
		for i, f := range part {
			f.label, f.score = c.label(scores[i*len(c.Labels) : (i+1)*len(c.Labels)])
		}
		x.Free()
		outputs[0].Tensor().Free()
	}
	return nil
}

// regularFiles returns the files of a folder, and errors of those that cannot be looked at.
func regularFiles(root string) (paths []string, failed error) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			failed = errors.Join(failed, err)
		case entry.Type().IsRegular():
			paths = append(paths, path)
		}
		return nil
	})
	return paths, errors.Join(failed, err)
}

func run() error {
	if *configFile == "" {
		*configFile = filepath.Join(filepath.Dir(*modelFile), "config.min.json")
	}
	model, err := onnx.Open(*modelFile)
	if err != nil {
		return err
	}
	c, err := readConfig(*configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it describes the model, and comes with it; --config says where else it is", err)
	}
	if err != nil {
		return err
	}
	if err := c.check(model); err != nil {
		return fmt.Errorf("%s: %w", *modelFile, err)
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	session, err := model.Load(d)
	if err != nil {
		return err
	}
	defer session.Close()
	start := time.Now()
	paths, failed := regularFiles(*folder)
	for part := range slices.Chunk(paths, 8*batch) {
		var files, told []*result
		for _, path := range part {
			f, err := c.read(path)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			told = append(told, &f)
			if f.features != nil {
				files = append(files, &f)
			}
		}
		if err := classify(session, d, c, files); err != nil {
			return err
		}
		for _, f := range told {
			if _, err := fmt.Printf("%-16s %.2f  %s\n", f.label, f.score, f.path); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Printf("files: %d in %.2f s\n", len(paths), time.Since(start).Seconds())
	return errors.Join(failed, err)
}

func main() { program.Main("filetypes", run, "model", "folder") }
