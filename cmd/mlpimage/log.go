package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
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

// runLog writes a line for each report while training goes on, so that other programs can follow it. Lines that could
// not be written are kept for the next report.
type runLog struct {
	file    *os.File // nil: no log was asked for
	start   time.Time
	pending []byte
	lost    int // lines that were too many to keep
}

// mostPending bounds the lines that are kept: a disk may stay full for days.
const mostPending = 1 << 20

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
	l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o666)
	return l, err
}

// report adds a line and writes what there is to write.
func (l *runLog) report(p imagefit.Progress) error {
	if l.file == nil {
		return nil
	}
	line, err := l.line(p)
	if err != nil {
		return err
	}
	if len(l.pending)+len(line) > mostPending {
		l.lost++
	} else {
		l.pending = append(l.pending, line...)
	}
	return l.flush()
}

// flush writes what is pending. Of a line of which a part was written, the rest follows.
func (l *runLog) flush() error {
	if len(l.pending) == 0 {
		return nil
	}
	n, err := l.file.Write(l.pending) // one write: a reader never sees half a line
	l.pending = l.pending[n:]
	if err != nil {
		return atomicfile.Failed(l.file.Name(), err)
	}
	return nil
}

// line returns a report as JSON and a newline.
func (l *runLog) line(p imagefit.Progress) ([]byte, error) {
	line := logLine{Step: p.Step, Steps: p.Steps, Loss: p.Loss, Seconds: time.Since(l.start).Seconds()}
	if !math.IsInf(p.PSNR, 0) {
		line.PSNR = &p.PSNR
	}
	if p.StepTime > 0 {
		us := float64(p.StepTime.Nanoseconds()) / 1e3
		line.StepMicros = &us
	}
	text, err := json.Marshal(line)
	return append(text, '\n'), err
}

// close writes what is still pending.
func (l *runLog) close() error {
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.flush(), l.file.Close())
	if err == nil && l.lost > 0 {
		err = atomicfile.Failed(l.file.Name(), fmt.Errorf("%d lines were lost while the disk was full", l.lost))
	}
	return err
}
