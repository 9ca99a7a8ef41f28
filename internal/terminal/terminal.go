// Package terminal is what a person sees while a program works: whether there is a terminal, its
// width, and a progress bar.
package terminal

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// LineEvery is the time between two lines that say how far a program is, where there is no terminal:
// a file that keeps them is read by people.
const LineEvery = 5 * time.Second

// Is reports whether a person sees what is written.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns a terminal has: 80 where it does not say, or is none.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}
