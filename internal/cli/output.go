package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Output is standard output. It remembers the first error: results that nobody got are a failure,
// whoever printed them.
type Output struct {
	w   io.Writer
	err error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err == nil {
		return n, nil
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if o.err == nil {
		o.err = fmt.Errorf("cannot write to standard output: %w", err)
	}
	return n, o.err
}

// Terminal reports whether a person would see what is written to standard output.
func (o *Output) Terminal() bool { return OnTerminal(o.w) }

// OnTerminal reports whether a person sees what is written.
func OnTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// TerminalWidth returns how many columns a terminal has: 80 where it does not say, or is none.
func TerminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}
