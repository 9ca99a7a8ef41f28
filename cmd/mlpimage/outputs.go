package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/spf13/pflag"
)

// outputs is the files that train writes, and when. A file without a name is not written.
type outputs struct {
	image, model, weights string
	checkpoint            string
	checkpointEvery       int
	preview               string
	previewEvery          int
	compare, plot, dot    string
	log                   string
}

func (o *outputs) register(fs *pflag.FlagSet) {
	fs.StringVar(&o.model, "model", "", "write the trained model, for render, info and NumPy")
	fs.StringVar(&o.weights, "weights", imagefit.FP32, oneOf(imagefit.WeightFormats)+": how the model's weights are stored")
	fs.StringVar(&o.checkpoint, "checkpoint", "", "write a checkpoint while training, at its end, and when interrupted")
	fs.IntVar(&o.checkpointEvery, "checkpoint-every", 1000, "steps between two checkpoints")
	fs.StringVar(&o.preview, "preview", "", "write the reconstruction so far while training")
	fs.IntVar(&o.previewEvery, "preview-every", 1000, "steps between two previews")
	fs.StringVar(&o.compare, "compare", "", "write original, reconstruction and amplified error side by side")
	fs.StringVar(&o.plot, "plot", "", "write the curves of loss and PSNR, as .svg or .png")
	fs.StringVar(&o.dot, "dot", "", "write the graph of one step, for Graphviz")
	fs.StringVar(&o.log, "log", "", "write a JSON object per report to this file while training, one per line")
	group(fs, groupWrite)
}

// list returns the names of the files.
func (o *outputs) list() []string {
	all := []string{o.image, o.model, o.checkpoint, o.preview, o.compare, o.plot, o.dot, o.log}
	return slices.DeleteFunc(all, func(path string) bool { return path == "" })
}

// validate finds what is wrong with the names, for a run on an image.
func (o *outputs) validate(image string) error {
	if ext := strings.ToLower(filepath.Ext(o.plot)); o.plot != "" && ext != ".svg" && ext != ".png" {
		return &usageError{fmt.Errorf("--plot %s: the name must end in .svg or .png", o.plot)}
	}
	if err := checkWeights(o.weights); err != nil {
		return err
	}
	if o.checkpointEvery < 1 || o.previewEvery < 1 {
		return &usageError{fmt.Errorf("--checkpoint-every is %d, --preview-every %d: they must be at least 1", o.checkpointEvery, o.previewEvery)}
	}
	seen := map[string]bool{}
	for _, path := range o.list() {
		clean := filepath.Clean(path)
		if seen[clean] {
			return &usageError{fmt.Errorf("two outputs have the name %s", path)}
		}
		if clean == filepath.Clean(image) {
			return &usageError{fmt.Errorf("the output %s would overwrite the image", path)}
		}
		seen[clean] = true
	}
	return nil
}

func checkWeights(weights string) error {
	if !slices.Contains(imagefit.WeightFormats, weights) {
		return &usageError{fmt.Errorf("--weights %s: there are %s", weights, oneOf(imagefit.WeightFormats))}
	}
	return nil
}

// check returns the error that writing one of the files would meet.
func (o *outputs) check() error {
	for _, path := range o.list() {
		if err := atomicfile.Check(path); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	return nil
}
