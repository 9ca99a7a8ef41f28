package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
)

// barReserve is the room, in columns, that a short bar with its percentage and times takes in a
// terminal.
const barReserve = 28

// drawEvery is the least time between two pictures of a bar.
const drawEvery = 50 * time.Millisecond

// Bar is a progress bar as wide as the terminal, also when that becomes narrower. A terminal that
// went away stops nothing.
type Bar struct {
	*progressbar.ProgressBar
	w     io.Writer
	width int // of the terminal when the bar was last shown

	drawn time.Time // last
	steps int       // to draw
	texts []string  // to draw one of; nil: the bar is as it is to be
}

// NewBar shows a bar of so many steps; of -1, it spins.
func NewBar(w io.Writer, steps int, options ...progressbar.Option) *Bar {
	options = append(options, progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(true))
	return &Bar{ProgressBar: progressbar.NewOptions(steps, options...), w: w, width: Width(w)}
}

// Show shows that so many steps are done, with the first text that the terminal has room for, or
// the last. Of calls that follow each other at once, it shows the last.
func (b *Bar) Show(steps int, texts ...string) {
	b.steps, b.texts = steps, texts
	if steps == b.GetMax() || time.Since(b.drawn) >= drawEvery {
		b.draw()
	}
}

func (b *Bar) draw() {
	now := Width(b.w)
	fmt.Fprint(b.w, clearWrapped(b.String(), b.width, now))
	b.width = now
	full := b.steps >= b.GetMax()
	if !full { // a bar that is full takes no other text, one that is not shows the steps with the text
		_ = b.Set(b.steps)
	}
	for i, text := range b.texts {
		if i == len(b.texts)-1 || utf8.RuneCountInString(text)+barReserve <= now {
			b.Describe(text)
			break
		}
	}
	if full {
		_ = b.Set(b.steps)
	}
	b.texts, b.drawn = nil, time.Now()
}

// End leaves the terminal on a line of its own.
func (b *Bar) End() {
	if b.texts != nil {
		b.draw()
	}
	_ = b.Exit()
	fmt.Fprintln(b.w)
}

// clearWrapped returns what is written to a terminal that was narrowed under a line: it has wrapped
// the line, and the cursor is in the last of its rows. Go up to the first, and clear from there on.
func clearWrapped(line string, was, now int) string {
	columns := utf8.RuneCountInString(strings.TrimSuffix(strings.TrimPrefix(line, "\r"), "\x1b[0K"))
	if now >= was || now < 1 || columns <= now {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", (columns-1)/now)
}
