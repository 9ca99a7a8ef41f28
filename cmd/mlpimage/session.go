package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
)

// session is one fit and everything that is made of it while it runs and at its end.
type session struct {
	name    string // of the image
	fit     *imagefit.Fit
	img     *imagefit.Image
	outputs *outputs
	http    string // address of the live page, or ""
	chatter io.Writer

	history []imagefit.Progress
	logErr  error // does not end the run: its work would be lost
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

// run trains until something ends it, and writes all outputs. A cancelled ctx ends training, not the writing.
func (s *session) run(ctx context.Context, w imagefit.Watch) (*result, error) {
	fit := s.fit
	if fused, why := fit.Fused(); fused {
		fmt.Fprintln(s.chatter, "training pass: fused, one launch")
	} else {
		fmt.Fprintf(s.chatter, "training pass: layer by layer (%s)\n", sentence(why))
	}
	log, err := newRunLog(s.outputs.log, fit.Steps() > 0)
	if err != nil {
		return nil, fmt.Errorf("cannot write the log: %w", err)
	}
	defer log.close()
	page, err := s.serve()
	if err != nil {
		return nil, err
	}
	bar := newProgress(s.chatter, fit.Steps(), fit.Config)
	w.Report = func(p imagefit.Progress) {
		s.history = append(s.history, p)
		bar.report(p)
		page.report(p)
		if s.logErr == nil {
			s.logErr = log.report(p)
		}
	}
	w.Step = func(step int) error { return errors.Join(s.save(ctx, step), page.draw(ctx)) }
	why, err := fit.Run(ctx, w)
	bar.finish()
	if err == nil && fit.Steps() == 0 {
		err = errors.New("interrupted before the first step: nothing was written")
	}
	if err != nil {
		page.end(sentence(err))
		return nil, err
	}
	if why != imagefit.AllSteps {
		of := ""
		if !fit.Config.UntilFlat {
			of = fmt.Sprintf(" of %d", fit.Config.Steps)
		}
		fmt.Fprintf(s.chatter, "stopped after %d%s steps: %s\n", fit.Steps(), of, why)
	}
	r, err := s.finish(why, page)
	if err != nil {
		page.end(sentence(err))
		return nil, err
	}
	page.end(string(why))
	return r, nil
}

// save writes what is due after a step. The last checkpoint is written by finish.
func (s *session) save(ctx context.Context, step int) error {
	o := s.outputs
	if o.checkpoint != "" && step%o.checkpointEvery == 0 {
		if err := s.write(o.checkpoint, s.fit.WriteCheckpoint); err != nil {
			return err
		}
	}
	if o.preview != "" && step%o.previewEvery == 0 {
		out, err := s.fit.Model.Render(ctx, s.img.Width, s.img.Height)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			return s.write(o.preview, out.WritePNG)
		}
	}
	return nil
}

func (s *session) write(path string, write func(io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// finish renders and writes everything that was asked for. The checkpoint comes first: what fails later does not
// lose it.
func (s *session) finish(why imagefit.Reason, page *livePage) (*result, error) {
	fit, img, o := s.fit, s.img, s.outputs
	if err := fit.Model.Check(); err != nil {
		return nil, err
	}
	if o.checkpoint != "" {
		if err := s.write(o.checkpoint, fit.WriteCheckpoint); err != nil {
			return nil, err
		}
	}
	out, err := fit.Model.Render(context.Background(), img.Width, img.Height)
	if err == nil {
		err = page.show(out)
	}
	if err != nil {
		return nil, err
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
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{o.image, out.WritePNG},
		{o.preview, out.WritePNG},
		{o.compare, func(w io.Writer) error { return imagefit.WriteComparison(w, img, out) }},
		{o.dot, fit.WriteDOT},
		{s.plotFile(), func(w io.Writer) error { return plotCurves(w, o.plot, s.history) }},
	} {
		if file.path == "" {
			continue
		}
		if err := s.write(file.path, file.write); err != nil {
			return nil, err
		}
	}
	if o.model != "" {
		if r.model, err = s.writeModel(out); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// plotFile returns the name of the plot, or "" if there is nothing to draw: no step was done, or the loss was always 0.
func (s *session) plotFile() string {
	drawable := slices.ContainsFunc(s.history, func(p imagefit.Progress) bool { return p.Loss > 0 })
	if s.outputs.plot != "" && !drawable {
		fmt.Fprintf(s.chatter, "%s was not written: there is no loss above 0 to draw\n", s.outputs.plot)
		return ""
	}
	return s.outputs.plot
}

// writeModel writes the model and says how large it is and, if it is stored in fewer bits, what it draws: out is what
// it draws in all of them.
func (s *session) writeModel(out *imagefit.Image) (string, error) {
	o := s.outputs
	var raw bytes.Buffer
	if err := s.fit.Model.Write(&raw, o.weights); err != nil {
		return "", err
	}
	if o.weights != imagefit.FP32 {
		m, err := imagefit.DecodeModel(s.fit.Device(), raw.Bytes())
		if err != nil {
			return "", err
		}
		defer m.Free()
		if out, err = m.Render(context.Background(), s.img.Width, s.img.Height); err != nil {
			return "", err
		}
	}
	if err := s.write(o.model, func(w io.Writer) error { _, err := w.Write(raw.Bytes()); return err }); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d weights as %s, %d bytes, %.3g bits per pixel, PSNR %.2f dB", s.fit.Model.Size(), o.weights, raw.Len(),
		bitsPerPixel(raw.Len(), s.img.Width, s.img.Height), imagefit.PSNR(s.img, out)), nil
}

func bitsPerPixel(bytes, width, height int) float64 {
	return 8 * float64(bytes) / (float64(width) * float64(height))
}
