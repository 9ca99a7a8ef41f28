package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/spf13/cobra"
)

// renderFlags is the command line of render.
type renderFlags struct {
	device          devices.Flags
	memory          memory
	out, size, crop string
	quality         int // of JPEG
	pixels          int64
	quiet           bool
}

func newRender() *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "render MODEL -o OUT.png",
		Short: "Draw a trained model, at any size",
		Long: `render evaluates a model or a checkpoint that train wrote, at the size of the image it was trained on or at
another, and writes all of it or a part as a PNG or a JPEG. However large the picture, little of it is in memory at a
time. Details finer than the pixels of the training image were learned at those pixels only: larger sizes
show what the encoding makes of the places between, which is smooth for hash and noise, a grid of dots, for
the highest octaves of frequency. MODEL is - for standard input.`,
		Example: `  mlpimage render photo.npz -o photo.png
  mlpimage render photo.npz -o twice.png --size 2x
  mlpimage render photo.npz -o poster.png --size 16384x
  mlpimage render photo.npz -o eye.png --size 8192x8192 --crop 3000,2000,640,480`,
		Args: cli.Exactly("the model to draw"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stdout, stderr := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return cli.OrLeave(ctx, func(func()) error { return render(ctx, args[0], f, stdout, stderr) })
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.out, "output", "o", "", "image to write, as .png or .jpg; - is standard output, as PNG (required)")
	fs.StringVar(&f.size, "size", "", `of the whole picture: WIDTHxHEIGHT, or WIDTHx, of 256 or more, or xHEIGHT and the other side by
the aspect, or a factor such as 2x or 1.5x, up to 32x (default: the size of the training image)`)
	fs.StringVar(&f.crop, "crop", "", "X,Y,WIDTH,HEIGHT of the part to draw, in pixels of --size (default: all)")
	fs.Int64Var(&f.pixels, "max-pixels", mostPixels, "refuse to draw more")
	fs.IntVar(&f.quality, "jpeg-quality", imagefit.DefaultQuality, "of a picture whose name ends in .jpg or .jpeg, 1 to 100")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	cli.Group(fs, groupWrite)
	f.device.Register(fs, program)
	f.memory.register(fs)
	cli.Group(fs, devices.FlagGroup)
	return cmd
}

func render(ctx context.Context, path string, f renderFlags, stdout, stderr io.Writer) error {
	if f.out == "" {
		return cli.Usage(fmt.Errorf("render needs -o OUT.png"))
	}
	f.out = picturePath(f.out)
	format, err := checkPicture(f.out, f.quality, stdout)
	if err != nil {
		return err
	}
	if err := distinct([]named{{"the model", path}}, []named{{"-o", f.out}}); err != nil {
		return err
	}
	report := stdout
	if _, is := onStandardOutput(named{"-o", f.out}); is {
		report = stderr
	}
	if f.quiet {
		report, stderr = io.Discard, io.Discard
	}
	size, err := parseSize(f.size)
	if err != nil {
		return cli.Usage(err)
	}
	var view imagefit.View
	if view.Crop, err = parseCrop(f.crop); err != nil {
		return cli.Usage(err)
	}
	if err := atLeastOne("max-pixels", f.pixels); err != nil {
		return err
	}
	if f.out != stream {
		if err := atomicfile.Check(f.out); err != nil {
			return err
		}
	}
	raw, err := f.memory.read(ctx, path)
	if err != nil {
		return err
	}
	d, err := f.device.Open(stderr)
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := f.memory.model(d, path, raw)
	if err != nil {
		return err
	}
	defer m.Free()
	view.Width, view.Height = size.of(m.Spec)
	if err := f.memory.bounds().AllowRender(m, view); errors.Is(err, imagefit.ErrConfig) {
		return cli.Usage(err) // the size or the crop
	} else if err != nil {
		return f.memory.explain(path, err)
	}
	if err := tooMany(ctx, m, view, f.pixels); err != nil {
		return err
	}
	for _, line := range remarks(m.Spec, view.Width, view.Height) {
		fmt.Fprintln(stderr, line)
	}
	width, height := view.Width, view.Height
	if f.crop != "" {
		width, height = view.Crop.Dx(), view.Crop.Dy()
	}
	if err := format.Check(m.Colour, width, height); err != nil {
		return cli.Usage(fmt.Errorf("-o %s: %w", f.out, err))
	}
	start := time.Now()
	bar := newRowBar(stderr, height)
	err = writeFile(f.out, stdout, func(w io.Writer) error { return m.RenderTo(ctx, w, view, format, bar.report) })
	bar.finish()
	if err != nil {
		return err
	}
	fmt.Fprintf(report, "wrote %s: %dx%d in %.1f s\n", cli.OneLine(f.out), width, height, time.Since(start).Seconds())
	return nil
}

// parseCrop reads "X,Y,W,H"; "" is all.
func parseCrop(s string) (image.Rectangle, error) {
	if s == "" {
		return image.Rectangle{}, nil
	}
	v, err := integers(strings.Split(s, ","))
	if err != nil || len(v) != 4 || v[2] < 1 || v[3] < 1 {
		return image.Rectangle{}, fmt.Errorf("--crop %q: it must be X,Y,WIDTH,HEIGHT, such as 0,0,640,480", s)
	}
	return image.Rect(v[0], v[1], v[0]+v[2], v[1]+v[3]), nil
}

// integers reads numbers from 0 to 2³¹−1.
func integers(words []string) ([]int, error) {
	var list []int
	for _, w := range words {
		v, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil {
			return nil, err
		}
		if v < 0 {
			return nil, strconv.ErrSyntax
		}
		if v > math.MaxInt32 {
			return nil, strconv.ErrRange
		}
		list = append(list, v)
	}
	return list, nil
}
