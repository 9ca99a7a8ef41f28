package train

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/scalar"
	"github.com/clgrad/clgrad/internal/terminal"
	"github.com/schollz/progressbar/v3"
)

// Unknown is the number of steps of a loop whose end is not known.
const Unknown = -1

// ProgressOptions says how a [Progress] is shown.
type ProgressOptions struct {
	Name  string        // what stands before the numbers, such as "epoch 3"
	Every time.Duration // between two times that it is shown; 0: 0.1 s on a terminal, 5 s elsewhere
}

// Progress shows how far a loop is: on a terminal one line with a bar, elsewhere a line every few
// seconds and one at the end. Both have the steps, the steps in a second, the time that is left and
// the values:
//
//	epoch 3: step 128/469  loss 0.2134  312 steps/s  ETA 1s
//
// It belongs to one goroutine at a time.
type Progress struct {
	w     io.Writer
	steps int // Unknown: below 0
	name  string
	every time.Duration
	bar   *terminal.Bar // nil without a terminal
	now   func() time.Time

	start, shown time.Time
	step, marked int     // steps done; those when it was shown last
	rate         float64 // steps in a second of late; 0: not known yet
	values       string  // those read last
	ended        bool
	err          error // the first of reading a value
}

// NewProgress shows a loop of so many steps, or [Unknown], on w, such as os.Stderr. Done ends it.
func NewProgress(w io.Writer, steps int, options ...ProgressOptions) *Progress {
	p := newProgress(w, steps, time.Now, options)
	if terminal.Is(w) {
		p.bar = terminal.NewBar(w, max(steps, Unknown), progressbar.OptionSetElapsedTime(true))
		p.show()
	}
	return p
}

func newProgress(w io.Writer, steps int, now func() time.Time, options []ProgressOptions) *Progress {
	p := &Progress{w: w, steps: steps, now: now, start: now()}
	if len(options) > 0 {
		p.name, p.every = options[0].Name, options[0].Every
	}
	if p.name != "" {
		p.name += ": "
	}
	if p.every <= 0 {
		p.every = terminal.LineEvery
		if terminal.Is(w) {
			p.every = 100 * time.Millisecond
		}
	}
	p.shown = p.start
	return p
}

// Step counts a step. Values are names and numbers in turn, such as "loss", loss, "rate", opt.LR(): a
// number of Go or a [Scalar]. Those that the device computes are read only where they are shown, and
// in the last step: a loop does not wait for the device in each step. It panics with tensor.ErrValue
// for other values.
func (p *Progress) Step(values ...any) {
	mustPairs("Step", values)
	p.step++
	now := p.now()
	due := now.Sub(p.shown) >= p.every
	if !due && p.step != p.steps {
		return
	}
	p.read(values)
	if elapsed := now.Sub(p.shown).Seconds(); due {
		rate := float64(p.step-p.marked) / elapsed
		if p.rate > 0 {
			rate = 0.7*p.rate + 0.3*rate // as smooth as that of tqdm
		}
		p.rate, p.shown, p.marked = rate, now, p.step
	}
	if p.bar != nil || due && p.step != p.steps {
		p.show()
	}
}

// read makes texts of values.
func (p *Progress) read(values []any) {
	var text strings.Builder
	for i := 0; i < len(values); i += 2 {
		v, err := scalar.Read(values[i+1])
		if err != nil {
			if p.err == nil {
				p.err = err
			}
			return
		}
		fmt.Fprintf(&text, "  %s %s", values[i], short(v))
	}
	p.values = text.String()
}

// at returns the steps that are done, of how many.
func (p *Progress) at() string {
	if p.steps < 0 {
		return fmt.Sprintf("step %d", p.step)
	}
	return fmt.Sprintf("step %d/%d", p.step, p.steps)
}

// show shows the line, with the time that is left, or at the end with the time that it took.
func (p *Progress) show() {
	rate := ""
	if p.rate > 0 {
		rate = fmt.Sprintf("  %.3g steps/s", p.rate)
	}
	line := p.name + p.at() + p.values + rate
	if p.bar != nil {
		p.bar.Show(p.step, line, p.name+p.at()+p.values, p.name+p.at(), p.at(), "")
		return
	}
	switch left := p.steps - p.step; {
	case p.ended:
		line += fmt.Sprintf("  %v", p.now().Sub(p.start).Round(10*time.Millisecond))
	case p.rate > 0 && left > 0:
		line += fmt.Sprintf("  ETA %v", time.Duration(float64(left)/p.rate*float64(time.Second)).Round(time.Second))
	}
	fmt.Fprintln(p.w, line) // a terminal that went away stops nothing
}

// Done ends the line, or writes the last one: with the steps in a second, and the time, from first to
// last. A second call does nothing, so that it may also be deferred for a loop that returns early. The
// error is the first one of a value that could not be read.
func (p *Progress) Done() error {
	if p.ended {
		return p.err
	}
	p.ended = true
	if elapsed := p.now().Sub(p.start).Seconds(); p.step > 0 && elapsed > 0 {
		p.rate = float64(p.step) / elapsed
	}
	p.show()
	if p.bar != nil {
		p.bar.End()
	}
	return p.err
}
