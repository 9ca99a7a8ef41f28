package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/internal/liveview"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// trainFlags is the command line of train.
type trainFlags struct {
	settings      settings
	device        devices.Flags
	memory        memory
	limits        limits
	outputs       outputs
	resume        string
	resumeOrStart string // --resume-or-start
	http          string

	profile, json, quiet bool
}

func newTrain() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train IMAGE",
		Short: "Fit a network to an image and write the reconstruction",
		Long: `train fits a network to a PNG, JPEG, WebP, GIF, BMP or TIFF file (- for standard input; of several pictures
the first) and writes what the network learned as a PNG or a JPEG. Gray images stay
gray, 16 bits keep their depth, transparency is learned too. Progress goes to standard error, results to
standard output.

Interrupting it (Ctrl-C, SIGTERM or SIGHUP) stops training, still writes everything that was asked for and exits with
code 3; a second Ctrl-C ends the program at once. A checkpoint, preview or log that cannot be written, on a full disk
perhaps, does not stop training: it is tried again when it is next due. What cannot be written at the end is an error,
which says what was.

--resume resumes from a checkpoint. One whose training is at its end (steps, --psnr, --time or the gain) has its outputs
written once more, and is done. --resume-or-start is for the lines of jobs that a queue may start again: the same line
begins, resumes and, once all is done, does nothing but write the outputs.

Unless --preset, --encoding or --resume says otherwise, the settings are those of --preset good.
mlpimage IMAGE is short for mlpimage train IMAGE.`,
		Example: `  mlpimage photo.jpg
  mlpimage train photo.png --preset best --time 2m --compare compare.png
  mlpimage train photo.png --checkpoint photo.ckpt --model photo.npz
  mlpimage train photo.png --resume photo.ckpt --checkpoint photo.ckpt
  mlpimage train photo.png --preset best --resume-or-start photo.ckpt
  mlpimage train photo.png -o - --quiet > learned.png
  mlpimage train photo.png --steps 1000 --device cpu --plot loss.svg`,
		Args: cli.Exactly("the image to fit"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stdout, stderr := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			err := cli.OrLeave(ctx, func(begun func()) error { return train(ctx, args[0], f, begun, stdout, stderr) })
			if errors.Is(err, context.Canceled) {
				return errInterrupted
			}
			return err
		},
	}
	fs, o := cmd.Flags(), &f.outputs
	fs.SortFlags = false
	fs.StringVarP(&o.image, "output", "o", "", "reconstruction to write, as .png or .jpg; - is standard output, as PNG (default IMAGE.mlp.png)")
	cli.Group(fs, groupWrite)
	f.settings.register(fs)
	f.limits.register(fs)
	f.device.Register(fs, program)
	f.memory.register(fs)
	fs.BoolVar(&f.device.Check, "check", false, "run every launch in Go as well and stop at the first difference (slow)")
	cli.Group(fs, devices.FlagGroup)
	o.register(fs)
	fs.StringVar(&f.resume, "resume", "", "resume from a checkpoint, with its settings, as if training had never stopped")
	fs.StringVar(&f.resumeOrStart, "resume-or-start", "", `resume from this checkpoint if it is there, else start; it is written while training, unless
--checkpoint names another. Settings that are given must be the checkpoint's`)
	cli.Group(fs, groupLearn)
	fs.StringVar(&f.http, "http", "", `show training live at this address, such as 127.0.0.1:8080; without a host it is
reachable from this machine only`)
	fs.BoolVar(&f.profile, "profile", false, "measure every kernel and print a table (slower)")
	fs.BoolVar(&f.json, "json", false, "print the result as one JSON object, the last line of standard output")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors, and what --json and --profile ask for")
	cli.Group(fs, groupWrite)
	return cmd
}

// validate finds what is wrong with the command line before any work is done.
func (f *trainFlags) validate(image string, stdout io.Writer) error {
	if err := f.limits.validate(); err != nil {
		return err
	}
	if n, is := onStandardOutput(f.outputs.list()...); f.json && is && n.what != "--log" { // whose lines are JSON, too
		return cli.Usage(fmt.Errorf("--json with %s %s: the file and the result cannot both be standard output", n.what, n.path))
	}
	if f.http != "" {
		if err := liveview.CheckAddress(f.http); err != nil {
			return cli.Usage(fmt.Errorf("--http %w", err))
		}
	}
	inputs := []named{{"the image", image}}
	if f.resume != "" {
		inputs = append(inputs, named{resumedFrom, f.resume})
	}
	return f.outputs.validate(inputs, stdout)
}

// complete fills in what the command line leaves open.
func (f *trainFlags) complete(image string) error {
	f.outputs.image = picturePath(f.outputs.image)
	if f.outputs.image == "" {
		if image == stream {
			return cli.Usage(errors.New("the image comes from standard input: name the output with -o"))
		}
		f.outputs.image = strings.TrimSuffix(image, filepath.Ext(image)) + ".mlp.png"
	}
	if f.resumeOrStart == "" {
		return nil
	}
	if f.resume != "" {
		return cli.Usage(errors.New("--resume and --resume-or-start: give one of them"))
	}
	f.resume = f.resumeOrStart
	if f.outputs.checkpoint == "" {
		f.outputs.checkpoint = f.resumeOrStart
	}
	return nil
}

