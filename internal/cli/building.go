package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/terminal"
)

// buildingAfter is how long kernels are built before a person hears of it: those in a driver's
// cache take less.
const buildingAfter = 300 * time.Millisecond

// BuildLine shows on a terminal which kernel is being built, in a line that goes again: a
// tensor.BuildListener.
type BuildLine struct {
	w     io.Writer // nil: nobody looks on
	now   func() time.Time
	start time.Time
	spent time.Duration // building so far
	count int
	shown bool
}

// NewBuildLine returns one that writes to w if that is a terminal.
func NewBuildLine(w io.Writer) *BuildLine {
	if !terminal.Is(w) {
		w = nil
	}
	return &BuildLine{w: w, now: time.Now}
}

// Building shows the name of a kernel.
func (b *BuildLine) Building(kernel string) {
	b.count++
	b.start = b.now()
	if b.shown = b.w != nil && b.spent >= buildingAfter; b.shown {
		fmt.Fprintf(b.w, "\r\x1b[Kbuilding kernel %d: %s", b.count, strings.TrimPrefix(kernel, "k_"))
	}
}

// Built takes the line back.
func (b *BuildLine) Built() {
	b.spent += b.now().Sub(b.start)
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
