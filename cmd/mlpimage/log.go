package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"time"

	"github.com/clgrad/clgrad/imagefit"
)

// logLine is a line of --log. A number that JSON cannot hold is null.
type logLine struct {
	Step       int      `json:"step"`
	Steps      int      `json:"steps"`
	Loss       float64  `json:"loss"`    // mean over the values of the batch
	PSNR       *float64 `json:"psnr_db"` // estimated from the loss; null if that is 0
	StepMicros *float64 `json:"step_us"` // mean since the last line; null on the first
	Seconds    float64  `json:"seconds"` // since training began
}

// runLog writes a line for each report while training goes on, so that other programs can follow it.
type runLog struct {
	file  *os.File // nil: no log was asked for
	start time.Time
}

// newRunLog begins a log, or goes on with one: a run that is resumed adds to what it said before.
func newRunLog(path string, resumed bool) (*runLog, error) {
	l := &runLog{start: time.Now()}
	if path == "" {
		return l, nil
	}
	var err error
	mode := os.O_TRUNC
	if resumed {
		mode = os.O_APPEND
	}
	l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	return l, err
}

func (l *runLog) report(p imagefit.Progress) error {
	if l.file == nil {
		return nil
	}
	return l.write(l.file, p)
}

func (l *runLog) write(w io.Writer, p imagefit.Progress) error {
	line := logLine{Step: p.Step, Steps: p.Steps, Loss: p.Loss, Seconds: time.Since(l.start).Seconds()}
	if !math.IsInf(p.PSNR, 0) {
		line.PSNR = &p.PSNR
	}
	if p.StepTime > 0 {
		us := float64(p.StepTime.Nanoseconds()) / 1e3
		line.StepMicros = &us
	}
	return json.NewEncoder(w).Encode(line) // one write: a reader never sees half a line
}

func (l *runLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
