package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/cli"
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
	quality               int // of JPEG
}

func (o *outputs) register(fs *pflag.FlagSet) {
	fs.StringVar(&o.model, "model", "", "write the trained model, for render, info and NumPy")
	fs.StringVar(&o.weights, "weights", imagefit.FP32, cli.OneOf(imagefit.WeightFormats)+": how the model's weights are stored")
	fs.StringVar(&o.checkpoint, "checkpoint", "", "write a checkpoint while training, at its end, and when interrupted")
	fs.IntVar(&o.checkpointEvery, "checkpoint-every", 1000, "steps between two checkpoints")
	fs.StringVar(&o.preview, "preview", "", "write the reconstruction so far while training")
	fs.IntVar(&o.previewEvery, "preview-every", 1000, "steps between two previews")
	fs.IntVar(&o.quality, "jpeg-quality", imagefit.DefaultQuality, "of pictures whose names end in .jpg or .jpeg, 1 to 100")
	fs.StringVar(&o.compare, "compare", "", "write original, reconstruction and amplified error side by side")
	fs.StringVar(&o.plot, "plot", "", "write the curves of loss and PSNR, as .svg or .png")
	fs.StringVar(&o.dot, "dot", "", "write the graph of one step, for Graphviz")
	fs.StringVar(&o.log, "log", "", "write a JSON object per report to this file while training, one per line")
	cli.Group(fs, groupWrite)
}

// list returns the files that are written, by their flags.
func (o *outputs) list() []named {
	all := []named{{"-o", o.image}, {"--model", o.model}, {checkpointTo, o.checkpoint}, {"--preview", o.preview}, {"--compare", o.compare},
		{"--plot", o.plot}, {"--dot", o.dot}, {"--log", o.log}}
	return slices.DeleteFunc(all, func(n named) bool { return n.path == "" })
}

// pictures returns those of the files that hold the picture or show it.
func (o *outputs) pictures() []named {
	all := []named{{"-o", o.image}, {"--preview", o.preview}, {"--compare", o.compare}}
	return slices.DeleteFunc(all, func(n named) bool { return n.path == "" })
}

// validate finds what is wrong with the files, before any work: names that say something else than
// what is written, and files that would overwrite each other or an input.
func (o *outputs) validate(inputs []named, stdout io.Writer) error {
	if ext := strings.ToLower(filepath.Ext(o.plot)); o.plot != "" && ext != ".svg" && ext != ".png" {
		return cli.Usage(fmt.Errorf("--plot %s: the name must end in .svg or .png", o.plot))
	}
	err := cmp.Or(checkWeights(o.weights), atLeastOne("checkpoint-every", int64(o.checkpointEvery)), atLeastOne("preview-every", int64(o.previewEvery)))
	if err != nil {
		return err
	}
	for _, n := range o.list() {
		if n.path == stream && n.what != "-o" {
			return cli.Usage(fmt.Errorf("%s -: only the picture can go to standard output, by -o -", n.what))
		}
	}
	for _, n := range o.pictures() {
		if _, err := checkPicture(n.path, o.quality, stdout); err != nil {
			return err
		}
	}
	return distinct(inputs, o.list())
}

// format returns the format of a picture whose name validate found good.
func (o *outputs) format(path string) imagefit.Format {
	if path == stream {
		return imagefit.Format{}
	}
	f, _ := imagefit.FormatOf(path, o.quality)
	return f
}

// hold finds a picture that its format cannot hold, and says where it holds less.
func (o *outputs) hold(img *imagefit.Image, chatter io.Writer) error {
	for _, n := range o.pictures() {
		c, width, height := img.Colour, img.Width, img.Height
		if n.path == o.compare {
			c, width, height = imagefit.ComparisonSize(img)
		}
		f := o.format(n.path)
		if err := f.Check(c, width, height); err != nil {
			return cli.Usage(fmt.Errorf("%s %s: %w", n.what, n.path, err))
		}
		if f.JPEG && c.Deep {
			fmt.Fprintf(chatter, "%s holds 8 of the image's 16 bits: JPEG has no more\n", n.path)
		}
	}
	return nil
}

func checkWeights(weights string) error {
	if !slices.Contains(imagefit.WeightFormats, weights) {
		return cli.Usage(fmt.Errorf("--weights %s: there are %s", weights, cli.OneOf(imagefit.WeightFormats)))
	}
	return nil
}

// check returns the error that writing one of the files would meet.
func (o *outputs) check() error {
	for _, n := range o.list() {
		if n.path == stream {
			continue
		}
		if err := atomicfile.Check(n.path); err != nil {
			return err
		}
	}
	return nil
}
