package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/cli"
)

// session is one fit and everything that is made of it while it runs and at its end.
type session struct {
	name    string // of the image
	fit     *imagefit.Fit
	img     *imagefit.Image
	outputs *outputs
	http    string    // address of the live page, or ""
	stdout  io.Writer // for an output of that name
	chatter io.Writer
	alarms  io.Writer // for what goes wrong and does not end the run

	history []imagefit.Progress
	begun   func()          // called when there is something to write
	failing map[string]bool // files that could not be written when last tried
	saved   []string        // files that the end of the run has written
}

// result is what --json prints.
type result struct {
	Image           string   `json:"image"`
	Width           int      `json:"width"`
	Height          int      `json:"height"`
	Steps           int      `json:"steps"` // done
	Ended           string   `json:"ended"` // why
	Batch           int      `json:"batch"`
	Params          int      `json:"params"`
	Device          string   `json:"device"`
	Seconds         float64  `json:"seconds"` // from start to the last file written
	StepMicros      float64  `json:"step_us"` // median
	Loss            *float64 `json:"loss"`    // mean over the values of the last batch; null if no step was done
	PSNR            *float64 `json:"psnr_db"` // null if the reconstruction is exact
	LiveBytes       int64    `json:"live_bytes"`
	PeakBytes       int64    `json:"peak_bytes"`
	LaunchesPerStep int64    `json:"launches_per_step"`

	model string // what to say of the model file
}

// run trains until something ends it, and writes all outputs. A cancelled ctx ends training, not
// the writing. Outputs that cannot be written at the end are an error beside the result.
func (s *session) run(ctx context.Context, w imagefit.Watch) (*result, error) {
	fit := s.fit
	if fused, why := fit.Fused(); fused {
		fmt.Fprintln(s.chatter, "training pass: fused, one launch")
	} else {
		fmt.Fprintf(s.chatter, "training pass: layer by layer (%s)\n", cli.Sentence(why))
	}
	page, err := s.serve()
	if err != nil {
		return nil, err
	}
	log := newRunLog(s.outputs.log, fit.Steps() > 0)
	defer log.close() // where the run fails; finish looks at it otherwise
	s.failing = map[string]bool{}
	bar := newProgress(s.chatter, fit.Steps(), fit.Config)
	w.Report = func(p imagefit.Progress) {
		s.history = append(s.history, p)
		bar.report(p)
		page.report(p)
		s.tried(s.outputs.log, log.report(p))
	}
	if fit.Steps() > 0 {
		s.begun()
	}
	w.Step = func(step int) error {
		s.begun()
		return errors.Join(s.save(ctx, step), page.draw(ctx))
	}
	why, err := fit.Run(ctx, w)
	bar.finish()
	if err == nil && fit.Steps() == 0 {
		err = cli.Interrupted(errors.New("interrupted before the first step: nothing was written"))
	}
	if err != nil {
		page.end(cli.Sentence(err))
		return nil, err
	}
	if why != imagefit.AllSteps {
		of := ""
		if !fit.Config.UntilFlat {
			of = fmt.Sprintf(" of %d", fit.Config.Steps)
		}
		fmt.Fprintf(s.chatter, "stopped after %d%s steps: %s\n", fit.Steps(), of, why)
	}
	r, err := s.finish(why, page, log)
	if err != nil {
		page.end(cli.Sentence(err))
		return r, err
	}
	if r.PSNR != nil && *r.PSNR < w.PSNR && why != imagefit.Interrupted {
		fmt.Fprintf(s.chatter, "the PSNR of %v dB that was asked for was not reached\n", w.PSNR)
	}
	page.end(string(why))
	return r, nil
}

// save writes what is due after a step. The last checkpoint is written by finish.
func (s *session) save(ctx context.Context, step int) error {
	o := s.outputs
	if o.checkpoint != "" && step%o.checkpointEvery == 0 {
		if err := s.try(o.checkpoint, s.fit.WriteCheckpoint); err != nil {
			return err
		}
	}
	if o.preview != "" && step%o.previewEvery == 0 {
		out, err := s.fit.Model.Render(ctx, s.img.Width, s.img.Height)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			return s.try(o.preview, s.picture(o.preview, out))
		}
	}
	return nil
}

// picture returns what writes an image in the format of a file.
func (s *session) picture(path string, img *imagefit.Image) func(io.Writer) error {
	return func(w io.Writer) error { return img.Write(w, s.outputs.format(path)) }
}

// try writes a file while training continues.
func (s *session) try(path string, write func(io.Writer) error) error {
	return s.tried(path, atomicfile.Write(path, write))
}

// tried says that a file could not be written, once until it can be again, and returns other
// errors. A full disk does not end a run: its work would be lost, and there may be room when the
// file is next due.
func (s *session) tried(path string, err error) error {
	var file *atomicfile.Error
	switch {
	case err == nil:
		if s.failing[path] {
			fmt.Fprintf(s.alarms, "mlpimage: %s: %s can be written again\n", s.name, path)
		}
	case errors.As(err, &file):
		if !s.failing[path] {
			fmt.Fprintf(s.alarms, "mlpimage: %s: %s: training continues, and the next time it is due it is tried again\n", s.name, cli.Sentence(err))
		}
	default:
		return err
	}
	s.failing[path] = err != nil
	return nil
}

