package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows a running fit: a bar on a terminal, a line per report elsewhere.
type progress struct {
	w   io.Writer
	bar *progressbar.ProgressBar // nil without a terminal
}

func newProgress(w io.Writer, steps int) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(true),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("steps"),
			progressbar.OptionFullWidth(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

func (p *progress) report(r imagefit.Progress) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("loss %.4g  PSNR %.1f dB", r.Loss, r.PSNR))
		_ = p.bar.Set(r.Step) // a terminal that went away does not stop training
		return
	}
	line := fmt.Sprintf("step %d/%d  loss %.6g  PSNR %.2f dB", r.Step, r.Steps, r.Loss, r.PSNR)
	if r.StepTime > 0 {
		left := time.Duration(r.Steps-r.Step) * r.StepTime
		line += fmt.Sprintf("  %.0f steps/s  ETA %v", 1/r.StepTime.Seconds(), left.Round(time.Second))
	}
	fmt.Fprintln(p.w, line)
}

// finish leaves the terminal on a line of its own.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.w)
	}
}
