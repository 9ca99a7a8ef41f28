package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/schollz/progressbar/v3"
)

// besideBar is the room, in columns, that a short bar with its percentage and times takes in a
// terminal.
const besideBar = 28

// bar is a progress bar as wide as the terminal, also when that becomes narrower. A terminal that
// went away stops nothing.
type bar struct {
	*progressbar.ProgressBar
	w     io.Writer
	width int // of the terminal when the bar was last shown
}

// newBar shows a bar of so many steps; of -1, it spins.
func newBar(w io.Writer, steps int, options ...progressbar.Option) *bar {
	options = append(options, progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionUseANSICodes(true))
	return &bar{progressbar.NewOptions(steps, options...), w, cli.TerminalWidth(w)}
}

// show shows that so many steps are done, with the first text that the terminal has room for, or
// the last.
func (b *bar) show(steps int, texts ...string) {
	now := cli.TerminalWidth(b.w)
	fmt.Fprint(b.w, clearWrapped(b.String(), b.width, now))
	b.width = now
	for i, text := range texts {
		if i == len(texts)-1 || utf8.RuneCountInString(text)+besideBar <= now {
			b.Describe(text)
			break
		}
	}
	_ = b.Set(steps)
}

// end leaves the terminal on a line of its own.
func (b *bar) end() {
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
