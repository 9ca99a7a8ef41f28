package capture

import "sync/atomic"

// State is what a step reads and changes on the host, of one kind: the gradients that parameters
// have, say. A run of a step that is being recorded makes it with [Listener.State].
type State interface {
	// End is called when the run is over. It notes what the run leaves, and returns the tensors
	// among that which the step made: a replay writes them as it writes outputs. They belong to the
	// caller, which frees them.
	End() []Left
	// Differs says what the run left otherwise than the run before it did; "" if nothing. Both are
	// over.
	Differs(before State) string
	// Explain says why this run may launch other things than the run before it did, where they do; "" if it
	// knows nothing. Both are over.
	Explain(before State) string
	// Ready returns why the step would do something else now than when it was recorded.
	Ready() error
	// Restore sets what the run left.
	Restore()
}

// Left is a tensor that a step leaves, but does not return.
type Left struct {
	Name   string // for errors
	Tensor any    // a *tensor.Tensor
}

// Recordings is the number of steps that are being recorded, on any device. Mostly it is 0, and
// nothing else is asked.
var Recordings atomic.Int32

// Own returns the listener of the step that the calling goroutine records, nil if there is none.
// Package tensor sets it.
var Own func() Listener
