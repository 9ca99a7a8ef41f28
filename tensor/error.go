package tensor

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of misuse, for errors.Is.
var (
	ErrShape     = errors.New("shape mismatch")
	ErrAxis      = errors.New("axis out of range")
	ErrIndex     = errors.New("index out of range")
	ErrFreed     = errors.New("tensor was freed")
	ErrDevice    = errors.New("tensors of two devices")
	ErrValue     = errors.New("bad value")
	ErrType      = errors.New("bad element type")
	ErrArgument  = errors.New("argument does not fit the kernel")
	ErrClosed    = errors.New("device is closed")
	ErrGoroutine = errors.New("two goroutines use one device at a time")
	ErrRecorded  = errors.New("tensor was made inside a recorded step")
)

// Error is a misuse of the library: which operation, Op; of what Kind, one of the Err values of
// this package or of another; and the Shapes that it was given.
type Error struct {
	Pkg    string // "tensor" if empty
	Layer  string // the path of the layer of a model that called Op, as "encoder.layers.0.attention"; "" if there is none
	Op     string
	Kind   error
	Shapes [][]int
	Detail string // what to do, where the kind does not say it
}

// Error returns, for example, "tensor: MatMul: shape mismatch [2 3] [4 5]", or "tensor: head: Linear: …" in a layer.
func (e *Error) Error() string {
	var b strings.Builder
	pkg := e.Pkg
	if pkg == "" {
		pkg = "tensor"
	}
	b.WriteString(pkg + ": ")
	if e.Layer != "" {
		b.WriteString(e.Layer + ": ")
	}
	fmt.Fprintf(&b, "%s: %v", e.Op, e.Kind)
	for _, s := range e.Shapes {
		fmt.Fprintf(&b, " %v", s)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Try runs f and returns the *Error with which it panicked, or nil. Any other panic passes through.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// misuse panics with an *Error about the given tensors.
func misuse(op string, kind error, detail string, ts ...*Tensor) {
	e := &Error{Op: op, Kind: kind, Detail: detail}
	for _, t := range ts {
		e.Shapes = append(e.Shapes, t.Shape())
	}
	panic(e)
}