func train(ctx context.Context, path string, f trainFlags, begun func(), stdout, stderr io.Writer) error {
	start := time.Now()
	if err := f.complete(path); err != nil {
		return err
	}
	if err := f.validate(path, stdout); err != nil {
		return err
	}
	if f.resumeOrStart != "" {
		switch info, err := os.Stat(f.resumeOrStart); {
		case errors.Is(err, fs.ErrNotExist):
			f.resume = "" // to start
		case err == nil && !info.Mode().IsRegular(): // a checkpoint that is read and written
			return fmt.Errorf("--resume-or-start %s: it is no regular file but %s", f.resumeOrStart, regular.Kind(info.Mode()))
		}
	}
	f.device.Prepare()                // a GPU's driver takes longer than an image
	chatter, report := stderr, stdout // what --quiet silences
	if _, is := onStandardOutput(f.outputs.list()...); is {
		report = stderr
	}
	if f.quiet {
		chatter, report = io.Discard, io.Discard
	}
	wait := cli.NewWait(chatter, "reading the image")
	img, err := f.memory.image(ctx, path)
	wait.Done()
	if err != nil {
		return err
	}
	if err := f.outputs.hold(img, chatter); err != nil {
		return err
	}
	if err := f.outputs.check(); err != nil {
		return err
	}
	open := func() (tensor.Device, error) {
		f.device.Profile = f.profile
		return f.device.Open(chatter)
	}
	fit, err := f.begin(ctx, img, open, chatter)
	if err != nil {
		return err
	}
	defer fit.Device().Close()
	defer fit.Free()
	s := &session{name: filepath.Base(path), fit: fit, img: img, outputs: &f.outputs, http: f.http, stdout: stdout, chatter: chatter, alarms: stderr, begun: begun}
	r, err := s.run(ctx, f.limits.watch())
	if r == nil {
		return err
	}
	r.Image, r.Seconds = path, time.Since(start).Seconds()
	if f.profile {
		if err := printProfile(stderr, fit.Device(), fit.Steps()); err != nil {
			return err
		}
	}
	f.print(report, r, s.saved)
	if f.json {
		if err := json.NewEncoder(stdout).Encode(r); err != nil {
			return err
		}
	}
	if err == nil && r.Ended == string(imagefit.Interrupted) {
		return f.interrupted(r.Steps)
	}
	return err
}

// print says what was written.
func (f *trainFlags) print(w io.Writer, r *result, saved []string) {
	o := &f.outputs
	if slices.Contains(saved, o.image) {
		name, lossy := o.image, ""
		if name == stream {
			name = "standard output"
		}
		if format := o.format(o.image); format.JPEG {
			lossy = fmt.Sprintf(" before JPEG of quality %d", format.Quality)
		}
		fmt.Fprintf(w, "wrote %s: %dx%d, PSNR %s%s, %s in %.1f s\n", cli.OneLine(name), r.Width, r.Height, formatPSNR(r.PSNR), lossy, formatSteps(r.Steps), r.Seconds)
	}
	if slices.Contains(saved, o.model) {
		fmt.Fprintf(w, "wrote %s: %s\n", cli.OneLine(o.model), r.model)
	}
}

// interrupted says how a run that was stopped resumes.
func (f *trainFlags) interrupted(steps int) error {
	how := "--checkpoint would have let it resume"
	switch {
	case f.resumeOrStart != "" && f.outputs.checkpoint == f.resumeOrStart:
		how = "the same command resumes"
	case f.outputs.checkpoint != "":
		how = "--resume " + f.outputs.checkpoint + " resumes it"
	}
	return cli.Interrupted(fmt.Errorf("interrupted after %s, all outputs are written: %s", formatSteps(steps), how))
}

// begin returns a fit that is new or resumed. The checkpoint is looked at before a device is
// opened.
func (f *trainFlags) begin(ctx context.Context, img *imagefit.Image, open func() (tensor.Device, error), chatter io.Writer) (*imagefit.Fit, error) {
	if f.resume != "" {
		return f.beginFrom(ctx, img, open, chatter)
	}
	cfg, err := f.settings.config(img.Width, img.Height)
	if err == nil {
		err = f.memory.fit(img, cfg)
	}
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
	cfg, err := f.settings.resumed(saved.Config, img.Width, img.Height)
	if f.resumeOrStart != "" { // its line says all settings, as it did when it started
		cfg, err = f.settings.config(img.Width, img.Height)
	}
	if err != nil {
		return nil, err
	}
	if err := f.memory.fit(img, cfg); err != nil {
		return nil, err
	}
	if saved.Steps > cfg.Steps {
		return nil, cli.Usage(fmt.Errorf("%s has done %s, --steps asks for %d: give at least as many", f.resume, formatSteps(saved.Steps), cfg.Steps))
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	fit, err := imagefit.Resume(d, img, saved, cfg)
	if err != nil {
		d.Close()
		err = fmt.Errorf("%s: %w", f.resume, err)
		if errors.Is(err, imagefit.ErrSettings) {
			err = cli.Usage(err)
		}
		return nil, err
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

func formatSteps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
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
