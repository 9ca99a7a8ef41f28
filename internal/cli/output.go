package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/clgrad/clgrad/internal/terminal"
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
func (o *Output) Terminal() bool { return terminal.Is(o.w) }
