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
	"github.com/clgrad/clgrad/internal/samefile"
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

// runLog writes a line for each report while training continues, so that other programs can follow
// it. Lines that could not be written are kept for the next report.
type runLog struct {
	path    string   // "": no log was asked for
	mode    int      // that it is opened with
	file    *os.File // nil: it is not open yet
	start   time.Time
	pending []byte
	lost    int // lines that were too many to keep
}

// mostPending bounds the lines that are kept: a disk may stay full for days.
const mostPending = 1 << 20

// newRunLog begins a log, or continues with one: a run that is resumed adds to what it said before.
// The file is opened when there is something to write: until then it keeps what an earlier run
// said.
func newRunLog(path string, resumed bool) *runLog {
	l := &runLog{path: path, mode: os.O_TRUNC, start: time.Now()}
	if resumed {
		l.mode = os.O_APPEND
	}
	return l
}

// open opens the file. Standard output and standard error are open already, and may hold what was
// said before.
func (l *runLog) open() error {
	if l.file != nil {
		return nil
	}
	id, err := samefile.Of(l.path)
	if err != nil {
		return err
	}
	for _, std := range []*os.File{os.Stdout, os.Stderr} {
		if is, err := samefile.OfOpen(std); err == nil && is.Same(id) {
			l.file = std
			return nil
		}
	}
	l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|l.mode, 0o666)
	return err
}

// report adds a line and writes what there is to write.
func (l *runLog) report(p imagefit.Progress) error {
	if l.path == "" {
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
	if err := l.open(); err != nil {
		return atomicfile.Failed(l.path, err)
	}
	n, err := l.file.Write(l.pending) // one write: a reader never sees half a line
	l.pending = l.pending[n:]
	if err != nil {
		return atomicfile.Failed(l.path, err)
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
	if l.path == "" {
		return nil
	}
	err := l.flush()
	if l.file == nil && l.mode == os.O_APPEND { // a run that was at its end has nothing to say
		err = errors.Join(err, l.open())
	}
	if l.file != nil && l.file != os.Stdout && l.file != os.Stderr {
		err = errors.Join(err, l.file.Close())
	}
	if err == nil && l.lost > 0 {
		err = atomicfile.Failed(l.path, fmt.Errorf("%d lines were lost while the disk was full", l.lost))
	}
	return err
}
