package autograd

import (
	"sync"

	"github.com/clgrad/clgrad/tensor"
)

// mode is what operations on a device do besides computing.
type mode struct {
	quiet bool   // they record nothing
	walk  *walk  // they are part of backward functions and hooks of this one, or nil
	watch *watch // what they compute is looked at, or nil
}

// modes holds the devices whose mode is not the zero value. A device belongs to one goroutine at a time, so that NoGrad
// in one does not touch training in another.
var modes sync.Map // of tensor.Device: *mode

var usual mode

func modeOf(d tensor.Device) *mode {
	if m, ok := modes.Load(d); ok {
		return m.(*mode)
	}
	return &usual
}

// enter sets the mode of d and returns what it was, for leave.
func (m *mode) enter(d tensor.Device) (before any) {
	before, _ = modes.Swap(d, m)
	return before
}

func leave(d tensor.Device, before any) {
	if before == nil {
		modes.Delete(d)
	} else {
		modes.Store(d, before)
	}
}

func noGrad(d tensor.Device) bool { return modeOf(d).quiet }

// NoGrad runs f without recording operations on d: for inference. Their values are freed by the
// tensor.Scope they are made in, or by Free.
func NoGrad(d tensor.Device, f func()) {
	m := *modeOf(d)
	m.quiet = true
	defer leave(d, m.enter(d))
	f()
}
