package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// trainFlags is the command line of train.
type trainFlags struct {
	fit                   imagefit.Config
	device                deviceFlags
	out, model, dot, plot string
	log                   string
	profile, json, quiet  bool
}

func newTrain() *cobra.Command {
	f := trainFlags{fit: imagefit.Defaults()}
	cmd := &cobra.Command{
		Use:   "train IMAGE.png",
		Short: "Fit a network to an image and write the reconstruction",
		Long: `train fits a network to a PNG file and writes what the network learned as another. Progress goes to
standard error, results to standard output. Interrupting it (Ctrl-C) stops training and still writes
everything that was asked for.`,
		Example: `  mlpimage train photo.png -o learned.png
  mlpimage train photo.png --steps 1000 --device cpu --model photo.npz --plot loss.svg`,
		Args: exactly("the image to fit"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return train(cmd.Context(), args[0], f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fs, c := cmd.Flags(), &f.fit
	fs.SortFlags = false
	fs.StringVarP(&f.out, "output", "o", "", "reconstruction to write (default IMAGE.mlp.png)")
	fs.IntVar(&c.Steps, "steps", c.Steps, "training steps")
	fs.IntVar(&c.Batch, "batch", c.Batch, "pixels drawn per step")
	fs.IntVar(&c.Hidden, "hidden", c.Hidden, "width of a hidden layer")
	fs.IntVar(&c.Layers, "layers", c.Layers, "hidden layers")
	fs.IntVar(&c.Features, "features", c.Features, "sines and cosines that encode a position, a multiple of 4")
	fs.Float64Var(&c.LR, "lr", c.LR, "learning rate of the first step")
	fs.Float64Var(&c.LRDecay, "lr-decay", c.LRDecay, "factor on the learning rate per step")
	fs.Float64Var(&c.WeightDecay, "weight-decay", c.WeightDecay, "decoupled weight decay of AdamW")
	fs.Float64Var(&c.Beta1, "beta1", c.Beta1, "decay of AdamW's first moment")
	fs.Float64Var(&c.Beta2, "beta2", c.Beta2, "decay of AdamW's second moment")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the weights and of the pixels drawn")
	f.device.register(fs)
	fs.BoolVar(&f.device.check, "check", false, "run every launch in Go as well and stop at the first difference (slow)")
	fs.StringVar(&f.dot, "dot", "", "write the graph of one step, for Graphviz")
	fs.StringVar(&f.plot, "plot", "", "write the loss curve, as .svg or .png")
	fs.StringVar(&f.model, "model", "", "write the trained model, for render and NumPy")
	fs.IntVar(&c.LogEvery, "log-every", c.LogEvery, "steps between two reports")
	fs.StringVar(&f.log, "log", "", "write a JSON object per report to this file while training, one per line")
	fs.BoolVar(&c.NoFuse, "no-fuse", false, "train layer by layer even where one launch could do a whole pass")
	fs.BoolVar(&f.profile, "profile", false, "measure every kernel and print a table (slower)")
	fs.BoolVar(&f.json, "json", false, "print the result as one JSON object, the last line of standard output")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors, and what --json and --profile ask for")
	return cmd
}

// outputs lists every file that train will write.
func (f *trainFlags) outputs() []string {
	var list []string
	for _, path := range []string{f.out, f.model, f.dot, f.plot, f.log} {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}

// validate finds what is wrong with the command line before any work is done.
func (f *trainFlags) validate() error {
	if err := f.fit.Validate(); err != nil {
		return &usageError{err}
	}
	if ext := strings.ToLower(filepath.Ext(f.plot)); f.plot != "" && ext != ".svg" && ext != ".png" {
		return &usageError{fmt.Errorf("--plot %s: the name must end in .svg or .png", f.plot)}
	}
	seen := map[string]bool{}
	for _, path := range f.outputs() {
		if clean := filepath.Clean(path); seen[clean] {
			return &usageError{fmt.Errorf("two outputs have the name %s", path)}
		} else {
			seen[clean] = true
		}
	}
	return nil
}

// result is what --json prints.
type result struct {
	Image           string   `json:"image"`
	Width           int      `json:"width"`
	Height          int      `json:"height"`
	Steps           int      `json:"steps"` // done, fewer than asked for after an interrupt
	Batch           int      `json:"batch"`
	Params          int      `json:"params"`
	Device          string   `json:"device"`
	Seconds         float64  `json:"seconds"` // from start to the last file written
	StepMicros      float64  `json:"step_us"` // median
	Loss            float64  `json:"loss"`    // of the last batch
	PSNR            *float64 `json:"psnr_db"` // null if the reconstruction is exact
	LiveBytes       int64    `json:"live_bytes"`
	PeakBytes       int64    `json:"peak_bytes"`
	LaunchesPerStep int64    `json:"launches_per_step"`
}

func train(ctx context.Context, path string, f trainFlags, stdout, stderr io.Writer) error {
	start := time.Now()
	if f.out == "" {
		f.out = strings.TrimSuffix(path, filepath.Ext(path)) + ".mlp.png"
	}
	if err := f.validate(); err != nil {
		return err
	}
	if f.log != "" && filepath.Clean(f.log) == filepath.Clean(path) {
		return &usageError{fmt.Errorf("--log %s would overwrite the image", f.log)}
	}
	img, err := imagefit.ReadPNG(path)
	if err != nil {
		return err
	}
	for _, out := range f.outputs() {
		if err := atomicfile.Check(out); err != nil {
			return fmt.Errorf("cannot write %s: %w", out, err)
		}
	}
	chatter, report := stderr, stdout // what --quiet silences
	if f.quiet {
		chatter, report = io.Discard, io.Discard
	}
	f.device.profile = f.profile
	d, err := f.device.open(chatter)
	if err != nil {
		return err
	}
	defer d.Close()
	fit, err := imagefit.New(d, img, f.fit)
	if err != nil {
		return err
	}
	defer fit.Free()
	if fused, why := fit.Fused(); fused {
		fmt.Fprintln(chatter, "training pass: fused, one launch")
	} else {
		fmt.Fprintf(chatter, "training pass: layer by layer (%v)\n", why)
	}

	log, err := newRunLog(f.log)
	if err != nil {
		return fmt.Errorf("cannot write the log: %w", err)
	}
	defer log.close()
	var logErr error // does not end the run: its work would be lost
	var history []imagefit.Progress
	bar := newProgress(chatter, f.fit.Steps)
	err = fit.Run(ctx, func(p imagefit.Progress) {
		history = append(history, p)
		bar.report(p)
		if logErr == nil {
			logErr = log.report(p)
		}
	})
	bar.finish()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		fmt.Fprintf(chatter, "stopped after %d of %d steps\n", fit.Steps(), f.fit.Steps)
	}
	if fit.Steps() == 0 {
		return errors.New("interrupted before the first step: nothing was written")
	}
	r, err := f.finish(fit, img, history)
	if err != nil {
		return err
	}
	r.Image, r.Seconds = path, time.Since(start).Seconds()
	if f.profile {
		if err := printProfile(stderr, d, fit.Steps()); err != nil {
			return err
		}
	}
	fmt.Fprintf(report, "wrote %s: %dx%d, PSNR %s, %d steps in %.1f s\n", f.out, r.Width, r.Height, formatPSNR(r.PSNR), r.Steps, r.Seconds)
	if f.json {
		if err := json.NewEncoder(stdout).Encode(r); err != nil {
			return err
		}
	}
	if logErr != nil {
		return fmt.Errorf("the log is incomplete, all else was written: %w", logErr)
	}
	return nil
}

// finish renders and writes everything that was asked for. An interrupt no longer stops it.
func (f *trainFlags) finish(fit *imagefit.Fit, img *imagefit.Image, history []imagefit.Progress) (*result, error) {
	out, err := fit.Model.Render(context.Background(), img.Width, img.Height)
	if err != nil {
		return nil, err
	}
	loss, err := fit.Loss()
	if err != nil {
		return nil, err
	}
	stats := fit.Device().Stats()
	r := &result{
		Width: img.Width, Height: img.Height, Steps: fit.Steps(), Batch: f.fit.Batch, Params: fit.Model.Size(),
		Device: fit.Device().Name(), StepMicros: fit.StepMicros(), Loss: loss,
		LiveBytes: stats.LiveBytes, PeakBytes: stats.PeakBytes, LaunchesPerStep: fit.LaunchesPerStep(),
	}
	if psnr := imagefit.PSNR(img, out); !math.IsInf(psnr, 1) {
		r.PSNR = &psnr
	}
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.out, out.WritePNG},
		{f.model, fit.Model.Write},
		{f.dot, fit.WriteDOT},
		{f.plot, func(w io.Writer) error { return plotLoss(w, f.plot, history) }},
	} {
		if file.path == "" {
			continue
		}
		if err := atomicfile.Write(file.path, file.write); err != nil {
			return nil, fmt.Errorf("write %s: %w", file.path, err)
		}
	}
	return r, nil
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
