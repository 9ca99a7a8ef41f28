package main

import (
	"fmt"
	"io"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/terminal"
	"github.com/schollz/progressbar/v3"
)

// progress shows a running fit: a bar on a terminal. Elsewhere it writes a line every few seconds,
// of which the first and the last report are always one.
type progress struct {
	w   io.Writer
	bar *terminal.Bar // nil without a terminal

	open    bool // the number of steps is a limit, not a plan
	spoken  time.Time
	pending string // the line of a report that was not written yet
}

// newProgress shows a fit that stands at a step. One that trains until the gain flattens has no end
// that a bar could fill up to: it spins.
func newProgress(w io.Writer, step int, cfg imagefit.Config) *progress {
	p := &progress{w: w, open: cfg.UntilFlat}
	steps := cfg.Steps
	if p.open {
		steps = -1
	}
	if terminal.Is(w) {
		p.bar = terminal.NewBar(w, steps, progressbar.OptionSetElapsedTime(true))
		p.bar.Show(step, "")
	}
	return p
}

func (p *progress) report(r imagefit.Progress) {
	if p.bar != nil {
		if !p.open {
			p.bar.ChangeMax(r.Steps) // a plan for a time changes
		}
		p.bar.Show(r.Step, p.texts(r)...)
		return
	}
	line := fmt.Sprintf("step %d", r.Step)
	if !p.open {
		line += fmt.Sprintf("/%d", r.Steps)
	}
	line += fmt.Sprintf("  loss %.4g  PSNR %.2f dB", r.Loss, r.PSNR)
	if r.StepTime > 0 {
		line += fmt.Sprintf("  %.0f steps/s", 1/r.StepTime.Seconds())
		if left := time.Duration(r.Steps-r.Step) * r.StepTime; !p.open {
			line += fmt.Sprintf("  ETA %v", left.Round(time.Second))
		}
	}
	p.pending = line
	if time.Since(p.spoken) >= terminal.LineEvery {
		p.speak()
	}
}

// texts returns what stands beside the bar, with ever fewer details.
func (p *progress) texts(r imagefit.Progress) []string {
	psnr, at := fmt.Sprintf("PSNR %.1f dB", r.PSNR), fmt.Sprintf("step %d", r.Step)
	if !p.open {
		at += fmt.Sprintf("/%d", r.Steps)
	}
	if r.StepTime > 0 {
		at += fmt.Sprintf(", %.0f/s", 1/r.StepTime.Seconds())
	}
	return []string{fmt.Sprintf("loss %.4g  %s  %s", r.Loss, psnr, at), psnr + "  " + at, psnr, ""}
}

func (p *progress) speak() {
	fmt.Fprintln(p.w, p.pending)
	p.pending, p.spoken = "", time.Now()
}

// finish leaves the terminal on a line of its own, and writes the last report elsewhere.
func (p *progress) finish() {
	switch {
	case p.bar != nil:
		p.bar.End()
	case p.pending != "":
		p.speak()
	}
}

// rowBar shows how far a picture is drawn: a bar on a terminal, a line every few seconds elsewhere.
type rowBar struct {
	w      io.Writer
	rows   int
	bar    *terminal.Bar // nil without a terminal
	spoken time.Time
}

func newRowBar(w io.Writer, rows int) *rowBar {
	b := &rowBar{w: w, rows: rows, spoken: time.Now()}
	if terminal.Is(w) {
		b.bar = terminal.NewBar(w, rows)
	}
	return b
}

func (b *rowBar) report(rows int) {
	switch {
	case b.bar != nil:
		b.bar.Show(rows, fmt.Sprintf("row %d/%d", rows, b.rows), "")
	case time.Since(b.spoken) >= terminal.LineEvery:
		b.spoken = time.Now()
		fmt.Fprintf(b.w, "row %d/%d\n", rows, b.rows)
	}
}

func (b *rowBar) finish() {
	if b.bar != nil {
		b.bar.End()
	}
}
