package autograd

import (
	"sync"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// mode is what operations on a device do besides computing.
type mode struct {
	quiet bool   // they record nothing
	walk  *walk  // they are part of backward functions and hooks of this one, or nil
	watch *watch // what they compute is looked at, or nil
	cast  *casts // what they compute in 16 bits, or nil
}

// modes holds the devices whose mode is not the zero value. Each is claimed by the goroutine that
// set the mode.
var modes sync.Map // of tensor.Device: *mode

var usual mode

// modeOf returns the mode of d for op. It panics with tensor.ErrGoroutine if another goroutine set
// it.
func modeOf(d tensor.Device, op string) *mode {
	m, ok := modes.Load(d)
	if !ok {
		return &usual
	}
	tensorapi.Impl.MustOwn(d, "autograd", op)
	return m.(*mode)
}

// claim gives d to the calling goroutine for op, until tensorapi.Impl.Unclaim.
func claim(d tensor.Device, op string) (outermost bool) {
	if d == nil {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: "the device is nil: look at the error that Open returned"})
	}
	return tensorapi.Impl.Claim(d, "autograd", op)
}

// enter sets the mode of d, which is claimed, and returns what it was, for leave.
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

func noGrad(d tensor.Device, op string) bool { return modeOf(d, op).quiet }

// NoGrad runs f without recording operations on d: for inference. Their values are freed by the
// tensor.Scope they are made in, or by Free. The mode ends when f returns or panics, and is then
// what it was before.
//
// NoGrad claims d for f: whatever another goroutine begins on d meanwhile panics with
// tensor.ErrGoroutine, and so does NoGrad if another goroutine has claimed d. That holds for
// goroutines that f starts and waits for, too: call NoGrad in the goroutine that computes.
func NoGrad(d tensor.Device, f func()) {
	const op = "NoGrad"
	defer tensorapi.Impl.Unclaim(d, claim(d, op))
	m := *modeOf(d, op)
	m.quiet = true
	defer leave(d, m.enter(d))
	f()
}
