package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/caller"
)

// freeing says who freed a tensor, and what to do about it: for errors.
type freeing struct {
	who, advice string
	place       string // the line of the program, "" unless the device notes it
}

var (
	byFree     = &freeing{who: "Free", advice: "call it after the last use"}
	byScope    = &freeing{who: "the end of the Scope", advice: "call Retain on what is to outlive the Scope that it is made in"}
	byBackward = &freeing{who: "Backward", advice: "call Retain on the Node before, or Backward with Retain"}
	byZeroGrad = &freeing{who: "ZeroGrad", advice: "a gradient lasts until then: Copy it before"}
)

func (api) FreeAs(t *Tensor, op string) {
	switch op {
	case "Backward":
		t.free(byBackward)
	case "ZeroGrad":
		t.free(byZeroGrad)
	default:
		t.free(byFree)
	}
}

func (api) WhoFreed(t *Tensor, what string) string { return t.freed.detail(what) }

func (api) NoteFrees(d Device, on bool) (before bool) {
	return d.core().notesFrees.Swap(on)
}

// free releases t, unless it was freed before.
func (t *Tensor) free(by *freeing) {
	if t.freed != nil {
		return
	}
	if t.st.dev.core().notesFrees.Load() {
		noted := *by
		noted.place = caller.Place()
		by = &noted
	}
	t.freed = by
	t.st.release()
}

// detail says what freed a thing.
func (f *freeing) detail(what string) string {
	if f.place == "" {
		return fmt.Sprintf("%s was freed by %s: %s; under autograd.DetectAnomalies this error has the line", what, f.who, f.advice)
	}
	return fmt.Sprintf("%s was freed by %s at %s: %s", what, f.who, f.place, f.advice)
}