// finish renders and writes everything that was asked for. The checkpoint comes first: what fails
// later does not lose it. A file that cannot be written does not keep the others from it.
func (s *session) finish(why imagefit.Reason, page *livePage, log *runLog) (*result, error) {
	fit, img, o := s.fit, s.img, s.outputs
	if err := fit.Model.Check(); err != nil {
		return nil, err
	}
	var missing []error
	put := func(path string, write func(io.Writer) error) {
		if path == "" {
			return
		}
		wait := cli.NewWait(s.chatter, "writing "+path)
		err := writeFile(path, s.stdout, write)
		wait.Done()
		if err != nil {
			missing = append(missing, err)
			return
		}
		s.saved = append(s.saved, path)
	}
	put(o.checkpoint, fit.WriteCheckpoint)
	wait := cli.NewWait(s.chatter, fmt.Sprintf("drawing %dx%d pixels", img.Width, img.Height))
	out, err := fit.Model.Render(context.Background(), img.Width, img.Height)
	wait.Done()
	if err == nil {
		err = page.show(out)
	}
	if err != nil {
		return nil, s.incomplete(append(missing, err))
	}
	stats := fit.Device().Stats()
	r := &result{
		Width: img.Width, Height: img.Height, Steps: fit.Steps(), Ended: string(why), Batch: fit.Config.Batch, Params: fit.Model.Size(),
		Device: fit.Device().Name(), StepMicros: fit.StepMicros(),
		LiveBytes: stats.LiveBytes, PeakBytes: stats.PeakBytes, LaunchesPerStep: fit.LaunchesPerStep(),
	}
	if n := len(s.history); n > 0 { // a resumed fit may be at its end already
		r.Loss = &s.history[n-1].Loss
	}
	if psnr := imagefit.PSNR(img, out); !math.IsInf(psnr, 1) {
		r.PSNR = &psnr
	}
	put(o.image, s.picture(o.image, out))
	if o.model != "" {
		wait := cli.NewWait(s.chatter, "packing the weights")
		raw, what, err := s.packModel(out)
		wait.Done()
		if err != nil {
			return r, s.incomplete(append(missing, err))
		}
		r.model = what
		put(o.model, func(w io.Writer) error { _, err := w.Write(raw); return err })
	}
	put(o.preview, s.picture(o.preview, out))
	put(o.compare, func(w io.Writer) error { return imagefit.WriteComparison(w, img, out, o.format(o.compare)) })
	put(o.dot, fit.WriteDOT)
	put(s.plotFile(), func(w io.Writer) error { return plotCurves(w, o.plot, s.history) })
	if err := log.close(); err != nil {
		missing = append(missing, err)
	} else if o.log != "" {
		s.saved = append(s.saved, o.log)
	}
	return r, s.incomplete(missing)
}

// incomplete returns the error of outputs that could not be written, and says which could.
func (s *session) incomplete(missing []error) error {
	if len(missing) == 0 {
		return nil
	}
	written := "nothing was written"
	if len(s.saved) > 0 {
		written = "written: " + strings.Join(s.saved, ", ")
	}
	var all []string
	for _, err := range missing {
		all = append(all, err.Error())
	}
	return &incompleteError{missing, strings.Join(all, "; ") + "; " + written}
}

// incompleteError is a run that ended well but for some of its files.
type incompleteError struct {
	missing []error
	text    string
}

func (e *incompleteError) Error() string { return e.text }

func (e *incompleteError) Unwrap() []error { return e.missing }

// plotFile returns the name of the plot, or "" if there is nothing to draw: no step was done, or
// the loss was always 0.
func (s *session) plotFile() string {
	drawable := slices.ContainsFunc(s.history, func(p imagefit.Progress) bool { return p.Loss > 0 })
	if s.outputs.plot != "" && !drawable {
		fmt.Fprintf(s.chatter, "%s was not written: there is no loss above 0 to draw\n", s.outputs.plot)
		return ""
	}
	return s.outputs.plot
}

// packModel returns the model's file, and says how large it is and, if it is stored in fewer bits,
// what it draws: out is what it draws in all of them.
func (s *session) packModel(out *imagefit.Image) ([]byte, string, error) {
	o := s.outputs
	var raw bytes.Buffer
	if err := s.fit.Model.Write(&raw, o.weights); err != nil {
		return nil, "", err
	}
	if o.weights != imagefit.FP32 {
		m, err := imagefit.DecodeModel(s.fit.Device(), raw.Bytes())
		if err != nil {
			return nil, "", err
		}
		defer m.Free()
		if out, err = m.Render(context.Background(), s.img.Width, s.img.Height); err != nil {
			return nil, "", err
		}
	}
	return raw.Bytes(), fmt.Sprintf("%d weights as %s, %d bytes, %s bits per pixel, PSNR %.2f dB", s.fit.Model.Size(), o.weights, raw.Len(),
		formatBits(bitsPerPixel(raw.Len(), s.img.Width, s.img.Height)), imagefit.PSNR(s.img, out)), nil
}

func bitsPerPixel(bytes, width, height int) float64 {
	return 8 * float64(bytes) / (float64(width) * float64(height))
}

// formatBits writes bits per pixel with three digits that mean something.
func formatBits(bits float64) string {
	if bits >= 100 {
		return fmt.Sprintf("%.0f", bits)
	}
	return fmt.Sprintf("%.3g", bits)
}
