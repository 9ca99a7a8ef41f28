package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// trainFlags is the command line of train.
type trainFlags struct {
	settings settings
	device   deviceFlags
	memory   memory
	limits   limits
	outputs  outputs
	resume   string
	http     string

	profile, json, quiet bool
}

func newTrain() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train IMAGE",
		Short: "Fit a network to an image and write the reconstruction",
		Long: `train fits a network to a PNG, JPEG, WebP, GIF, BMP or TIFF file (- for standard input; of several pictures
the first) and writes what the network learned as a PNG. Gray images stay
gray, 16 bits keep their depth, transparency is learned too. Progress goes to standard error, results to
standard output. Interrupting it (Ctrl-C) stops training and still writes everything that was asked for; a
second Ctrl-C ends the program at once.

mlpimage IMAGE is short for mlpimage train IMAGE --preset good.`,
		Example: `  mlpimage photo.jpg
  mlpimage train photo.png --preset best --time 2m --compare compare.png
  mlpimage train photo.png --preset good --checkpoint photo.ckpt --model photo.npz
  mlpimage train photo.png --resume photo.ckpt --checkpoint photo.ckpt
  mlpimage train photo.png --steps 1000 --device cpu --plot loss.svg`,
		Args: exactly("the image to fit"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return train(cmd.Context(), args[0], f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fs, o := cmd.Flags(), &f.outputs
	fs.SortFlags = false
	fs.StringVarP(&o.image, "output", "o", "", "reconstruction to write (default IMAGE.mlp.png)")
	f.settings.register(fs)
	f.limits.register(fs)
	f.device.register(fs)
	f.memory.register(fs)
	fs.BoolVar(&f.device.check, "check", false, "run every launch in Go as well and stop at the first difference (slow)")
	o.register(fs)
	fs.StringVar(&f.resume, "resume", "", "go on from a checkpoint, with its settings, as if training had never stopped")
	fs.StringVar(&f.http, "http", "", `show training live at this address, such as 127.0.0.1:8080; without a host it is
reachable from this machine only`)
	fs.BoolVar(&f.profile, "profile", false, "measure every kernel and print a table (slower)")
	fs.BoolVar(&f.json, "json", false, "print the result as one JSON object, the last line of standard output")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors, and what --json and --profile ask for")
	return cmd
}

// validate finds what is wrong with the command line before any work is done.
func (f *trainFlags) validate(image string) error {
	if err := f.limits.validate(); err != nil {
		return err
	}
	for _, path := range f.outputs.list() {
		if f.resume != "" && filepath.Clean(path) == filepath.Clean(f.resume) && path != f.outputs.checkpoint {
			return &usageError{fmt.Errorf("the output %s would overwrite the checkpoint", path)}
		}
	}
	return f.outputs.validate(image)
}

func train(ctx context.Context, path string, f trainFlags, stdout, stderr io.Writer) error {
	start := time.Now()
	if path == stdin && f.outputs.image == "" {
		return &usageError{fmt.Errorf("the image comes from standard input: -o must say where to write the reconstruction")}
	}
	if f.outputs.image == "" {
		f.outputs.image = strings.TrimSuffix(path, filepath.Ext(path)) + ".mlp.png"
	}
	if err := f.validate(path); err != nil {
		return err
	}
	img, err := f.memory.image(ctx, path)
	if err != nil {
		return err
	}
	chatter, report := stderr, stdout // what --quiet silences
	if f.quiet {
		chatter, report = io.Discard, io.Discard
	}
	if err := f.outputs.check(); err != nil {
		return err
	}
	open := func() (tensor.Device, error) {
		f.device.profile = f.profile
		return f.device.open(chatter)
	}
	fit, err := f.begin(ctx, img, open, chatter)
	if err != nil {
		return err
	}
	defer fit.Device().Close()
	defer fit.Free()
	s := &session{name: filepath.Base(path), fit: fit, img: img, outputs: &f.outputs, http: f.http, chatter: chatter}
	r, err := s.run(ctx, f.limits.watch())
	if err != nil {
		return err
	}
	r.Image, r.Seconds = path, time.Since(start).Seconds()
	if f.profile {
		if err := printProfile(stderr, fit.Device(), fit.Steps()); err != nil {
			return err
		}
	}
	fmt.Fprintf(report, "wrote %s: %dx%d, PSNR %s, %d steps in %.1f s\n", f.outputs.image, r.Width, r.Height, formatPSNR(r.PSNR), r.Steps, r.Seconds)
	if r.model != "" {
		fmt.Fprintf(report, "wrote %s: %s\n", f.outputs.model, r.model)
	}
	if f.json {
		if err := json.NewEncoder(stdout).Encode(r); err != nil {
			return err
		}
	}
	if s.logErr != nil {
		return fmt.Errorf("the log is incomplete, all else was written: %w", s.logErr)
	}
	return nil
}

// begin returns a fit that is new or resumed. The checkpoint is looked at before a device is opened.
func (f *trainFlags) begin(ctx context.Context, img *imagefit.Image, open func() (tensor.Device, error), chatter io.Writer) (*imagefit.Fit, error) {
	if f.resume != "" {
		return f.beginFrom(ctx, img, open, chatter)
	}
	cfg, err := f.settings.config(img.Width, img.Height)
	if err != nil {
		return nil, err
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	fit, err := imagefit.New(d, img, cfg)
	if err != nil {
		d.Close()
	}
	return fit, err
}

// beginFrom returns the fit of the checkpoint.
func (f *trainFlags) beginFrom(ctx context.Context, img *imagefit.Image, open func() (tensor.Device, error), chatter io.Writer) (*imagefit.Fit, error) {
	saved, err := f.memory.checkpoint(ctx, f.resume)
	if err != nil {
		return nil, err
	}
	cfg, err := f.settings.resumed(saved.Config)
	if err != nil {
		return nil, err
	}
	if saved.Steps >= cfg.Steps {
		return nil, &usageError{fmt.Errorf("%s has done %d of %d steps: raise --steps to go on", f.resume, saved.Steps, cfg.Steps)}
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	fit, err := imagefit.Resume(d, img, saved, cfg)
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", f.resume, err)
	}
	fmt.Fprintf(chatter, "resumed %s at step %d\n", f.resume, saved.Steps)
	if saved.Device != d.Name() {
		fmt.Fprintf(chatter, "the checkpoint was made on %s: on this device the last bits may differ\n", saved.Device)
	}
	return fit, nil
}

func formatPSNR(db *float64) string {
	if db == nil {
		return "infinite (exact)"
	}
	return fmt.Sprintf("%.2f dB", *db)
}

// printProfile prints where the device's time went.
func printProfile(w io.Writer, d tensor.Device, steps int) error {
	times, err := d.Profile()
	if err != nil {
		return err
	}
	var total time.Duration
	for _, t := range times {
		total += t.Total
	}
	fmt.Fprintf(w, "%-24s %9s %11s %10s %6s %8s\n", "kernel", "calls", "total ms", "mean µs", "share", "GB/s")
	for _, t := range times {
		fmt.Fprintf(w, "%-24s %9d %11.2f %10.2f %5.1f%% %8.2f\n", t.Name, t.Calls, t.Total.Seconds()*1e3,
			t.Total.Seconds()*1e6/float64(t.Calls), 100*t.Total.Seconds()/max(total.Seconds(), 1e-12),
			float64(t.Bytes)/1e9/max(t.Total.Seconds(), 1e-12))
	}
	s := d.Stats()
	fmt.Fprintf(w, "device time %.2f ms in %d steps; %d programs built in %v, %d requests served from the cache\n",
		total.Seconds()*1e3, steps, s.Programs, s.CompileTime.Round(time.Millisecond), s.ProgramCacheHits)
	fmt.Fprintf(w, "uploads %d (%d bytes), downloads %d (%d bytes)\n", s.Uploads, s.UploadBytes, s.Downloads, s.DownloadBytes)
	return nil
}
