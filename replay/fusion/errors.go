package fusion

import (
	"cmp"
	"errors"
)

// Why a match is refused, for errors.Is.
var (
	ErrProposal     = errors.New("the proposal cannot be launched")
	ErrCovered      = errors.New("another match has taken a launch")
	ErrIntermediate = errors.New("what is made on the way is needed elsewhere")
	ErrMemory       = errors.New("it reads or writes other memory than what it replaces")
	ErrMeanwhile    = errors.New("there is no place for the launches")
	ErrWorth        = errors.New("it is not worth it on this device")
	ErrWrong        = errors.New("it computes something else than what it replaces")
)

// ErrPanic is what Record returns where a fusion panicked. The error says which, and where, and wraps
// the value if that is an error.
var ErrPanic = errors.New("a fusion panicked")

// Refusal is why a match is not done. Report.NotFused of a recording wraps those of its step.
type Refusal struct {
	Fusion, Match string // their names
	Reason        error  // one of this package's, or what the fusion or the device said
	Detail        string // what it is about; "": the reason says it all
}

// Error says what was refused, and why.
func (r *Refusal) Error() string {
	return cmp.Or(r.Match, r.Fusion) + ": " + cmp.Or(r.Detail, r.Reason.Error())
}

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Reason }
